// Keeps the routing tables of the tenants that publish on this node, each as new as the transaction that asks for it.
//
// 1. `tables` is called inside the publishing transaction and compares versions there: a change that was answered
//    before the publish began is seen, on every node, without anything being sent between nodes.
// 2. Catching up reads what changed. Only a table that is new here, or too far behind, is loaded whole, in pages and
//    before the transaction, so that it holds nobody else's commit.
import type { Db, Store } from '../store/db.ts'
import {
  pageInterests,
  readAllFeeds,
  readAllMembers,
  readChanges,
  readFeeds,
  readInactive,
  readInactiveOf,
  readInterests,
  readMembers,
  readVersions,
} from './sql.ts'
import { RoutingTable } from './table.ts'

const PAGE = 5_000
const MAX_CATCH_UP = 1_000
/** Subscriptions kept over all tenants; the tenants that published least recently go first. From 400
 * bytes each without a filter to 2 KB with one of its own (20 KB where that has a regular expression). */
const MAX_SUBSCRIPTIONS = 1_000_000

export interface Router {
  /** Loads what is missing. Call it before the transaction. */
  prepare(tenantIds: readonly string[]): Promise<void>
  /** The tables of these tenants, as new as the transaction. */
  tables(tx: Db, tenantIds: readonly string[]): Promise<ReadonlyMap<string, RoutingTable>>
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

  async function load(db: Db, tenantId: string): Promise<RoutingTable> {
    const table = new RoutingTable(overBudget)
    // The version first: what changes while the rest is read is caught up with later.
    table.version = (await readVersions(db, [tenantId]))[0]?.version ?? 0
    for (let after = ''; ; ) {
      const page = await pageInterests(db, tenantId, after, PAGE)
      for (const interest of page) table.put(interest)
      if (page.length < PAGE) break
      after = page.at(-1)!.id
      await new Promise(setImmediate) // others may have their turn
    }
    for (const feed of await readAllFeeds(db, tenantId)) table.put(feed)
    setMembers(table, await readAllMembers(db, tenantId))
    for (const { id } of await readInactive(db, tenantId)) table.inactive.add(id)
    return table
  }

  function setMembers(table: RoutingTable, rows: { channel_id: string; participant_id: string }[]): void {
    for (const [channel, members] of Map.groupBy(rows, (row) => row.channel_id)) {
      table.members.set(
        channel,
        members.map((member) => member.participant_id),
      )
    }
  }

  function keep(tenantId: string, table: RoutingTable): void {
    known.delete(tenantId)
    known.set(tenantId, table)
    let total = 0
    for (const { size } of known.values()) total += size
    for (const [oldest, { size }] of known) {
      if (total <= MAX_SUBSCRIPTIONS || oldest === tenantId) return
      known.delete(oldest)
      total -= size
    }
  }

  /** False when the changes in between are no longer there or too many. */
  async function catchUp(tx: Db, tenantId: string, table: RoutingTable, version: number): Promise<boolean> {
    const changes = await readChanges(tx, tenantId, table.version, MAX_CATCH_UP)
    if (changes.length > MAX_CATCH_UP || changes[0]?.version !== table.version + 1) return false
    const ids = (kind: string): string[] => [
      ...new Set(changes.filter((change) => change.kind === kind).map((change) => change.id)),
    ]
    const [interests, feeds, channels, agents] = [ids('interest'), ids('feed'), ids('channel'), ids('agent')]
    const foundInterests = interests.length > 0 ? await readInterests(tx, tenantId, interests) : []
    const foundFeeds = feeds.length > 0 ? await readFeeds(tx, tenantId, feeds) : []
    const foundMembers = channels.length > 0 ? await readMembers(tx, tenantId, channels) : []
    const foundInactive = agents.length > 0 ? await readInactiveOf(tx, tenantId, agents) : []
    // Nothing is awaited from here: nobody sees a table that is half new.
    for (const id of [...interests, ...feeds]) table.remove(id)
    for (const subscription of [...foundInterests, ...foundFeeds]) table.put(subscription)
    for (const id of channels) table.members.delete(id)
    setMembers(table, foundMembers)
    for (const id of agents) table.inactive.delete(id)
    for (const { id } of foundInactive) table.inactive.add(id)
    table.version = Math.max(version, changes.at(-1)!.version)
    return true
  }

  return {
    async prepare(tenantIds) {
      for (const tenantId of tenantIds) {
        if (!known.has(tenantId))
          await alone(tenantId, async () => known.has(tenantId) || keep(tenantId, await load(store, tenantId)))
      }
    },
    async tables(tx, tenantIds) {
      const versions = new Map((await readVersions(tx, [...tenantIds])).map((row) => [row.tenant_id, row.version]))
      const tables = new Map<string, RoutingTable>()
      for (const tenantId of tenantIds) {
        const version = versions.get(tenantId) ?? 0
        let table = known.get(tenantId)
        if (!table || table.version < version) {
          table = await alone(tenantId, async () => {
            const current = known.get(tenantId)
            if (current && (current.version >= version || (await catchUp(tx, tenantId, current, version))))
              return current
            const loaded = await load(tx, tenantId)
            keep(tenantId, loaded)
            return loaded
          })
        }
        tables.set(tenantId, table)
      }
      return tables
    },
  }
}
