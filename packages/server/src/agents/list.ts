// The agents of the tenant, newest first.
import type { Agent } from '@sensorium/contract'
import type { Db } from '../store/db.ts'
import type { ShowEndpoint } from './endpoint-user.ts'
import { pageAgents, shownAgent } from './sql.ts'

export async function listAgents(
  db: Db,
  tenantId: string,
  query: { offset?: number; limit?: number; status?: string },
  show: ShowEndpoint,
): Promise<{ agents: Agent[]; total: number }> {
  const { rows, total } = await pageAgents(db, tenantId, query.status, query.offset ?? 0, query.limit ?? 50)
  return { agents: rows.map((row) => shownAgent(row, show)), total }
}
