// The health of a mailbox, and what its owner acknowledged last.
import { iso, isoOrNull } from '../kernel/clock.ts'
import { memberTexts } from '../kernel/json-members.ts'
import { nextTurn } from '../kernel/step-turns.ts'
import { one, type Db } from '../store/db.ts'
import { listBody, readEnvelope, shortText, type Item, type JsonBody } from './long-payloads.ts'
import { openIn, type Mailbox } from './sql.ts'
import { PUBLIC_STATE, STANDING, type Standing } from './standing.ts'

export interface QueueHealth {
  pending: number
  leased: number
  dead_lettered: number
  oldest_pending_at: string | null
  last_poll_at: string | null
}

/** Counts the deliveries of a mailbox, in one pass over the open ones. */
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
  const shown = (as: string) => open.filter(({ standing }) => PUBLIC_STATE[standing] === as)
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

/** Returns the events of the latest acknowledgements as JSON, last acknowledged first. */
export async function recentEvents(db: Db, { tenantId, recipientId }: Mailbox, limit: number): Promise<JsonBody> {
  const rows = await db.rows<RecentRow>(
    `select d.id, d.event_id, d.acknowledged_at, ${shortText('e.envelope')} as envelope
       from acknowledged_deliveries d join events e on e.tenant_id = d.tenant_id and e.id = d.event_id
      where d.tenant_id = ? and d.recipient_id = ? order by d.acknowledged_at desc, d.id desc limit ?`,
    [tenantId, recipientId, limit],
  )
  const items = rows.map((row): Item => {
    if (row.envelope !== null) return recentJson(row, memberTexts(row.envelope, SHOWN_MEMBERS))
    return async () => {
      const text = await readEnvelope(db, tenantId, row.event_id)
      return text === undefined ? undefined : recentJson(row, await memberTexts(text, SHOWN_MEMBERS, nextTurn))
    }
  })
  return listBody('{"events":[', items, () => ']}')
}

const SHOWN_MEMBERS: ReadonlySet<string> = new Set(['type', 'source', 'subject', 'time', 'data', 'data_base64'])

/** The parts of the envelope are the text that was received, as in a delivery. */
function recentJson(row: RecentRow, texts: ReadonlyMap<string, string>): string {
  const part = (name: string): string => `,"${name}":${texts.get(name) ?? 'null'}`
  const data = ['data', 'data_base64'].find((name) => texts.has(name))
  return (
    `{"event_id":${JSON.stringify(row.event_id)},"delivery_id":"${row.id}"${part('type')}${part('source')}` +
    `${part('subject')}${part('time')}${data === undefined ? '' : part(data)},"acknowledged_at":"${iso(row.acknowledged_at)}"}`
  )
}
