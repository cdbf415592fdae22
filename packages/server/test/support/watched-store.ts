// A store that knows whether a call to it is under way: the clock of a test moves only while none is.
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
  /** Counts as under way until the store calls `begin`. */
  const later =
    (wait: Store['beforeNextGroup']): Store['beforeNextGroup'] =>
    (begin) => {
      underWay++
      wait(() => {
        underWay--
        begin()
      })
    }
  const self: Store = {
    ...store,
    // A getter, because the store's value may change.
    get isSharded() {
      return store.isSharded
    },
    outsideTx: { dialect: store.dialect, rows: (sql, values) => count(store.outsideTx.rows(sql, values)) },
    rows: (sql, values) => count(store.rows(sql, values)),
    readFor(caller, options) {
      const db = store.readFor(caller, options)
      return { ...self, rows: (sql, values) => count(db.rows(sql, values)) }
    },
    lookUp: (sql, values) => count(store.lookUp(sql, values)),
    tx: (work, options) => count(store.tx(work, options)),
    beforeNextGroup: later(store.beforeNextGroup),
    withNextGroup: later(store.withNextGroup),
    ping: () => count(store.ping()),
    serverTime: () => count(store.serverTime()),
    refreshCapabilities: () => count(store.refreshCapabilities()),
  }
  return { store: self, isBusy: () => underWay > 0 }
}
