// How a mailbox is doing, and what its owner acknowledged last.
import { iso, isoOrNull } from '../kernel/clock.ts'
import { parseBody } from '../kernel/json-steps.ts'
import { one, type Db } from '../store/db.ts'
import { listBody, readEnvelope, shortText, type Item, type JsonBody } from './long-payloads.ts'
import { openIn, type Mailbox } from './sql.ts'
import { SHOWN, STANDING, type Standing } from './standing.ts'

export interface QueueHealth {
  pending: number
  leased: number
  dead_lettered: number
  oldest_pending_at: string | null
  last_poll_at: string | null
}

/** Goes through the mailbox once. */
export async function queueHealth(
  db: Db,
  { tenantId, recipientId }: Mailbox,
  now: number,
  polledHere: number | null = null,
): Promise<QueueHealth> {
  const mine = 'tenant_id = ? and recipient_id = ?'
  const box = [tenantId, recipientId]
  const open = await db.rows<{ standing: Standing; n: number; oldest: number }>(
    `select standing, count(*) as n, min(created_at) as oldest from ${openIn(`created_at, ${STANDING} as standing`)} group by standing`,
    [now, ...box],
  )
  const shown = (as: string) => open.filter(({ standing }) => SHOWN[standing] === as)
  const count = (as: string): number => shown(as).reduce((sum, { n }) => sum + n, 0)
  const dead = await one<{ n: number }>(
    db,
    `select count(*) as n from deliveries where ${mine} and dead_lettered_at is not null`,
    box,
  )
  const poll = await one<{ last_poll_at: number }>(db, `select last_poll_at from mailboxes where ${mine}`, box)
  return {
    pending: count('pending'),
    leased: count('leased'),
    dead_lettered: count('dead_lettered') + (dead?.n ?? 0),
    oldest_pending_at: isoOrNull(
      shown('pending').reduce<number | null>((first, { oldest }) => Math.min(first ?? oldest, oldest), null),
    ),
    last_poll_at: isoOrNull(Math.max(poll?.last_poll_at ?? 0, polledHere ?? 0) || null),
  }
}

interface RecentRow {
  id: string
  event_id: string
  acknowledged_at: number
  envelope: string | null
}

/** The events of the latest acknowledgements, as JSON, last acknowledged first. */
export async function recentEvents(db: Db, { tenantId, recipientId }: Mailbox, limit: number): Promise<JsonBody> {
  const rows = await db.rows<RecentRow>(
    `select d.id, d.event_id, d.acknowledged_at, ${shortText('e.envelope')} as envelope
       from acknowledged_deliveries d join events e on e.tenant_id = d.tenant_id and e.id = d.event_id
      where d.tenant_id = ? and d.recipient_id = ? order by d.acknowledged_at desc, d.id desc limit ?`,
    [tenantId, recipientId, limit],
  )
  const items = rows.map((row): Item => {
    if (row.envelope !== null) return recentJson(row, JSON.parse(row.envelope) as Envelope)
    return async () => {
      const text = await readEnvelope(db, tenantId, row.event_id)
      const envelope = text === undefined ? null : await parseBody(Buffer.from(text))
      return envelope?.ok ? recentJson(row, envelope.value as Envelope) : undefined
    }
  })
  return listBody('{"events":[', items, () => ']}')
}

type Envelope = Readonly<Record<string, unknown>>

function recentJson(row: RecentRow, { type, source, subject = null, time = null, ...rest }: Envelope): string {
  return JSON.stringify({
    event_id: row.event_id,
    delivery_id: row.id,
    type,
    source,
    subject,
    time,
    ...('data' in rest ? { data: rest['data'] } : 'data_base64' in rest ? { data_base64: rest['data_base64'] } : {}),
    acknowledged_at: iso(row.acknowledged_at),
  })
}
