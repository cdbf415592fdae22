// An agent says what it wants to hear of; with backfill, also of what has been.
//
// 1. An interest belongs to the agent that creates it, and to no other.
// 2. The same type and filter twice is a conflict: the schema says so, not a look beforehand.
// 3. Backfilled events are in the mailbox, oldest first, before the answer.
import { createHash } from 'node:crypto'
import type { Interest, InterestCreate, Static } from '@sensorium/contract'
import { requireAgent } from '../agents/get.ts'
import type { Principal } from '../auth/principal.ts'
import { ruleBroken } from '../kernel/failure.ts'
import type { MakeId } from '../kernel/ids.ts'
import type { Wakeups } from '../delivery/wake.ts'
import { eventsSentTo, insertDeliveries, type NewDeliveryRow } from '../delivery/sql.ts'
import { pageNewestEvents, type Place, type StoredEvent } from '../events/sql.ts'
import { closeRouting, recordRoutingChange } from '../routing/changes.ts'
import { checkFilter } from '../routing/check-filter.ts'
import { compileFilter, type Envelope } from '../routing/filter.ts'
import { compileGlob } from '../routing/glob.ts'
import type { Db, Store } from '../store/db.ts'
import { meter } from '../tenants/usage.ts'
import { deleteInterestRow, findConflict, insertInterest, shownInterest, type InterestRow } from './sql.ts'

type Wanted = Static<typeof InterestCreate>

export interface CreateTools {
  store: Store
  makeId: MakeId
  wakeups: Wakeups
  now(): number
}

const PAGE = 500

const conflictKey = (type: string, filter: string | null): string =>
  createHash('sha256')
    .update(JSON.stringify([type, filter]))
    .digest('base64url')

/** Everything that can be wrong with the request itself, and whether it is for the caller. */
export async function checkInterest(db: Db, caller: Principal, agentId: string, wanted: Wanted): Promise<void> {
  checkFilter('filter_expression', wanted.filter_expression)
  await requireAgent(db, caller.tenantId, agentId)
  if (agentId !== caller.id)
    throw ruleBroken('self_only', 'An agent creates interests for itself only', { agent_id: agentId })
}

/** The newest retained events that match, newest first. */
async function matchingEvents(db: Db, tenantId: string, wanted: Wanted): Promise<StoredEvent[]> {
  const glob = compileGlob(wanted.event_type)
  const filter = wanted.filter_expression ? compileFilter(wanted.filter_expression) : null
  const found: StoredEvent[] = []
  for (
    let before: Place = { received_at: Number.MAX_SAFE_INTEGER, place: 0, id: '' };
    found.length < (wanted.backfill ?? 0);
  ) {
    const page = await pageNewestEvents(db, tenantId, before, PAGE)
    for (const event of page) {
      const envelope = JSON.parse(event.envelope) as Envelope
      if (
        found.length < wanted.backfill! &&
        glob.matches(envelope['type'] as string) &&
        (!filter || filter.test(envelope) === true)
      )
        found.push(event)
    }
    const last = page.at(-1)
    if (!last || page.length < PAGE) break
    before = last
    await new Promise(setImmediate) // a long history is read in many short turns
  }
  return found
}

/**
 * Creates the interest; `record` writes the answer's record into the transaction that completes it. With backfill these
 * are two: from the first on every publish is routed by the interest, so what is there then is all that is left to be
 * sent. History is read between them, because a transaction would hold up every other writer.
 */
export async function createInterest(
  tools: CreateTools,
  caller: Principal,
  wanted: Wanted,
  record: (tx: Db, interest: Interest) => Promise<void>,
): Promise<Interest> {
  const { store, makeId, now } = tools
  const { tenantId, id: agentId } = caller
  const row = await store.tx(async (tx) => {
    if (wanted.backfill) await closeRouting(tx, tenantId)
    const at = now()
    const filter = wanted.filter_expression ?? null
    const made: InterestRow = {
      tenant_id: tenantId,
      id: makeId('interest'),
      agent_id: agentId,
      event_type: wanted.event_type,
      filter_expression: filter,
      conflict_key: conflictKey(wanted.event_type, filter),
      priority: wanted.priority,
      enrichment_depth: wanted.enrichment_depth,
      active: 1,
      created_at: at,
      updated_at: at,
    }
    if ((await insertInterest(tx, made)) === 0) {
      const existing = await findConflict(tx, tenantId, agentId, made.conflict_key)
      throw ruleBroken('interest_conflict', 'This agent has an interest with the same type and filter', {
        existing_interest_id: existing?.id ?? null,
      })
    }
    await recordRoutingChange(tx, tenantId, 'interest', made.id, at)
    if (!wanted.backfill) await record(tx, shownInterest(made))
    return made
  })
  const interest = shownInterest(row)
  if (!wanted.backfill) return interest
  try {
    await backfill(tools, row, wanted, (tx) => record(tx, interest))
    return interest
  } catch (error) {
    // Not created, then, and the caller may try again. If the store is away that has to wait, and a second try is a
    // conflict.
    await store
      .tx(async (tx) => {
        await deleteInterestRow(tx, tenantId, agentId, row.id)
        await recordRoutingChange(tx, tenantId, 'interest', row.id, now())
      })
      .catch(() => {})
    throw error
  }
}

/**
 * Puts the newest events that match into the mailbox, oldest first, those that the agent was not sent yet.
 */
async function backfill(
  { store, makeId, wakeups, now }: CreateTools,
  row: InterestRow,
  wanted: Wanted,
  record: (tx: Db) => Promise<void>,
): Promise<void> {
  const { tenant_id: tenantId, agent_id: recipientId } = row
  const history = await matchingEvents(store, tenantId, wanted)
  await store.tx(async (tx) => {
    const at = now()
    // One backfill of an agent at a time: nobody sends what this one is about to.
    await tx.rows(`select id from agents where tenant_id = ? and id = ? ${tx.dialect.forUpdate}`, [
      tenantId,
      recipientId,
    ])
    const sent = await eventsSentTo(
      tx,
      { tenantId, recipientId },
      history.map((event) => event.id),
    )
    const deliveries = history
      .filter((event) => !sent.has(event.id))
      .reverse()
      .map(
        (event): NewDeliveryRow => ({
          tenant_id: tenantId,
          recipient_id: recipientId,
          id: makeId('delivery'),
          event_id: event.id,
          priority: row.priority,
          enrichment: row.enrichment_depth,
          matched: row.id,
          created_at: at,
        }),
      )
    insertDeliveries(tx, deliveries)
    meter(tx, at, [[tenantId, 'deliveries', deliveries.length]])
    if (deliveries.length > 0) tx.afterCommit(() => wakeups.wake([recipientId]))
    await record(tx)
  })
}
