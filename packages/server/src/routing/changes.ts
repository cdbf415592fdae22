// Who receives what has changed: said in the transaction of the change, seen by every publish that starts after its
// commit.
import { one, type Db } from '../store/db.ts'

/** `interest`, `feed` and `channel` (its members) are named by their id, `agent` (active or not) by the agent's. */
export type ChangeKind = 'interest' | 'feed' | 'channel' | 'agent'

const lockOf = (tenantId: string): string => `routing ${tenantId}`

/**
 * Said by a publish before it reads who receives what: until it ends, nobody can be sure of all that is routed the old
 * way.
 */
export function joinRouting(tx: Db, tenantIds: readonly string[]): void {
  void tx.lock(tenantIds.map(lockOf), 'shared')
}

/**
 * Waits for the publishes under way, and lets the next ones wait: what is stored after this transaction is routed by
 * what it changed.
 */
export async function closeRouting(tx: Db, tenantId: string): Promise<void> {
  await tx.lock([lockOf(tenantId)], 'exclusive')
}

export async function recordRoutingChange(
  tx: Db,
  tenantId: string,
  kind: ChangeKind,
  id: string,
  now: number,
): Promise<void> {
  // The row of the tenant's version is held until the commit, so versions become visible in the order of their numbers.
  const row = await one<{ version: number }>(
    tx,
    `insert into routing_versions (tenant_id, version) values (?, 1)
     on conflict (tenant_id) do update set version = routing_versions.version + 1 returning version`,
    [tenantId],
  )
  await tx.run('insert into routing_changes (tenant_id, version, kind, id, changed_at) values (?, ?, ?, ?, ?)', [
    tenantId,
    row!.version,
    kind,
    id,
    now,
  ])
}
