// Writes new interests. Interests that arrive together share a transaction: each advances the tenant's routing version,
// whose row only one transaction holds at a time, so one by one they would queue for it and for connections. One
// hundred thousand by 32 clients ended in time-outs that way.
import type { Interest } from '@sensorium/contract'
import { failedAlone, makeBatches } from '../kernel/batches.ts'
import { onlyFailure, ruleBroken, type Failure } from '../kernel/failure.ts'
import { recordRoutingChanges } from '../routing/changes.ts'
import type { Quotas } from '../tenants/quotas.ts'
import type { Db, Store } from '../store/db.ts'
import { togetherOrAlone } from '../store/together.ts'
import { addToCount, findConflict, insertInterests, shownInterest, type InterestRow } from './sql.ts'

const MAX_INTERESTS = 10_000
/**
 * Interests in one transaction. Their statements are sent in one turn of the event loop, and their callers are told in
 * one: a hundred took 10 ms each time. Beside four hundred clients that create interests, the 99th percentile of a
 * neighbour on PostgreSQL was 35 to 540 ms with 100, 31 to 150 with 32, and 16 to 160 with 16, most often below 50.
 */
const MAX_BATCH = 16

interface NewInterest {
  row: InterestRow
  /** Writes the record of the response, in the same transaction. */
  record(tx: Db, interest: Interest): Promise<void>
}

export type InsertInterest = (wanted: NewInterest) => Promise<Interest>

/** One order for all batches, so that two of them never deadlock. */
const inOrder = <T>(groups: Map<string, T[]>): [string, T[]][] => [...groups].sort(([a], [b]) => (a < b ? -1 : 1))

/** Writes the interests that are new. Returns a result for each; that of a conflict is a promise that rejects. */
export async function insertTogether(
  tx: Db,
  quotas: Quotas,
  wanted: readonly NewInterest[],
): Promise<(Interest | Promise<Interest>)[]> {
  for (const [tenantId, rows] of inOrder(Map.groupBy(wanted, ({ row }) => row.tenant_id)))
    await requireRoom(tx, quotas, tenantId, rows)
  const inserted = await insertInterests(
    tx,
    wanted.map(({ row }) => row),
  )
  const fresh = new Set(inserted.map(({ id }) => id))
  const made = wanted.filter(({ row }) => fresh.has(row.id)).map(({ row }) => row)
  await countUp(tx, made)
  for (const [tenantId, rows] of inOrder(Map.groupBy(made, (row) => row.tenant_id))) {
    const changes = rows.map(({ id }) => ({ kind: 'interest' as const, id }))
    await recordRoutingChanges(tx, tenantId, changes, rows[0]!.created_at)
  }
  const results: (Interest | Promise<Interest>)[] = []
  for (const { row, record } of wanted) {
    const interest = shownInterest(row)
    if (fresh.has(row.id)) await record(tx, interest)
    results.push(fresh.has(row.id) ? interest : failedAlone(conflictWith(await findConflict(tx, row))))
  }
  return results
}

/**
 * Throws if the quota refuses the interests of a tenant. One that exists already is a conflict even then: it may be
 * what an earlier try of the same request made. Several that are refused are tried again one by one.
 */
async function requireRoom(tx: Db, quotas: Quotas, tenantId: string, wanted: readonly NewInterest[]): Promise<void> {
  const refusal = await quotas.makeRoom(tx, tenantId, 'interests', wanted.length).catch(onlyFailure)
  if (!refusal) return
  const existing = await findConflict(tx, wanted[0]!.row)
  throw existing ? conflictWith(existing) : refusal
}

/** Adds new interests to the counts of their agents. Throws if an agent has too many, which undoes the transaction. */
async function countUp(tx: Db, rows: readonly InterestRow[]): Promise<void> {
  for (const [, [first, ...others]] of inOrder(Map.groupBy(rows, (row) => `${row.tenant_id} ${row.agent_id}`))) {
    const { tenant_id, agent_id } = first!
    if ((await addToCount(tx, tenant_id, agent_id, 1 + others.length)) > MAX_INTERESTS)
      throw ruleBroken('too_many_interests', `An agent has at most ${MAX_INTERESTS} interests`, { agent_id })
  }
}

const conflictWith = (existing: { id: string } | undefined): Failure =>
  ruleBroken('interest_conflict', 'This agent has an interest with the same type and filter', {
    existing_interest_id: existing?.id ?? null,
  })

export function makeInsertInterest(store: Store, quotas: Quotas): InsertInterest {
  const batches = makeBatches<NewInterest, Interest>({
    lanes: 1,
    maxItems: MAX_BATCH,
    ownerOf: ({ row }) => ({ tenantId: row.tenant_id, senderId: row.agent_id }),
    run: (wanted) => togetherOrAlone(wanted, (some) => store.tx((tx) => insertTogether(tx, quotas, some))),
  })
  return batches.add
}
