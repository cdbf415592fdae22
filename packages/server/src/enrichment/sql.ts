// The queries of enrichment. Every query names the tenant; memories are read as the receiver sees them.
import { shortText } from '../delivery/long-payloads.ts'
import { RECIPIENT_IS, type Mailbox } from '../delivery/sql.ts'
import { withExactNumbers } from '../kernel/json.ts'
import { SHORT_LENGTH } from '../kernel/lengths.ts'
import { seenBy, type Viewer } from '../memory/see.ts'
import type { Db } from '../store/db.ts'

export interface RecalledRow {
  id: string
  title: string
  /** Only if it was requested. */
  content?: string
}

/** Returns the title, and the content if requested, of the given memories that the viewer sees. */
export async function readRecalled(
  db: Db,
  viewer: Viewer,
  ids: readonly string[],
  withContent: boolean,
  now: number,
): Promise<Map<string, RecalledRow>> {
  if (ids.length === 0) return new Map()
  const seen = seenBy(viewer, now)
  const rows = await db.rows<RecalledRow>(
    `select m.id, m.title${withContent ? ', m.content' : ''} from memories m where ${seen.sql} and ${db.dialect.inList('m.id')}`,
    [...seen.values, db.dialect.list(ids)],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/** Returns which of these memories have a relationship that leads away from them. */
export async function listRelated(db: Db, tenantId: string, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await db.rows<{ id: string }>(
    `select distinct source_memory_id as id from memory_relationships
      where tenant_id = ? and ${db.dialect.inList('source_memory_id')}`,
    [tenantId, db.dialect.list(ids)],
  )
  return new Set(rows.map(({ id }) => id))
}

/** An event with a subject, and its place among all events. */
interface EventOfSubject {
  id: string
  subject: string
  received_at: number
  place: number
}

/** Returns those of the events that have a subject: only they can have earlier events about the same. */
export async function listWithSubject(
  db: Db,
  tenantId: string,
  ids: readonly string[],
): Promise<Map<string, EventOfSubject>> {
  if (ids.length === 0) return new Map()
  const rows = await db.rows<EventOfSubject>(
    `select id, subject, received_at, place from events where tenant_id = ? and subject is not null and ${db.dialect.inList('id')}`,
    [tenantId, db.dialect.list(ids)],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

interface EarlierEvent {
  event_id: string
  type: string
  source: string
  time: string | null
  data?: unknown
}

/** Events of one subject that are looked through: most of them may have been sent to others. */
const LOOKED_THROUGH = 500

/**
 * The order is that of `events_by_subject` alone. Ordered further, SQLite read all events of the tenant by their age.
 */
const LATEST_OF_SUBJECT = `select id, type, source, envelope, received_at, place from events
  where tenant_id = ? and substr(subject, 1, 100) = substr(?, 1, 100) and subject = ? and subject is not null
    and purged_at is null and received_at <= ?
  order by received_at desc limit ${LOOKED_THROUGH}`

const EARLIER = `select id, type, source, ${shortText('envelope')} as envelope from (${LATEST_OF_SUBJECT}) as page
  where (received_at, place, id) < (?, ?, ?)
    and (exists (select 1 from deliveries d where d.tenant_id = ? and d.event_id = page.id and d.recipient_id = ?)
      or exists (select 1 from acknowledged_deliveries d where d.tenant_id = ? and d.event_id = page.id and d.recipient_id = ?))
  order by received_at desc, place desc, id desc limit ?`

/**
 * Returns the latest events before this one with the same subject that the viewer was sent too, latest first. Time and
 * data of a long event are left out.
 */
export async function readEarlierEvents(
  db: Db,
  { tenantId, id: viewerId }: Viewer,
  { id: eventId, subject, received_at, place }: EventOfSubject,
  limit: number,
): Promise<EarlierEvent[]> {
  const rows = await db.rows<{ id: string; type: string; source: string; envelope: string | null }>(EARLIER, [
    SHORT_LENGTH,
    tenantId,
    subject,
    subject,
    received_at,
    received_at,
    place,
    eventId,
    tenantId,
    viewerId,
    tenantId,
    viewerId,
    limit,
  ])
  return rows.map(({ id, type, source, envelope }) => {
    const text = envelope ?? '{}'
    const { time = null, ...rest } = withExactNumbers(text, JSON.parse(text)) as { time?: string; data?: unknown }
    return { event_id: id, type, source, time, ...('data' in rest ? { data: rest.data } : {}) }
  })
}

/** Writes the blocks of deliveries that have none yet. */
export function keepEnrichment(
  tx: Db,
  { tenantId, recipientId }: Mailbox,
  blocks: readonly (readonly [string, string])[],
): void {
  for (const [id, block] of blocks) {
    tx.runLater(
      `update deliveries set enriched = ? where tenant_id = ? and ${RECIPIENT_IS} and id = ? and enriched is null`,
      [block, tenantId, recipientId, id],
    )
  }
}
