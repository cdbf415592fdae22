// The statements by which a mailbox is claimed from, in the order of delivery: highest priority, then oldest.
// standing.ts defines what is ready.
import { statement, type Db } from '../store/db.ts'
import { shortBytes, shortText } from './long-payloads.ts'
import type { Mailbox } from './sql.ts'
import { IN_OPEN_INDEX, IS_READY } from './standing.ts'

/**
 * The recipient, or null if it is a paused agent. Parameters: tenant, recipient, recipient. SQLite tests a condition
 * beside the others for each row, so that a poll of a paused agent read its whole mailbox. As the key that is looked
 * for, a null ends the search before it begins.
 */
const UNLESS_PAUSED =
  'case when exists (select 1 from agents where tenant_id = ? and id = ? and paused = 1) then null else cast(? as text) end'

/** The open deliveries of a mailbox. Parameters: tenant, tenant, recipient, recipient. */
const OPEN = `tenant_id = ? and recipient_id = ${UNLESS_PAUSED} and ${IN_OPEN_INDEX}`

/** What is ready in a mailbox. Parameters: those of `OPEN`, time. */
const READY = `tenant_id = ? and recipient_id = ${UNLESS_PAUSED} and ${IS_READY}`

const IN_ORDER = 'order by priority desc, id'

type Ordered = Pick<ClaimedRow, 'priority' | 'id'>

/** The same order, for rows that were read. */
export const inDeliveryOrder = (a: Ordered, b: Ordered): number => b.priority - a.priority || (a.id < b.id ? -1 : 1)

/**
 * The index of the mailbox, in this order. Within one priority the key of the table has the same order, and SQLite read
 * all deliveries of the tenant by it.
 */
const INDEX = 'deliveries_open'

const valuesOf = ({ tenantId, recipientId }: Mailbox): string[] => [tenantId, tenantId, recipientId, recipientId]

const ONE_IS_DUE = `select 1 as due from deliveries where ${READY} ${IN_ORDER} limit 1`

/** Whether a poll would find something. Locks nothing. */
export const isSomethingDue = async (db: Db, mailbox: Mailbox, now: number): Promise<boolean> =>
  (await db.lookUp(ONE_IS_DUE, [...valuesOf(mailbox), now])) !== undefined

/** How many deliveries of a mailbox a scan reads. One statement scans up to a thousand mailboxes. */
const FIRST = 10

/**
 * An expression that is 1 if a mailbox may have something ready, and null if it has not: something is among its first
 * open deliveries, or there are more than these. Read in the order of the index: an `exists` may become a scan of all
 * open deliveries on the server. Parameters: the tenant if it is one, the time, the tenant again.
 */
export function mayBeDue(tenant: string, recipient: string): string {
  const open = `from deliveries where tenant_id = ${tenant} and recipient_id = ${recipient} and ${IN_OPEN_INDEX} ${IN_ORDER}`
  return `coalesce((select 1 from (select state, due_at, wake_at, dead_lettered_at ${open} limit ${FIRST}) as first where ${IS_READY} limit 1),
    (select 1 ${open} limit 1 offset ${FIRST}))`
}

const NEXT_DUE = `select min(case when due_at > ? then due_at end) as due from
  (select due_at from deliveries where ${OPEN} ${IN_ORDER} limit 1000) as opened`

/**
 * Returns when the next lease or wait runs out in a mailbox in which nothing was due at `since`; null if none will, or
 * if the agent is paused. One that had run out by `since` and still was not due is ignored: a sweep has to handle it.
 * Reads the first thousand deliveries, which were leased before the others. If a later one is due sooner, a waiting
 * poll finds it when it looks again.
 */
export async function readNextDue(db: Db, mailbox: Mailbox, since: number): Promise<number | null> {
  const row = await db.lookUp<{ due: number | null }>(NEXT_DUE, [since, ...valuesOf(mailbox)])
  return row?.due ?? null
}

export interface ClaimedRow {
  id: string
  event_id: string
  attempts: number
  leases: number
  priority: number
  enrichment: string
  enriched: string | null
  /** 1 if the delivery has an enrichment block, short or long. */
  is_enriched: number
  created_at: number
  /** When this lease runs out. */
  due_at: number
  /** 1 if the lease before this one ran out. */
  lapsed: number
  /** Null if the envelope is long. */
  envelope: string | null
}

const claim = (where: string) =>
  statement(
    ({ skipLocked, inRows, byIndex }) =>
      `with next as (select id from deliveries ${byIndex(INDEX)} where ${where} ${IN_ORDER} limit ? ${skipLocked})
     update deliveries set state = 'leased', attempts = attempts + 1, leases = leases + 1, due_at = ?, first_attempt_at = coalesce(first_attempt_at, ?),
            lapsed = case when state = 'leased' then 1 else 0 end, wake_at = case when attempts + 1 >= ? then cast(? as bigint) end
      where tenant_id = ? and ${inRows('id', 'select id from next')}
      returning id, event_id, attempts, leases, priority, enrichment, ${shortText('enriched')} as enriched,
                case when enriched is null then 0 else 1 end as is_enriched, created_at, due_at, lapsed,
                (select ${shortText('e.envelope')} from events e where e.tenant_id = ? and e.id = deliveries.event_id) as envelope`,
  )

const CLAIM = claim(READY)
const CLAIM_IN = claim(`${READY} and priority = ? and id between ? and ?`)

/** A part of a mailbox, in the order of delivery: deliveries of one priority from one id to another. */
export interface Stretch {
  priority: number
  first: string
  last: string
}

/**
 * Leases what is due, highest priority first, then oldest. Rows that another poll is taking are skipped. Long envelopes
 * and blocks are left out (long-payloads.ts). When the last of `maxAttempts` leases runs out, the sweep buries the
 * delivery (lapse.ts). With a stretch, only what lies in it.
 */
export const claimRows = (
  db: Db,
  mailbox: Mailbox,
  limit: number,
  until: number,
  now: number,
  maxAttempts: number,
  stretch?: Stretch,
) => {
  const short = shortBytes(db, limit)
  const lease = [limit, until, now, maxAttempts, until, mailbox.tenantId, short, short, mailbox.tenantId]
  if (!stretch) return db.rows<ClaimedRow>(CLAIM(db), [...valuesOf(mailbox), now, ...lease])
  const { priority, first, last } = stretch
  return db.rows<ClaimedRow>(CLAIM_IN(db), [...valuesOf(mailbox), now, priority, first, last, ...lease])
}

const STANDINGS = 'select id, state, due_at, wake_at, dead_lettered_at from deliveries'

const FRONT = `select
  (select count(*) from (select 1 from (${STANDINGS} where ${OPEN} ${IN_ORDER} limit ?) as first where ${IS_READY} limit ?) as found) as ready,
  (select count(*) from (select 1 from deliveries where ${OPEN} ${IN_ORDER} limit 1 offset ?) as others) as more`

/** Whether a claim of `limit` deliveries would pass more than `size`: fewer of the first are ready. Locks nothing. */
export async function isFrontHeld(db: Db, mailbox: Mailbox, size: number, limit: number, now: number) {
  const of = valuesOf(mailbox)
  const front = await db.lookUp<{ ready: number; more: number }>(FRONT, [...of, size, now, limit, ...of, size])
  return front!.more > 0 && front!.ready < limit
}

const NEXT_PRIORITY = `select priority from deliveries where ${OPEN} and priority < ? ${IN_ORDER} limit 1`

/** A priority may be the highest safe integer. The number after it is exact as well, on both engines. */
const ABOVE_ALL = Number.MAX_SAFE_INTEGER + 1

/** Returns the highest priority below `below` among the open deliveries of a mailbox; null if there is none. */
export const nextPriority = async (db: Db, mailbox: Mailbox, below = ABOVE_ALL) =>
  (await db.lookUp<{ priority: number }>(NEXT_PRIORITY, [...valuesOf(mailbox), below]))?.priority ?? null

const SLICE = statement(
  ({ byIndex }) => `select count(*) as n, max(id) as last, min(case when ${IS_READY} then id end) as ready from
  (${STANDINGS} ${byIndex(INDEX)} where ${OPEN} and priority = ? and id > ? ${IN_ORDER} limit ?) as slice`,
)

interface Slice {
  n: number
  /** The last delivery of the slice, and the first that is ready. */
  last: string | null
  ready: string | null
}

/** Reads the `size` deliveries of a priority that follow `after`, whatever their standing. Locks nothing. */
export const readSlice = async (
  db: Db,
  mailbox: Mailbox,
  priority: number,
  after: string,
  size: number,
  now: number,
): Promise<Slice> => (await db.lookUp<Slice>(SLICE(db), [now, ...valuesOf(mailbox), priority, after, size]))!
