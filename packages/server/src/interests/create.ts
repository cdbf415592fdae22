// Creates an interest: an agent says which events it wants to receive; with backfill, past ones too.
//
// 1. An interest belongs to the agent that creates it, and to no other.
// 2. The same type and filter twice is a conflict: the schema decides that, not a check beforehand.
// 3. Backfilled events are in the mailbox, oldest first, before the response.
import { createHash } from 'node:crypto'
import type { Interest, InterestCreate, Static } from '@sensorium/contract'
import { requireAgent } from '../agents/get.ts'
import type { Principal } from '../auth/principal.ts'
import { ruleBroken } from '../kernel/failure.ts'
import type { Logger } from '../kernel/logger.ts'
import { lockRoutingExclusive, recordRoutingChange } from '../routing/changes.ts'
import { checkFilter } from '../routing/check-filter.ts'
import { StoreUnavailable, type Db } from '../store/db.ts'
import type { Quotas } from '../tenants/quotas.ts'
import { backfill, type BackfillTools } from './backfill.ts'
import { insertTogether, type InsertInterest } from './insert.ts'
import { deleteInterestRow, holdInterest, shownInterest, type InterestRow } from './sql.ts'

type InterestFields = Static<typeof InterestCreate>

export interface CreateTools extends BackfillTools {
  insertInterest: InsertInterest
  quotas: Quotas
  log: Logger
}

const conflictKey = (type: string, filter: string | null): string =>
  createHash('sha256')
    .update(JSON.stringify([type, filter]))
    .digest('base64url')

/** Checks everything that can be wrong with the request itself, and that the interest is for the caller. */
export async function checkInterest(db: Db, caller: Principal, agentId: string, fields: InterestFields): Promise<void> {
  checkFilter('filter_expression', fields.filter_expression)
  await requireAgent(db, caller.tenantId, agentId)
  if (agentId !== caller.id)
    throw ruleBroken('self_only', 'An agent creates interests for itself only', { agent_id: agentId })
}

/** An interest whose mailbox is not filled yet. The rest of it is in the request. */
export interface BegunInterest {
  id: string
  created_at: number
}

/** Writes the record of the response. */
interface InterestRecord {
  /** The interest that an equal request has begun and not completed: its process is gone. */
  earlier: BegunInterest | null
  /** In the first of two transactions: the interest is being created. */
  begun(tx: Db, begun: BegunInterest): Promise<void>
  /** In the transaction that completes it. */
  ended(tx: Db, interest: Interest): Promise<void>
  /** In the transaction that deletes the interest again. False if an equal request has gone on with the interest. */
  stands(tx: Db): Promise<boolean>
  /** The same where the interest may be complete: it takes the record back. False if the record shows that it is. */
  withdrawn(tx: Db): Promise<boolean>
}

/**
 * Creates the interest. With backfill there are two transactions: from the first on every publish is routed by the
 * interest, so only the events that are stored by then are left to be sent. History is read between the two, because
 * reading it in a transaction would hold up every other writer. If the process ends between the two, an equal request
 * with the same idempotency key goes on with the interest that is there.
 */
export async function createInterest(
  tools: CreateTools,
  caller: Principal,
  fields: InterestFields,
  record: InterestRecord,
): Promise<Interest> {
  const { store, makeId, now } = tools
  const { tenantId, id: agentId } = caller
  const filter = fields.filter_expression ?? null
  const begun = record.earlier ?? { id: makeId('interest'), created_at: now() }
  const row: InterestRow = {
    tenant_id: tenantId,
    agent_id: agentId,
    event_type: fields.event_type,
    filter_expression: filter,
    conflict_key: conflictKey(fields.event_type, filter),
    priority: fields.priority,
    enrichment_depth: fields.enrichment_depth,
    active: 1,
    updated_at: begun.created_at,
    ...begun,
  }
  if (!fields.backfill) return tools.insertInterest({ row, record: record.ended })

  let interest: Interest | null = null
  try {
    interest = await store.tx(async (tx) => {
      await lockRoutingExclusive(tx, tenantId)
      const begin = (): Promise<void> => record.begun(tx, begun)
      if (record.earlier && (await holdInterest(tx, row))) {
        await begin()
        return shownInterest(row)
      }
      const [made] = await insertTogether(tx, tools.quotas, [{ row, record: begin }])
      return made!
    })
    const made = interest
    await backfill(tools, row, fields.backfill, (tx) => record.ended(tx, made))
    return made
  } catch (error) {
    const isUnsure = error instanceof StoreUnavailable && error.trouble === 'unsure'
    if (interest !== null || isUnsure) await undo(tools, row, isUnsure ? record.withdrawn : record.stands)
    throw error
  }
}

/**
 * Deletes the interest again, so that the caller may retry. If the store went away during a commit, the interest may be
 * complete, and a retry with the same key will be told so; and while this node stood still, an equal request may have
 * gone on with the interest on another node, and answered. `mayDelete` is false then, and it stays. It also stays if
 * the store cannot be reached now; then a retry is a conflict.
 */
async function undo(
  { store, log, now }: CreateTools,
  row: InterestRow,
  mayDelete: InterestRecord['withdrawn'],
): Promise<void> {
  const { tenant_id: tenantId, agent_id: agentId, id } = row
  try {
    await store.tx(async (tx) => {
      if (!(await mayDelete(tx)) || (await deleteInterestRow(tx, tenantId, agentId, id)) === 0) return
      await recordRoutingChange(tx, tenantId, 'interest', id, now())
    })
  } catch (error) {
    log.warn({ err: error, interest: id }, 'an interest without its backfill was not deleted; it stays and routes')
  }
}
