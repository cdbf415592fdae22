// Reads from a replica of the database. Its data may be a little stale, but never older than MOST_BEHIND_MS: before it
// is asked, it has shown that it holds everything committed up to a time no longer ago than that. Otherwise, and when
// it cannot be reached, the database itself is asked.
import { performance } from 'node:perf_hooks'
import { StoreUnavailable, type Caller, type Reads, type Value } from './db.ts'

const MOST_BEHIND_MS = 2_000
const LOOK_EVERY_MS = 500

/** How far the database has written, as a position in its log. */
const WRITTEN = 'select cast(pg_current_wal_lsn() as text) as place'
/** Whether the copy has replayed the log up to a position. */
const HAS_DONE = 'select pg_last_wal_replay_lsn() >= cast(? as pg_lsn) as done'

/** Returns a function that runs queries in the caller's turn, or in that of the service. */
export type RowsFor = (caller?: Caller) => Reads['rows']

/** `warn` is called when reads leave the copy for the database, and when they return. */
export function followReplica(
  database: RowsFor,
  copy: RowsFor,
  warn: (what: string, error: unknown) => void = () => {},
  elapsed: () => number = performance.now.bind(performance),
): (caller: Caller) => Reads['rows'] {
  /** The copy holds everything that was committed before this time. */
  let holdsUpTo = -Infinity
  let lookedAt = -Infinity
  let looking: Promise<void> | null = null
  let isUsed = true

  function note(usable: boolean, error: unknown): void {
    if (usable !== isUsed) warn(usable ? 'the replica is read again' : 'the replica is not read', error)
    isUsed = usable
  }

  async function look(): Promise<void> {
    const at = elapsed()
    lookedAt = at
    try {
      const [written] = await database()<{ place: string }>(WRITTEN)
      const [replica] = await copy()<{ done: boolean | null }>(HAS_DONE, [written!.place])
      if (replica?.done === true) holdsUpTo = at
      note(elapsed() - holdsUpTo <= MOST_BEHIND_MS, new Error('it is more than two seconds behind'))
    } catch (error) {
      note(false, error)
    }
  }

  /**
   * Begins a look if it is time for one. No read waits for it: a copy that does not respond would delay each of them for
   * as long as it takes to give it up.
   */
  function isFresh(): boolean {
    if (elapsed() - lookedAt >= LOOK_EVERY_MS) looking ??= look().finally(() => void (looking = null))
    return elapsed() - holdsUpTo <= MOST_BEHIND_MS
  }

  return (caller) =>
    async <R>(sql: string, values: readonly Value[] = []): Promise<R[]> => {
      if (!isFresh()) return database(caller)<R>(sql, values)
      try {
        return await copy(caller)<R>(sql, values)
      } catch (error) {
        // The copy may be gone, or have cancelled the query for its own work. The database decides whether the query is
        // wrong. A copy that is busy is still there; a flood of one tenant must not take it from the others.
        if (!(error instanceof StoreUnavailable && error.trouble === 'busy')) {
          holdsUpTo = -Infinity
          note(false, error)
        }
        return database(caller)<R>(sql, values)
      }
    }
}
