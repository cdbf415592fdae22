// Changes that a process may have to know of at once because it keeps something of them in memory. They are announced
// in the transaction that makes them. Once that is on disk, every node hears of them, and so does a service beside the
// command line.
//
// 1. In this process they are heard before the transaction resolves. Nothing is heard of a transaction that was rolled
//    back.
// 2. Elsewhere they are best effort and shorten a wait: every listener also looks by itself now and then. On PostgreSQL
//    the commit sends a NOTIFY. On SQLite, where only a command line can run beside the service, they are rows that the
//    service looks for every half second: a look-up by key that finds nothing costs it some ten microseconds.
import { randomBytes } from 'node:crypto'
import { one, type Db, type Store } from './db.ts'

/** What changed, and what the payload is. */
type Topic =
  /** An agent's fields or status; the payload is its id. */
  | 'agent'
  /** The standing of a tenant's keys; the payload is the tenant's id. */
  | 'keys'
  /** Which connectors there are and whether they are paused; the payload is empty. */
  | 'connectors'

export type Announce = (tx: Db, topic: Topic, payload: string) => void

export interface Announcements {
  announce: Announce
  listen(topic: Topic, hear: (payload: string) => void): void
  /** Hears what other processes announced since the last call. The first call only notes where that begins. */
  runOnce(): Promise<void>
}

const KEPT_MS = 60_000
const CHANNEL = 'sensorium_changes'

export function makeAnnouncements(store: Store, now: () => number): Announcements {
  const self = randomBytes(6).toString('hex')
  const listeners = new Map<string, ((payload: string) => void)[]>()
  const { isShared } = store
  let heardUpTo: number | null = null

  function hear(topic: string, payload: string): void {
    for (const listener of listeners.get(topic) ?? []) listener(payload)
  }

  // Adds an announcement, which commits with its change, and deletes the old ones of all processes.
  function insert(tx: Db, topic: Topic, payload: string): void {
    const at = now()
    tx.runLater('delete from announcements where at < ?', [at - KEPT_MS])
    tx.runLater('insert into announcements (process, topic, payload, at) values (?, ?, ?, ?)', [
      self,
      topic,
      payload,
      at,
    ])
  }

  // What other processes announced after that id, oldest first.
  const announcedAfter = (id: number) =>
    store.rows<{ id: number; topic: string; payload: string }>(
      'select id, topic, payload from announcements where id > ? and process <> ? order by id limit 1000',
      [id, self],
    )

  return {
    announce(tx, topic, payload) {
      if (isShared) tx.notify(CHANNEL, `${topic} ${payload}`)
      else insert(tx, topic, payload)
      tx.afterCommit(() => hear(topic, payload))
    },
    listen(topic, listener) {
      if (listeners.size === 0) {
        store.listen(CHANNEL, (message) => {
          const [heard, payload] = message.split(' ') as [string, string]
          hear(heard, payload)
        })
      }
      listeners.set(topic, [...(listeners.get(topic) ?? []), listener])
    },
    async runOnce() {
      if (isShared) return
      if (heardUpTo === null) {
        // The newest id, or null if there is none. Locks nothing.
        const newest = await one<{ id: number | null }>(store, 'select max(id) as id from announcements')
        heardUpTo = newest?.id ?? 0
        return
      }
      for (const { id, topic, payload } of await announcedAfter(heardUpTo)) {
        heardUpTo = id
        hear(topic, payload)
      }
    },
  }
}
