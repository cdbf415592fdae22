// Wakes polls that wait at a mailbox when something arrives in it, on whichever node. A wake-up only shortens a wait:
// every waiter looks again by itself, so a lost wake-up costs time and never a delivery.
import type { Store } from '../store/db.ts'
import type { Mailbox } from './sql.ts'

const CHANNEL = 'sensorium_mailbox'
/** Ids in one message. PostgreSQL accepts 8,000 bytes, and an id has 30 characters. */
const MAX_NAMED = 200
/**
 * With more ids than this at once, a message names nobody and all waiters look: thousands of claims on every other
 * node. When 201 were enough for that, one agent that published to as many could cause it a hundred times a second.
 */
const MOST_NAMED = 10_000
const EVERYBODY = '*'
const BETWEEN_MESSAGES_MS = 5

export interface Wakeups {
  /** Something may be due in these mailboxes. `isAdded`: it was put into them, and nothing else has changed. */
  wake(recipientIds: Iterable<string>, isAdded?: boolean): void
  /** Calls `woken` at each wake-up of the mailbox, until cancelled; `first` for the first of its waiters. */
  wait(mailbox: Mailbox, woken: (first: boolean) => void): () => void
  /** Calls `hear` with every mailbox that is woken, here or on another node; null means any mailbox may be meant. */
  watch(hear: WakeHeard): void
}

type WakeHeard = (recipientIds: readonly string[] | null, isAdded: boolean) => void

export function makeWakeups(store: Store): Wakeups {
  const waiters = new Map<string, Set<(first: boolean) => void>>()
  const watchers: WakeHeard[] = []

  function wakeHere(recipientId: string): void {
    let first = true
    for (const woken of waiters.get(recipientId) ?? []) {
      woken(first)
      first = false
    }
  }

  store.listen(CHANNEL, (payload) => {
    const named = payload === EVERYBODY ? null : payload.split(' ')
    for (const recipientId of named ?? [...waiters.keys()]) wakeHere(recipientId)
    for (const hear of watchers) hear(named, false)
  })

  // The other nodes are notified at once. What is woken in the next moment is collected into one further message,
  // because a message costs the other nodes as much as a statement.
  const untold = new Set<string>()
  let told = false
  function tellOthers(): void {
    if (told || untold.size === 0) return
    told = true
    setTimeout(() => {
      told = false
      tellOthers()
    }, BETWEEN_MESSAGES_MS)
    const ids = untold.size > MOST_NAMED ? [EVERYBODY] : [...untold]
    untold.clear()
    for (let at = 0; at < ids.length; at += MAX_NAMED) store.notify(CHANNEL, ids.slice(at, at + MAX_NAMED).join(' '))
  }

  return {
    wake(recipientIds, isAdded = false) {
      const ids = [...recipientIds]
      if (ids.length === 0) return
      for (const id of ids) wakeHere(id)
      for (const hear of watchers) hear(ids, isAdded)
      if (!store.isShared) return
      for (const id of ids) if (untold.size <= MOST_NAMED) untold.add(id)
      setImmediate(tellOthers)
    },
    wait({ recipientId }, woken) {
      const set = waiters.get(recipientId) ?? new Set()
      waiters.set(recipientId, set.add(woken))
      return () => {
        set.delete(woken)
        if (set.size === 0 && waiters.get(recipientId) === set) waiters.delete(recipientId)
      }
    },
    watch: (hear) => void watchers.push(hear),
  }
}
