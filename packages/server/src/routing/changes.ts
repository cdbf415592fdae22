// Who receives what has changed: said in the transaction of the change, seen by every publish that starts after its
// commit.
import { randomBytes } from 'node:crypto'
import { one, type Db } from '../store/db.ts'

/**
 * `interest`, `feed` and `channel` (its members) are named by their id, `agent` (active or not) by the agent's, `source`
 * (a name that only a webhook or a connector publishes under) by its webhook's or connector's.
 */
export type ChangeKind = 'interest' | 'feed' | 'channel' | 'agent' | 'source'

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

/** Says in the transaction of a change that it was made. The same version is never the same change: see the stamp. */
export async function recordRoutingChange(
  tx: Db,
  tenantId: string,
  kind: ChangeKind,
  id: string,
  now: number,
): Promise<void> {
  const stamp = randomBytes(12).toString('base64url')
  // Moves the tenant's version on. Holds its row until the commit, so versions become visible in the order of their
  // numbers. Answers the version, and the stamp of the one before it.
  const row = await one<{ version: number; previous: string }>(
    tx,
    `insert into routing_versions (tenant_id, version, stamp, previous) values (?, 1, ?, '')
     on conflict (tenant_id) do update set
       version = routing_versions.version + 1, previous = routing_versions.stamp, stamp = excluded.stamp
     returning version, previous`,
    [tenantId, stamp],
  )
  await tx.run(
    `insert into routing_changes (tenant_id, version, stamp, previous, kind, id, changed_at)
     values (?, ?, ?, ?, ?, ?, ?)`,
    [tenantId, row!.version, stamp, row!.previous, kind, id, now],
  )
}
