// Lists dead letters, with their payloads.
import { iso } from '../kernel/clock.ts'
import type { JsonBody } from '../kernel/json-body.ts'
import type { Pause } from '../kernel/step-turns.ts'
import type { Db, Value } from '../store/db.ts'
import { countedSteps } from './count-dead-letters.ts'
import { deadLetterPages, isFiltering, type DeadLetterFilter, type DeadLetterScope } from './find-dead-letters.ts'
import { listBody, readEnvelope, shortBytes, shortText, type Item } from './long-payloads.ts'
import { IS_DEAD } from './standing.ts'

interface DeadRow {
  id: string
  event_id: string
  recipient_id: string
  attempts: number
  dlq_reason: string
  created_at: number
  dead_lettered_at: number
  /** Null if the envelope is long. */
  envelope: string | null
}

/** How many dead letters a filter scans: some tens of milliseconds of reading, in many turns. */
const MAX_LOOKED = 20_000

/** Returns a page of dead letters as JSON, newest first, and their total. */
export async function listDeadLetters(
  db: Db,
  scope: DeadLetterScope,
  filter: DeadLetterFilter,
  offset: number,
  limit: number,
  pause: Pause,
): Promise<JsonBody> {
  if (isFiltering(filter)) {
    const { ids, total } = await matchingPage(db, scope, filter, offset, limit, pause)
    const named = {
      from: `deliveries d where d.tenant_id = ? and ${db.dialect.inList('d.id')} and d.${IS_DEAD}`,
      values: [scope.tenantId, db.dialect.list(ids)],
    }
    return shownPage(db, scope.tenantId, await readDead(db, scope.tenantId, named, 0, limit, limit), total)
  }
  const rows: DeadRow[] = []
  let total = 0
  for await (const { part, found } of countedSteps(db, scope, pause)) {
    const skipped = Math.max(0, offset - total)
    // Only as many as were counted in this step, so that a statement never reads beyond it.
    const most = Math.min(found - skipped, limit - rows.length)
    if (most > 0) rows.push(...(await readDead(db, scope.tenantId, part, skipped, most, limit)))
    total += found
  }
  return shownPage(db, scope.tenantId, rows, total)
}

/** Returns the ids of a page of the dead letters that pass the filter, and how many pass. */
async function matchingPage(
  db: Db,
  scope: DeadLetterScope,
  filter: DeadLetterFilter,
  offset: number,
  limit: number,
  pause: Pause,
): Promise<{ ids: string[]; total: number }> {
  const ids: string[] = []
  let total = 0
  for await (const letters of deadLetterPages(db, scope, filter, { look: MAX_LOOKED, pause })) {
    for (const { id } of letters) {
      if (total >= offset && ids.length < limit) ids.push(id)
      total++
    }
  }
  return { ids, total }
}

/**
 * Reads up to `most` dead letters for a page of up to `limit`, newest first. The ids come first, from an index: neither
 * a delivery nor an event is looked up for what is skipped. Cross join: makes SQLite use the tables in this order.
 * Locks nothing.
 */
const readDead = (
  db: Db,
  tenantId: string,
  { from, values }: { from: string; values: readonly Value[] },
  skipped: number,
  most: number,
  limit: number,
): Promise<DeadRow[]> =>
  db.rows<DeadRow>(
    `select d.id, d.event_id, d.recipient_id, d.attempts, d.dlq_reason, d.created_at, d.dead_lettered_at, ${shortText('e.envelope')} as envelope
       from (select d.id from ${from} order by d.dead_lettered_at desc, d.id desc limit ? offset ?) page cross join deliveries d cross join events e
      where d.tenant_id = ? and d.id = page.id and e.tenant_id = d.tenant_id and e.id = d.event_id
      order by d.dead_lettered_at desc, d.id desc`,
    [shortBytes(db, limit), ...values, most, skipped, tenantId],
  )

function shownPage(db: Db, tenantId: string, rows: readonly DeadRow[], total: number): JsonBody {
  const items = rows.map((row): Item => {
    if (row.envelope !== null) return deadLetterJson(row, row.envelope)
    return async () => {
      const envelope = await readEnvelope(db, tenantId, row.event_id)
      return envelope === undefined ? undefined : deadLetterJson(row, envelope)
    }
  })
  return listBody('{"dlq_items":[', items, () => `],"total":${total}}`)
}

const deadLetterJson = (row: DeadRow, envelope: string): string =>
  `{"id":"${row.id}","event_id":${JSON.stringify(row.event_id)},"agent_id":"${row.recipient_id}","attempt_count":${row.attempts},` +
  `"dlq_reason":${JSON.stringify(row.dlq_reason)},"payload":${envelope},"created_at":"${iso(row.created_at)}","dead_lettered_at":"${iso(row.dead_lettered_at)}"}`
