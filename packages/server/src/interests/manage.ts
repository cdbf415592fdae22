// Reads and deletes the interests of an agent.
import { isId } from '@sensorium/contract'
import { requireAgent } from '../agents/get.ts'
import type { Principal } from '../auth/principal.ts'
import { holds } from '../auth/principal.ts'
import { notFound, ruleBroken } from '../kernel/failure.ts'
import { recordRoutingChange } from '../routing/changes.ts'
import { nextTurn } from '../kernel/step-turns.ts'
import type { Db } from '../store/db.ts'
import { deleteInterestRow, interestIds, readInterests, type InterestRow } from './sql.ts'

/** Rows in a page: some 0.4 MB with filters of the greatest length, or 1.6 if every character takes four bytes. */
const PAGE = 100

/**
 * Yields the interests of an agent, the newest first. (Rejected: an index for this order, which every new interest
 * would write.)
 */
export async function* interestPages(db: Db, caller: Principal, agentId: string): AsyncGenerator<InterestRow[]> {
  await requireAgent(db, caller.tenantId, agentId)
  const ids = await interestIds(db, caller.tenantId, agentId)
  for (let at = 0; at < ids.length; at += PAGE) {
    if (at > 0) await nextTurn()
    yield readInterests(db, caller.tenantId, ids.slice(at, at + PAGE))
  }
}

/** An agent may delete its own interests, an admin those of any agent, so that those of a lost agent can be ended. */
export async function deleteInterest(
  tx: Db,
  caller: Principal,
  agentId: string,
  id: string,
  now: number,
): Promise<void> {
  await requireAgent(tx, caller.tenantId, agentId)
  const deleted = isId('interest', id) ? await deleteInterestRow(tx, caller.tenantId, agentId, id) : 0
  if (deleted === 0) throw notFound('interest', id)
  // After the row was found, because existence is checked before rules. The error rolls the deletion back.
  if (agentId !== caller.id && !holds(caller, 'admin'))
    throw ruleBroken('self_only', 'An agent deletes its own interests only', { agent_id: agentId })
  await recordRoutingChange(tx, caller.tenantId, 'interest', id, now)
}
