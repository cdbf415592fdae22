// Metering: counts that are written in the transaction of what they count, so they agree with the data whatever
// happens.
import type { UsageDay } from '@sensorium/contract'
import { iso } from '../kernel/clock.ts'
import type { Db } from '../store/db.ts'
import { requireTenant } from './get.ts'
import { addUsage, sumUsage } from './sql.ts'

const METRICS = ['events', 'deliveries', 'acknowledgements', 'memories', 'searches'] as const
/** The bytes that are stored at present, counted under no day. The count can go down. */
export const STORED_BYTES = 'stored_bytes'
export type Metric = (typeof METRICS)[number] | typeof STORED_BYTES

export const dayOf = (now: number): string => iso(now).slice(0, 10)

// Concurrent writers add to different rows, so that none waits for another's commit. A transaction adds to one shard,
// however often it meters: if it took several, in whatever order, two transactions could deadlock.
const SHARDS = 64
const shards = new WeakMap<Db, number>()
let nextShard = Math.floor(Math.random() * SHARDS)

function shardOf(tx: Db): number {
  if (tx.writers === 1) return 0
  const known = shards.get(tx)
  if (known !== undefined) return known
  nextShard = (nextShard + 1) % SHARDS
  shards.set(tx, nextShard)
  return nextShard
}

const nameOf = ([tenantId, day, metric]: readonly [string, string, ...unknown[]]): string =>
  `${tenantId} ${day} ${String(metric)}`

/** Adds to today's counts of any number of tenants. */
export function meter(
  tx: Db,
  now: number,
  counts: Iterable<readonly [tenantId: string, metric: Metric, amount: number]>,
): void {
  const day = dayOf(now)
  const shard = shardOf(tx)
  const rows = [...counts]
    .filter(([, , amount]) => amount !== 0)
    .map(([tenantId, metric, amount]) => [tenantId, metric === STORED_BYTES ? '' : day, metric, shard, amount] as const)
    // The same order for all writers, so that two transactions cannot deadlock: bytes, which have no day, come first,
    // and a transaction that meters them alone may meter anything afterwards.
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  addUsage(tx, rows)
}

/** Adds to the bytes that a tenant stores, or removes from them. */
export const meterStoredBytes = (tx: Db, tenantId: string, bytes: number): void =>
  meter(tx, 0, [[tenantId, STORED_BYTES, bytes]])

export async function readUsage(db: Db, slug: string): Promise<{ tenant: string; days: UsageDay[] }> {
  const tenant = await requireTenant(db, slug)
  const days = new Map<string, UsageDay>()
  for (const { day, metric, amount } of await sumUsage(db, tenant.tenant_id)) {
    const counted = days.get(day) ?? {
      date: day,
      events: 0,
      deliveries: 0,
      acknowledgements: 0,
      memories: 0,
      searches: 0,
    }
    days.set(day, { ...counted, [metric]: amount })
  }
  return { tenant: slug, days: [...days.values()] }
}
