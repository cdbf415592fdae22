// A page of the audit log, and how many entries there are in all. They are counted in steps, because a log of a million
// entries took half a second at once; the page is read on the way.
import type { Db } from '../store/db.ts'
import type { Pause } from '../kernel/step-turns.ts'
import {
  countEntries,
  cursorAfter,
  readEntries,
  walkOf,
  type AuditQuery,
  type EntryCursor,
  type ReadRow,
} from './sql.ts'

/** Entries of one step: about two milliseconds on SQLite, if the action of each has to be looked up. */
export const STEP = 2_000

/** Returns a page of the entries of a tenant, newest first, and how many there are. */
export async function pageEntries(
  db: Db,
  tenantId: string,
  query: AuditQuery,
  pause: Pause,
): Promise<{ rows: ReadRow[]; total: number }> {
  const { offset = 0, limit = 50 } = query
  const walk = walkOf(tenantId, query)
  const rows: ReadRow[] = []
  let total = 0
  for (let last: EntryCursor | null = null; ; await pause()) {
    const { read, found } = await countEntries(db, walk, last, STEP)
    // Only as many as were found in this step, so that a statement never searches beyond it.
    const skipped = Math.max(0, offset - total)
    const wanted = Math.min(found - skipped, limit - rows.length)
    if (wanted > 0) rows.push(...(await readEntries(db, walk, last, skipped, wanted)))
    total += found
    const next: EntryCursor | undefined = read < STEP ? undefined : await cursorAfter(db, walk, last, STEP)
    if (!next) return { rows, total }
    last = next
  }
}
