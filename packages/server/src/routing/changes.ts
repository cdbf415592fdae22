// Who receives what has changed: said in the transaction of the change, seen by every publish that starts after its
// commit.
import { randomBytes } from 'node:crypto'
import { one, type Db, type Insert } from '../store/db.ts'

/**
 * `interest`, `feed` and `channel` (its members) are named by their id, `agent` (active or not, paused or not) by the
 * agent's, `source` (a name that only a webhook or a connector publishes under) by its webhook's or connector's.
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

export interface RoutingChange {
  kind: ChangeKind
  id: string
}

const CHANGES: Insert = {
  into: 'routing_changes',
  columns: {
    tenant_id: 'text',
    version: 'bigint',
    stamp: 'text',
    previous: 'text',
    kind: 'text',
    id: 'text',
    changed_at: 'bigint',
  },
}

/** Says in the transaction of changes that they were made. The same version is never the same change: see the stamp. */
export async function recordRoutingChanges(
  tx: Db,
  tenantId: string,
  changes: readonly RoutingChange[],
  now: number,
): Promise<void> {
  const stamp = randomBytes(12).toString('base64url')
  const stampOf = (i: number): string => `${stamp}.${i}`
  // Moves the tenant's version on. Holds its row until the commit, so versions become visible in the order of their
  // numbers. Returns the version, and the stamp of the one before.
  const row = await one<{ version: number; previous: string }>(
    tx,
    `insert into routing_versions (tenant_id, version, stamp, previous) values (?, ?, ?, '')
     on conflict (tenant_id) do update set
       version = routing_versions.version + excluded.version, previous = routing_versions.stamp, stamp = excluded.stamp
     returning version, previous`,
    [tenantId, changes.length, stampOf(changes.length - 1)],
  )
  const first = row!.version - changes.length + 1
  tx.insertLater(
    CHANGES,
    changes.map(({ kind, id }, i) => [
      tenantId,
      first + i,
      stampOf(i),
      i === 0 ? row!.previous : stampOf(i - 1),
      kind,
      id,
      now,
    ]),
  )
}

export const recordRoutingChange = (
  tx: Db,
  tenantId: string,
  kind: ChangeKind,
  id: string,
  now: number,
): Promise<void> => recordRoutingChanges(tx, tenantId, [{ kind, id }], now)
