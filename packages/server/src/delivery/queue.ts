// How a mailbox is doing, and what its owner acknowledged last.
import { iso, isoOrNull } from '../kernel/clock.ts'
import { one, type Db } from '../store/db.ts'
import type { Mailbox } from './sql.ts'

export interface QueueHealth {
  pending: number
  leased: number
  dead_lettered: number
  oldest_pending_at: string | null
  last_poll_at: string | null
}

/** Each count reads one partial index and nothing else. A lease that has run out counts as pending. */
export async function queueHealth(db: Db, { tenantId, recipientId }: Mailbox, now: number, maxAttempts: number, polledHere: number | null = null): Promise<QueueHealth> {
  const mine = 'tenant_id = ? and recipient_id = ?'
  const box = [tenantId, recipientId]
  const count = async (where: string, values: (string | number)[]): Promise<number> =>
    (await one<{ n: number }>(db, `select count(*) as n from deliveries where ${mine} and ${where}`, [...box, ...values]))?.n ?? 0
  const ready = await count("state = 'ready'", [])
  const timed = await count('due_at is not null', [])
  const leased = await count("due_at is not null and due_at > ? and state = 'leased'", [now])
  const lapsedDead = await count("due_at is not null and due_at <= ? and state = 'leased' and attempts >= ?", [now, maxAttempts])
  const dead = await count("state = 'dead_lettered'", [])
  const oldest = await one<{ at: number | null }>(
    db,
    `select min(created_at) as at from deliveries where ${mine} and (state = 'ready' or (due_at is not null and (state = 'waiting' or due_at <= ?)))`,
    [...box, now],
  )
  const poll = await one<{ last_poll_at: number }>(db, `select last_poll_at from mailboxes where ${mine}`, box)
  return {
    pending: ready + timed - leased - lapsedDead,
    leased,
    dead_lettered: dead + lapsedDead,
    oldest_pending_at: isoOrNull(oldest?.at ?? null),
    last_poll_at: isoOrNull(Math.max(poll?.last_poll_at ?? 0, polledHere ?? 0) || null),
  }
}

/** The events of the latest acknowledgements, as JSON text, last acknowledged first. */
export async function recentEvents(db: Db, { tenantId, recipientId }: Mailbox, limit: number): Promise<string> {
  const rows = await db.rows<{ id: string; event_id: string; acknowledged_at: number; envelope: string }>(
    `select d.id, d.event_id, d.acknowledged_at, e.envelope from deliveries d join events e on e.tenant_id = d.tenant_id and e.id = d.event_id
      where d.tenant_id = ? and d.recipient_id = ? and d.state = 'acknowledged' order by d.acknowledged_at desc, d.id desc limit ?`,
    [tenantId, recipientId, limit],
  )
  const events = rows.map((row) => {
    const { type, source, subject = null, time = null, ...rest } = JSON.parse(row.envelope) as Record<string, unknown>
    return {
      event_id: row.event_id,
      delivery_id: row.id,
      type,
      source,
      subject,
      time,
      ...('data' in rest ? { data: rest['data'] } : 'data_base64' in rest ? { data_base64: rest['data_base64'] } : {}),
      acknowledged_at: iso(row.acknowledged_at),
    }
  })
  return JSON.stringify({ events })
}
