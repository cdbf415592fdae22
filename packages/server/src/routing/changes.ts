// Records changes of the routing. A change is recorded in its own transaction, and every publish that starts after the
// commit sees it.
import { randomBytes } from 'node:crypto'
import { one, type Db, type Insert } from '../store/db.ts'

/**
 * `interest`, `feed` and `channel` (its members) are identified by their own id, `agent` (active or not, paused or not)
 * by the id of the agent, `source` (a name that only a webhook or a connector publishes under) by the id of the webhook
 * or connector.
 */
type ChangeKind = 'interest' | 'feed' | 'channel' | 'agent' | 'source'

const lockOf = (tenantId: string): string => `routing ${tenantId}`

/**
 * Called by a publish before it reads the routing tables. It may route by the old tables until it ends, and
 * `lockRoutingExclusive` waits for that.
 */
export function lockRoutingShared(tx: Db, tenantIds: readonly string[]): void {
  void tx.lock(tenantIds.map(lockOf), 'shared')
}

/**
 * Waits for the publishes under way and blocks new ones: every event that is stored after this transaction is routed by
 * its changes.
 */
export async function lockRoutingExclusive(tx: Db, tenantId: string): Promise<void> {
  await tx.lock([lockOf(tenantId)], 'exclusive')
}

export interface RoutingChange {
  kind: ChangeKind
  id: string
  /** Who joined or left the channel, if that is all that has changed. Otherwise all its members are read again. */
  joinedId?: string
  leftId?: string
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
    joined_id: 'text',
    left_id: 'text',
    changed_at: 'bigint',
  },
}

/** Records changes in their transaction. The stamp tells changes apart if a version is given out twice. */
export async function recordRoutingChanges(
  tx: Db,
  tenantId: string,
  changes: readonly RoutingChange[],
  now: number,
): Promise<void> {
  const stamp = randomBytes(12).toString('base64url')
  const stampOf = (i: number): string => `${stamp}.${i}`
  // Increments the tenant's version, and returns it with the stamp of the one before. The row stays locked until the
  // commit, so that versions become visible in the order of their numbers.
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
    changes.map(({ kind, id, joinedId = null, leftId = null }, i) => [
      tenantId,
      first + i,
      stampOf(i),
      i === 0 ? row!.previous : stampOf(i - 1),
      kind,
      id,
      joinedId,
      leftId,
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
