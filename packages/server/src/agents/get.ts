// One agent of the tenant, or not found.
import { isId, type Agent } from '@sensorium/contract'
import { notFound } from '../kernel/failure.ts'
import type { Db } from '../store/db.ts'
import type { ShowEndpoint } from './endpoint-user.ts'
import { findAgent, shownAgent } from './sql.ts'

export async function requireAgent(db: Db, tenantId: string, id: string, show?: ShowEndpoint): Promise<Agent> {
  const row = isId('agent', id) ? await findAgent(db, tenantId, id) : undefined
  if (!row) throw notFound('agent', id)
  return shownAgent(row, show)
}
