// The statements that span several tenants on purpose, each with its reason. All others stay on one shard.

export interface OverAllTenants {
  /** Matches the beginning of the statement, or a part of it. */
  statement: RegExp
  why: string
  /** The statement is never run on a store whose tenants are spread over shards. */
  onOneServerOnly?: true
}

export const OVER_ALL_TENANTS: readonly OverAllTenants[] = [
  // Background searches of the service: without locks, and only for whose turn it is. The work is done by tenant.
  {
    statement: /^select tenant_id from deliveries where wake_at is not null and wake_at <= \?/,
    why: 'whose leases and waits have run out, once a second',
  },
  {
    statement: /^select (embedded|tenant_id) from memory_recall where embedded/,
    why: 'who has memories to embed, every two seconds',
  },
  { statement: /^select distinct tenant_id from memory_recall/, why: 'whose words older rules cut, every two seconds' },
  { statement: /^select distinct m\.tenant_id from memories/, why: 'who has memories to expire, every ten seconds' },
  { statement: /^select distinct tenant_id from \w+ where \w+ < \?/, why: 'who has rows to purge' },
  {
    statement: /^select a\.tenant_id, a\.id, a\.delivery_endpoint, case when exists/,
    why: 'a page of the agents that are pushed to',
  },
  {
    statement: /^select a\.tenant_id, a\.id, a\.delivery_endpoint, case when coalesce/,
    why: 'the same, reading the first deliveries of each mailbox alone: Citus could not run it',
    onOneServerOnly: true,
  },
  {
    statement: /^select tenant_id, id, delivery_endpoint from agents where id = any/,
    why: 'which recipients are pushed to, once for a recipient and a change of it: a wake-up names no tenant',
  },
  {
    statement: /^select (c\.tenant_id, t\.slug, .*|count\(\*\) as n) from connectors c/,
    why: 'all connectors, for the operator and for the node that runs them: there are few',
  },
  { statement: /^select tenant_id from connectors where id = \?/, why: 'the operator names a connector by its id' },
  {
    statement: /^update deliveries set due_at = due_at \+ \?/,
    why: 'leases and waits move with the clock of a machine that holds the only node; never on a shared store',
    onOneServerOnly: true,
  },
  // On one server one statement for all tenants is cheaper than one for each.
  { statement: /^select k\.id, case when k\.revoked_at/, why: 'the keys of a turn', onOneServerOnly: true },
  {
    statement: /^select tenant_id, version, stamp from routing_versions where tenant_id = any/,
    why: 'a group of publishes of several tenants',
    onOneServerOnly: true,
  },
  {
    statement: /^select tenant_id, subject, slot, used from rate_windows/,
    why: 'shared limits',
    onOneServerOnly: true,
  },
  { statement: /^select t\.tenant_id from tenants t where exists/, why: 'memories to expire', onOneServerOnly: true },
  {
    statement: /^with old as \(select tenant_id, .* from (\w+) where \w+ < \?.*\) delete from \1/,
    why: 'what has grown old',
    onOneServerOnly: true,
  },
  { statement: /^delete from memory_changes where changed_at </, why: 'the old end of a log', onOneServerOnly: true },
]
