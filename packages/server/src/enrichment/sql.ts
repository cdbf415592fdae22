// What enrichment reads and keeps. Every query names the tenant; memories are read as the receiver sees them.
import { shortText } from '../delivery/long-payloads.ts'
import { MINE, type Mailbox } from '../delivery/sql.ts'
import { seenBy, type Viewer } from '../memory/see.ts'
import type { Db } from '../store/db.ts'

/** Title and content of those of these memories that the viewer sees. */
export async function readRecalled(db: Db, viewer: Viewer, ids: readonly string[], now: number) {
  if (ids.length === 0) return new Map<string, { id: string; title: string; content: string }>()
  const seen = seenBy(viewer, now)
  const rows = await db.rows<{ id: string; title: string; content: string }>(
    `select m.id, m.title, m.content from memories m where ${seen.sql} and ${db.dialect.inList('m.id')}`,
    [...seen.values, db.dialect.list(ids)],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

export interface EarlierEvent {
  event_id: string
  type: string
  source: string
  time: string | null
  data?: unknown
}

/**
 * The latest events before this one about the same subject that the viewer was sent too, latest first. Of a long one,
 * time and data are left out.
 */
export async function readEarlierEvents(
  db: Db,
  viewer: Viewer,
  eventId: string,
  limit: number,
): Promise<EarlierEvent[]> {
  const rows = await db.rows<{ id: string; type: string; source: string; envelope: string | null }>(
    `select e.id, e.type, e.source, ${shortText('e.envelope')} as envelope from events this join events e
        on e.tenant_id = this.tenant_id and substr(e.subject, 1, 100) = substr(this.subject, 1, 100) and e.subject = this.subject
       and e.subject is not null and e.purged_at is null and (e.received_at, e.place, e.id) < (this.received_at, this.place, this.id)
      where this.tenant_id = ? and this.id = ?
        and (exists (select 1 from deliveries d where d.tenant_id = ? and d.event_id = e.id and d.recipient_id = ?)
          or exists (select 1 from acknowledged_deliveries d where d.tenant_id = ? and d.event_id = e.id and d.recipient_id = ?))
      order by e.received_at desc, e.place desc, e.id desc limit ?`,
    [viewer.tenantId, eventId, viewer.tenantId, viewer.id, viewer.tenantId, viewer.id, limit],
  )
  return rows.map(({ id, type, source, envelope }) => {
    const { time = null, ...rest } = JSON.parse(envelope ?? '{}') as { time?: string; data?: unknown }
    return { event_id: id, type, source, time, ...('data' in rest ? { data: rest.data } : {}) }
  })
}

/** Keeps the blocks of deliveries that have none yet. */
export async function keepEnrichment(
  tx: Db,
  { tenantId, recipientId }: Mailbox,
  blocks: ReadonlyMap<string, string>,
): Promise<void> {
  for (const [id, block] of blocks) {
    await tx.run(`update deliveries set enriched = ? where tenant_id = ? and ${MINE} and id = ? and enriched is null`, [
      block,
      tenantId,
      recipientId,
      id,
    ])
  }
}
