// Deletes old rows of all tenants, some at a time: nobody waits long for a lock, and rows that stay are not read.
import { nextTurn } from '../kernel/step-turns.ts'
import type { Db, Store } from './db.ts'

export interface Aging {
  table: string
  /** The columns that identify a row within its tenant. */
  key: readonly string[]
  /** The column with the time of the row; it has an index. */
  age: string
}

/** Rows deleted in one transaction. */
const STEP = 1_000

/** Deletes the rows whose time is before `before`, and returns how many. */
export async function purge(store: Store, aging: Aging, before: number): Promise<number> {
  if (!store.isSharded) return untilFewer((tx) => deleteOldest(tx, aging, before), store)
  let purged = 0
  // Where tenants lie on several machines, one statement for all tenants is a transaction of all machines.
  for (const tenantId of await tenantsWithOld(store, aging, before))
    purged += await untilFewer((tx) => deleteOldestOf(tx, aging, tenantId, before), store)
  return purged
}

/** Repeats a step until it deletes fewer rows than it might. Returns how many were deleted in all. */
async function untilFewer(step: (tx: Db) => Promise<number>, store: Store): Promise<number> {
  for (let purged = 0; ; ) {
    const rows = await store.tx(step)
    purged += rows
    if (rows < STEP) return purged
    await nextTurn()
  }
}

/**
 * Deletes some old rows of all tenants, oldest first, and returns how many. Skips rows that another purge is deleting.
 */
const deleteOldest = (tx: Db, { table, key, age }: Aging, before: number): Promise<number> => {
  const names = ['tenant_id', ...key].join(', ')
  return tx.run(
    `with old as (select ${names} from ${table} where ${age} < ? order by ${age} limit ? ${tx.dialect.skipLocked})
     delete from ${table} where (${names}) in (select ${names} from old)`,
    [before, STEP],
  )
}

/** The tenants that have old rows. Locks nothing. */
async function tenantsWithOld(store: Store, { table, age }: Aging, before: number): Promise<string[]> {
  const rows = await store.rows<{ tenant_id: string }>(`select distinct tenant_id from ${table} where ${age} < ?`, [
    before,
  ])
  return rows.map(({ tenant_id }) => tenant_id)
}

/** Deletes some old rows of a tenant, oldest first, and returns how many. Skips rows that another purge is deleting. */
const deleteOldestOf = (tx: Db, { table, key, age }: Aging, tenantId: string, before: number): Promise<number> => {
  const names = key.join(', ')
  return tx.run(
    `with old as
       (select ${names} from ${table} where tenant_id = ? and ${age} < ? order by ${age} limit ? ${tx.dialect.skipLocked})
     delete from ${table} where tenant_id = ? and (${names}) in (select ${names} from old)`,
    [tenantId, before, STEP, tenantId],
  )
}
