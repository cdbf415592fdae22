// Reads from a replica of the database. Its data may be a little stale, but never older than MOST_BEHIND_MS: before it
// is asked, it has shown that it holds everything committed up to a time no longer ago than that. Otherwise, and when
// it cannot be reached, the database itself is asked.
//
// It shows that by a mark, a random text that was written to the database at a known time. A position in the log would
// not do: after a restore or a fail-over the replica may follow another history, which may be further on. Reading and
// writing a row needs no special rights either.
import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { StoreUnavailable, type Caller, type Db, type Reads, type Value } from './db.ts'
import { writeSetting } from './setting.ts'

const MOST_BEHIND_MS = 2_000
const LOOK_EVERY_MS = 500

/** A mark that is younger than this serves all nodes; the first that finds it older writes another. */
const MARK_EVERY_MS = 250
/** Marks that are remembered. The oldest of them are far older than a replica may be behind. */
const MOST_MARKS = 16

/**
 * The mark that a server holds, with the time by its clock. A mark begins with the time of its writing by that clock.
 */
const HELD = `select (select value from settings where name = 'replica_mark') as mark,
  cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now`

// Replaces the mark. Locks its row, for one round trip.
export const writeMark = (tx: Db, mark: string): Promise<number> => writeSetting(tx, 'replica_mark', mark)

/** Returns a function that runs queries in the caller's turn, or in that of the service. */
export type RowsFor = (caller?: Caller) => Reads['rows']

/**
 * `write` writes a mark to the database. `warn` is called when reads leave the copy for the database, and when they
 * return.
 */
export function followReplica(
  database: RowsFor,
  write: (mark: string) => Promise<unknown>,
  copy: RowsFor,
  warn: (what: string, error: unknown) => void = () => {},
  elapsed: () => number = performance.now.bind(performance),
): (caller: Caller) => Reads['rows'] {
  /** The copy holds everything that was committed before this time. */
  let holdsUpTo = -Infinity
  let lookedAt = -Infinity
  let looking: Promise<void> | null = null
  let isUsed = true
  /** The marks that the copy may show next, the oldest first. What it shows contains all commits before `since`. */
  const marks: { mark: string; since: number }[] = []
  let misses = 0

  function note(usable: boolean, error: unknown): void {
    if (usable !== isUsed) warn(usable ? 'the replica is read again' : 'the replica is not read', error)
    isUsed = usable
  }

  /** Sees to it that the database holds a mark that was written just now. */
  async function markDatabase(at: number): Promise<void> {
    const [held] = await database()<{ mark: string | null; now: number }>(HELD)
    const age = held!.now - Number.parseInt(held!.mark ?? '', 10)
    if (age >= 0 && age < MARK_EVERY_MS) {
      const mark = held!.mark!
      if (!marks.some((known) => known.mark === mark)) marks.push({ mark, since: at - age })
    } else {
      const mark = `${held!.now} ${randomUUID()}`
      await write(mark)
      marks.push({ mark, since: at })
    }
    if (marks.length > MOST_MARKS) marks.shift()
  }

  async function look(): Promise<void> {
    const at = elapsed()
    lookedAt = at
    try {
      await markDatabase(at)
      const [shown] = await copy()<{ mark: string | null }>(HELD)
      const place = marks.findIndex(({ mark }) => mark === shown!.mark)
      if (place >= 0) {
        holdsUpTo = marks[place]!.since
        marks.splice(0, place)
      }
      // The copy may show a mark of another node that was replaced before it was noticed here. That is no lag.
      const next = marks[place < 0 ? 0 : 1]
      misses = next && elapsed() - next.since > MOST_BEHIND_MS ? misses + 1 : 0
      if (misses < 2) note(true, null)
      else note(false, new Error('it does not show what was written two seconds ago'))
    } catch (error) {
      note(false, error)
    }
  }

  /**
   * Begins a look if it is time for one. No read waits for it: a copy that does not respond would delay each of them
   * for as long as it takes to give it up.
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
