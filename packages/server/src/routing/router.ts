// Keeps the routing tables of the tenants that publish on this node, each up to date with the transaction that uses it.
//
// 1. `tables` compares versions inside the publishing transaction: every node sees a change whose response was sent
//    before the publish began, without any messages between nodes.
// 2. A table holds only committed data. It is read beside the transaction and never through it: a transaction also sees
//    its own writes, and those of transactions that share its commit. They can still be undone, and memory does not
//    roll back.
// 3. No transaction waits for a row lock while a table is read: if it held the turn for the table, and the owner of the
//    row waited for that turn, both would wait for ever.
// 4. A table is read completely, in pages, only if it is new on this node or too far behind. That takes seconds for a
//    million subscriptions, so a transaction, which holds locks, leaves it to `prepare` and starts over.
import type { Db, Store } from '../store/db.ts'
import type { MatchTools } from './evaluate.ts'
import { makeFilters } from './filters.ts'
import { fillTable, refreshTable } from './read-table.ts'
import { readRoutingVersions } from './sql.ts'
import { RoutingTable } from './table.ts'

/** Of all tables together. Those of the tenants that published least recently are evicted first. */
const MAX_BYTES = 512 * 1_048_576

/**
 * The routing that was used is out of date, and routing again inside the transaction takes too long, or changes which
 * events are refused: everything is rolled back. It is about the submissions of the tenant that took at least `steps`
 * to be routed: cheap ones are not held up by a costly one of another agent.
 */
export class RoutingMoved extends Error {
  readonly tenantId: string
  readonly steps: number
  constructor(tenantId: string, steps = 0) {
    super('the routing has changed')
    this.tenantId = tenantId
    this.steps = steps
  }
}

/** How many tries can start over: a change of routing every few milliseconds must not hold up anything for ever. */
export const REROUTES = 3

export type Tables = ReadonlyMap<string, RoutingTable>

export interface Router {
  /** The tools for matching with these tables. */
  readonly matching: MatchTools
  /** Returns the table that this node has, which may be stale; undefined if it has none. */
  known(tenantId: string): RoutingTable | undefined
  /** Returns the tables that this node has, and loads missing ones. Must be called before the transaction. */
  prepare(tenantIds: readonly string[]): Promise<Tables>
  /**
   * Returns the tables of these tenants, up to date with all commits that the transaction sees. If the caller
   * `canStartOver`, throws `RoutingMoved` instead of reading one completely.
   */
  tables(tx: Db, tenantIds: readonly string[], canStartOver: boolean): Promise<Tables>
}

export function makeRouter(store: Store, overBudget: MatchTools['overBudget'], maxBytes = MAX_BYTES): Router {
  const known = new Map<string, RoutingTable>()
  // One writer per table at a time: one of two writers could put back a row that the other removed.
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
    for (const { bytes } of known.values()) total += bytes
    for (const [oldest, { bytes }] of known) {
      if (total <= maxBytes || oldest === tenantId) break
      known.delete(oldest)
      total -= bytes
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
    async tables(tx, tenantIds, canStartOver) {
      const seen = new Map((await readRoutingVersions(tx, tenantIds)).map((row) => [row.tenant_id, row]))
      const tables = new Map<string, RoutingTable>()
      for (const tenantId of tenantIds) {
        const { version = 0, stamp = '' } = seen.get(tenantId) ?? {}
        const isCurrent = (table: RoutingTable | undefined): table is RoutingTable =>
          table !== undefined && table.version === version && table.stamp === stamp
        let table = known.get(tenantId)
        if (!isCurrent(table)) {
          table = await alone(tenantId, async () => {
            const current = known.get(tenantId)
            if (isCurrent(current)) return current
            if (current && (await refreshTable(store, tenantId, current))) return keep(tenantId, current)
            if (!canStartOver) return load(tenantId)
            known.delete(tenantId)
            throw new RoutingMoved(tenantId)
          })
        }
        // Tenants that publish are evicted last.
        known.delete(tenantId)
        known.set(tenantId, table)
        tables.set(tenantId, table)
      }
      return tables
    },
  }
}
