// Reads all open deliveries of a mailbox, a page at a time: a mailbox may hold hundreds of thousands, and SQLite reads
// on the main thread. Locks nothing.
import type { Pause } from '../kernel/step-turns.ts'
import type { Db, Value } from '../store/db.ts'
import type { Mailbox } from './sql.ts'
import { IN_OPEN_INDEX, type StandingRow } from './standing.ts'

interface OpenDelivery extends StandingRow {
  priority: number
  id: string
  created_at: number
}

export const OPEN_PAGE = 1_000

/**
 * Yields the open deliveries of a mailbox in the order of delivery, with a pause before each further page. The index of
 * the mailbox is named: within one priority the key of the table has the same order, and SQLite read all deliveries of
 * the tenant by it. A delivery that is added or settled between two pages may be missing or not; none comes twice,
 * unless it is replayed with a lower priority meanwhile.
 */
export async function* openPages(
  db: Db,
  { tenantId, recipientId }: Mailbox,
  pause: Pause,
): AsyncGenerator<OpenDelivery[]> {
  const read = (after: string, values: readonly Value[], limit: number): Promise<OpenDelivery[]> =>
    db.rows<OpenDelivery>(
      `select priority, id, state, due_at, wake_at, created_at from deliveries ${db.dialect.byIndex('deliveries_open')}
        where tenant_id = ? and recipient_id = ? and ${IN_OPEN_INDEX} ${after} order by priority desc, id limit ?`,
      [tenantId, recipientId, ...values, limit],
    )
  for (let page = await read('', [], OPEN_PAGE); ; ) {
    yield page
    if (page.length < OPEN_PAGE) return
    const { priority, id } = page.at(-1)!
    await pause()
    // Two statements, because neither engine finds a place in this mixed order by its index.
    page = await read('and priority = ? and id > ?', [priority, id], OPEN_PAGE)
    if (page.length < OPEN_PAGE) page.push(...(await read('and priority < ?', [priority], OPEN_PAGE - page.length)))
  }
}
