// A store that knows whether anybody is waiting for it: the clock of a test moves only while nobody is.
import type { Store } from '../../src/store/db.ts'

export interface WatchedStore {
  store: Store
  isBusy(): boolean
}

export function watched(store: Store): WatchedStore {
  let underWay = 0
  const end = (): void => void underWay--
  function count<T>(work: Promise<T>): Promise<T> {
    underWay++
    work.then(end, end)
    return work
  }
  /** It begins when the store says so. */
  const later =
    (wait: Store['soon']): Store['soon'] =>
    (begin) => {
      underWay++
      wait(() => {
        underWay--
        begin()
      })
    }
  const self: Store = {
    ...store,
    // What a store says of itself may change.
    get isSharded() {
      return store.isSharded
    },
    // A copy of the database has nothing to do with the time that a test moves.
    get behind() {
      return store.behind === store ? self : store.behind
    },
    beside: { dialect: store.dialect, rows: (sql, values) => count(store.beside.rows(sql, values)) },
    rows: (sql, values) => count(store.rows(sql, values)),
    readFor(caller) {
      const db = store.readFor(caller)
      return { ...self, rows: (sql, values) => count(db.rows(sql, values)) }
    },
    lookUp: (sql, values) => count(store.lookUp(sql, values)),
    tx: (work, options) => count(store.tx(work, options)),
    soon: later(store.soon),
    alongside: later(store.alongside),
    ping: () => count(store.ping()),
    serverTime: () => count(store.serverTime()),
    learn: () => count(store.learn()),
  }
  return { store: self, isBusy: () => underWay > 0 }
}
