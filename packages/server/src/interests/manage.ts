// The interests of an agent, listed and deleted.
import { isId, type Interest } from '@sensorium/contract'
import { requireAgent } from '../agents/get.ts'
import type { Principal } from '../auth/principal.ts'
import { holds } from '../auth/principal.ts'
import { notFound, ruleBroken } from '../kernel/failure.ts'
import { recordRoutingChange } from '../routing/changes.ts'
import type { Db } from '../store/db.ts'
import { deleteInterestRow, listInterestRows, shownInterest } from './sql.ts'

export async function listInterests(db: Db, caller: Principal, agentId: string): Promise<Interest[]> {
  await requireAgent(db, caller.tenantId, agentId)
  return (await listInterestRows(db, caller.tenantId, agentId)).map(shownInterest)
}

/** An agent deletes its own; an admin anybody's, so that what a lost agent subscribed to can be ended. */
export async function deleteInterest(
  tx: Db,
  caller: Principal,
  agentId: string,
  id: string,
  now: number,
): Promise<void> {
  await requireAgent(tx, caller.tenantId, agentId)
  if (agentId !== caller.id && !holds(caller, 'admin'))
    throw ruleBroken('self_only', 'An agent deletes its own interests only', { agent_id: agentId })
  const deleted = isId('interest', id) ? await deleteInterestRow(tx, caller.tenantId, agentId, id) : 0
  if (deleted === 0) throw notFound('interest', id)
  await recordRoutingChange(tx, caller.tenantId, 'interest', id, now)
}
