// Who sees which memory. The rule is written twice, as a predicate and as SQL, and a test checks that the two agree:
//
// 1. A memory that is deleted, or past its expiry by the clock, is seen by nobody.
// 2. Its owner sees it whatever its scope, an org-admin sees every memory of the tenant.
// 3. Everybody else sees it if its scope is `institutional`, or if its scope is `team` and its team is their own.
import type { MemoryScope, MemoryStatus } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import type { Value } from '../store/db.ts'

/** For whom memories are read: a caller, or the agent that a delivery goes to. */
export type Viewer = Pick<Principal, 'kind' | 'id' | 'tenantId' | 'teamId'>

export interface Visibility {
  tenant_id: string
  agent_id: string
  team_id: string | null
  scope: MemoryScope
  status: MemoryStatus
  expires_at: number | null
}

/** A piece of a where clause and the values for its question marks. */
export interface Condition {
  sql: string
  values: Value[]
}

export const isLive = (memory: Pick<Visibility, 'status' | 'expires_at'>, now: number): boolean =>
  memory.status === 'active' && (memory.expires_at === null || memory.expires_at > now)

export function maySee(viewer: Viewer, memory: Visibility, now: number): boolean {
  if (memory.tenant_id !== viewer.tenantId || !isLive(memory, now)) return false
  if (viewer.kind === 'org_admin' || memory.agent_id === viewer.id || memory.scope === 'institutional') return true
  return memory.scope === 'team' && viewer.teamId !== null && memory.team_id === viewer.teamId
}

/** The owner and org-admins may change, delete and promote a memory. */
export const mayAdminister = (viewer: Viewer, memory: Pick<Visibility, 'agent_id'>): boolean =>
  viewer.kind === 'org_admin' || memory.agent_id === viewer.id

const unexpired = (now: number): Condition => ({
  sql: '(m.expires_at is null or m.expires_at > ?)',
  values: [now],
})

const live = (now: number): Condition => allOf({ sql: `m.status = 'active'`, values: [] }, unexpired(now))

export const allOf = (...conditions: Condition[]): Condition => ({
  sql: conditions.map(({ sql }) => sql).join(' and '),
  values: conditions.flatMap(({ values }) => values),
})

/** One of several conditions that no memory meets together. */
export interface Way extends Condition {
  /**
   * The part of it to which an index of its own leads, in the order of the ids. What is left is compared entry by
   * entry. Null if the index has another order: then nothing can be read in steps.
   */
  base: Condition | null
}

const wayOf = (base: Condition, ...more: Condition[]): Way => ({ ...allOf(base, ...more), base })

/** Narrows a way by what its index is not ordered by. */
export const narrowed = (way: Way, ...more: Condition[]): Way => ({ ...allOf(way, ...more), base: way.base })

/** `maySee` as a condition on the table with the alias `m`, the tenant included. */
export function seenBy(viewer: Viewer, now: number): Condition {
  const tenant = { sql: 'm.tenant_id = ?', values: [viewer.tenantId] }
  if (viewer.kind === 'org_admin') return allOf(tenant, live(now))
  const shared = `m.agent_id = ? or m.scope = 'institutional'`
  // A comparison with null would not match either, but would keep an index from being used.
  const ways: Condition =
    viewer.teamId === null
      ? { sql: `(${shared})`, values: [viewer.id] }
      : { sql: `(${shared} or (m.scope = 'team' and m.team_id = ?))`, values: [viewer.id, viewer.teamId] }
  return allOf(tenant, live(now), ways)
}

/**
 * Returns the conditions for memories that are deleted, or past their expiry, and that the viewer may administer as
 * owner or org-admin. No memory meets two of them, and each has an index of its own. SQLite uses a partial index only
 * for a query that has its condition word by word.
 */
export function disjointGone(viewer: Viewer, status: 'deleted' | 'expired', now: number): Way[] {
  const whose: Condition =
    viewer.kind === 'org_admin'
      ? { sql: 'm.tenant_id = ?', values: [viewer.tenantId] }
      : { sql: 'm.tenant_id = ? and m.agent_id = ?', values: [viewer.tenantId, viewer.id] }
  const noted = allOf(whose, { sql: `m.status = '${status}' and m.status <> 'active'`, values: [] })
  if (status === 'deleted') return [wayOf(noted)]
  // Past its expiry, and no sweep has written it down yet.
  const due = `m.status = 'active' and m.expires_at is not null and m.expires_at <= ?`
  return [wayOf(noted), { ...allOf(whose, { sql: due, values: [now] }), base: null }]
}

/** All that `disjointGone` selects as one condition, for a query that has the ids. */
export function goneCondition(viewer: Viewer, status: 'deleted' | 'expired', now: number): Condition {
  const ways = disjointGone(viewer, status, now)
  return {
    sql: `m.tenant_id = ? and (${ways.map(({ sql }) => `(${sql})`).join(' or ')})`,
    values: [viewer.tenantId, ...ways.flatMap(({ values }) => values)],
  }
}

/**
 * The memories of `seenBy` as conditions that do not overlap, each with an index of its own, so that hidden memories
 * cost nothing.
 */
export function disjointSeenBy(viewer: Viewer, now: number, scope: MemoryScope | undefined): Way[] {
  const { kind, tenantId, id, teamId } = viewer
  const chosen = scope === undefined ? [] : [{ sql: 'm.scope = ?', values: [scope] }]
  const active = (sql: string, ...values: Value[]): Condition => ({
    sql: `m.tenant_id = ? ${sql} and m.status = 'active'`,
    values: [tenantId, ...values],
  })
  if (kind === 'org_admin') return [wayOf(active(''), unexpired(now), ...chosen)]
  const ways = [wayOf(active('and m.agent_id = ?', id), unexpired(now), ...chosen)]
  const ofOthers: Condition = { sql: 'm.agent_id <> ?', values: [id] }
  if (teamId !== null && (scope ?? 'team') === 'team')
    ways.push(wayOf(active(`and m.scope = 'team' and m.team_id = ?`, teamId), ofOthers, unexpired(now)))
  if ((scope ?? 'institutional') === 'institutional')
    ways.push(wayOf(active(`and m.scope = 'institutional'`), ofOthers, unexpired(now)))
  return ways
}
