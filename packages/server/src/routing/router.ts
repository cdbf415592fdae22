// Keeps the routing tables of the tenants that publish on this node, each as new as the transaction that asks for it.
//
// 1. `tables` compares versions inside the publishing transaction: a change that had its response before the publish
//    began is seen, on every node, without anything being sent between nodes.
// 2. A table holds only what is committed. It is read beside the transaction and never through it: what a transaction
//    sees of itself, or of those that share its commit, can still be undone, and memory does not roll back.
// 3. While a table is read nobody waits for a row: a transaction that waited for another's row while it held the turn
//    would wait for ever where the other waits for the turn.
// 4. Only a table that is new here, or too far behind, is read whole, in pages.
import type { Db, Store } from '../store/db.ts'
import { makeFilters } from './filters.ts'
import type { MatchTools } from './match.ts'
import { fillTable, refreshTable } from './read-table.ts'
import { readVersions } from './sql.ts'
import { RoutingTable } from './table.ts'

/** Subscriptions kept over all tenants; the tenants that published least recently go first. 400 bytes each, and their
 * filters' text. */
const MAX_SUBSCRIPTIONS = 1_000_000

export type Tables = ReadonlyMap<string, RoutingTable>

export interface Router {
  /** What matching with these tables needs. */
  readonly matching: MatchTools
  /** The table as this node knows it, if it does. */
  known(tenantId: string): RoutingTable | undefined
  /** The tables as this node knows them, loaded where they are missing. Call it before the transaction. */
  prepare(tenantIds: readonly string[]): Promise<Tables>
  /** The tables of these tenants, as new as what was committed when the transaction asks. */
  tables(tx: Db, tenantIds: readonly string[]): Promise<Tables>
}

export function makeRouter(store: Store, overBudget: () => void): Router {
  const known = new Map<string, RoutingTable>()
  // One writer per table at a time: two of them could put back what the other just removed.
  const busy = new Map<string, Promise<unknown>>()

  function alone<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    const turn = (busy.get(tenantId) ?? Promise.resolve()).then(work, work)
    const done = turn.catch(() => {}).finally(() => busy.get(tenantId) === done && busy.delete(tenantId))
    busy.set(tenantId, done)
    return turn
  }

  function keep(tenantId: string, table: RoutingTable): RoutingTable {
    known.delete(tenantId)
    known.set(tenantId, table)
    let total = 0
    for (const { size } of known.values()) total += size
    for (const [oldest, { size }] of known) {
      if (total <= MAX_SUBSCRIPTIONS || oldest === tenantId) break
      known.delete(oldest)
      total -= size
    }
    return table
  }

  const load = async (tenantId: string): Promise<RoutingTable> =>
    keep(tenantId, await fillTable(store, tenantId, new RoutingTable()))

  return {
    matching: { filters: makeFilters(), overBudget },
    known: (tenantId) => known.get(tenantId),
    async prepare(tenantIds) {
      const tables = new Map<string, RoutingTable>()
      for (const tenantId of tenantIds) {
        const table = known.get(tenantId) ?? (await alone(tenantId, async () => known.get(tenantId) ?? load(tenantId)))
        tables.set(tenantId, table)
      }
      return tables
    },
    async tables(tx, tenantIds) {
      const seen = new Map((await readVersions(tx, tenantIds)).map((row) => [row.tenant_id, row]))
      const tables = new Map<string, RoutingTable>()
      for (const tenantId of tenantIds) {
        const { version = 0, stamp = '' } = seen.get(tenantId) ?? {}
        const isCurrent = (table: RoutingTable | undefined): table is RoutingTable =>
          table !== undefined && table.version === version && table.stamp === stamp
        let table = known.get(tenantId)
        if (!isCurrent(table)) {
          table = await alone(tenantId, async () => {
            const current = known.get(tenantId)
            if (isCurrent(current) || (current && (await refreshTable(store, tenantId, current)))) return current
            return load(tenantId)
          })
        }
        // Who publishes stays longest.
        known.delete(tenantId)
        known.set(tenantId, table)
        tables.set(tenantId, table)
      }
      return tables
    },
  }
}
