// The schema that the migrations make: the same on both engines, and every table of a tenant led by it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '../../src/store/db.ts'
import { migrate } from '../../src/store/migrate.ts'
import { onBothEngines, postgres, POSTGRES_URL, sqlite } from '../support/engines.ts'
import { emptyStore } from '../support/store.ts'
import { columns } from './columns.ts'

const NOW = Date.parse('2030-01-01T00:00:00Z')

/**
 * SQLite: full-text indexes and their shadow tables. They hold row numbers that belong to a tenant, and no text.
 */
async function fullTextTables(store: Store): Promise<string[]> {
  if (store.dialect.engine !== 'sqlite') return []
  const all = await store.rows<{ name: string; sql: string }>(
    "select name, sql from sqlite_master where type = 'table'",
  )
  const virtual = all.filter(({ sql }) => /^create virtual table/i.test(sql)).map(({ name }) => name)
  return all.map(({ name }) => name).filter((name) => virtual.some((one) => name === one || name.startsWith(`${one}_`)))
}

/** SQLite: the first column of every index of the table. */
async function indexed(store: Store, table: string): Promise<string[]> {
  if (store.dialect.engine !== 'sqlite') return []
  const rows = await store.rows<{ name: string }>(
    'select c.name from pragma_index_list(?) i join pragma_index_info(i.name) c where c.seqno = 0',
    [table],
  )
  return rows.map(({ name }) => name)
}

/** Tables of the embedded store alone: a command announces a change to a running service; PostgreSQL notifies. */
const SQLITE_ONLY = ['announcements']
/** Besides those, tables of the whole installation: settings, and the migrations that ran. */
const WITHOUT_TENANT = ['settings', 'schema_migrations', ...SQLITE_ONLY]

onBothEngines((engine) => {
  test('[ISO-3] every table that belongs to a tenant leads its primary key with tenant_id', async (t) => {
    const { store, drop } = await emptyStore(engine)
    t.after(drop)
    await migrate(store, NOW)
    const tables = Map.groupBy(await columns(store), ({ table }) => table)
    for (const name of await fullTextTables(store)) tables.delete(name)
    const shared = [...tables]
      .filter(([, list]) => !list.some(({ column }) => column === 'tenant_id'))
      .map(([table]) => table)
    assert.deepEqual(
      shared.filter((table) => !WITHOUT_TENANT.includes(table)),
      [],
      'a table without tenant_id needs a reason',
    )
    for (const [table, list] of tables) {
      if (shared.includes(table)) continue
      const leads = list.find(({ key }) => key === 1)?.column
      // SQLite: where rows are numbered (for a full-text index, or as a log), the tenant leads another index.
      const numbered =
        list.filter(({ key }) => key > 0).length === 1 && (await indexed(store, table)).includes('tenant_id')
      assert.ok(leads === 'tenant_id' || numbered, `${table} leads its primary key with ${leads}`)
    }
  })
})

// Except the tables that memories are found by: each engine indexes them in its own way, and the recall tests check
// that the results agree.
test('[STO-3] both engines have the same tables and columns', async (t) => {
  const shapes: Record<string, unknown> = {}
  if (!POSTGRES_URL) return t.skip('PostgreSQL is missing')
  for (const engine of [sqlite, postgres]) {
    const { store, drop } = await emptyStore(engine)
    t.after(drop)
    await migrate(store, NOW)
    shapes[engine.name] = (await columns(store))
      .filter(({ table }) => !table.startsWith('memory_') && !(engine === sqlite && SQLITE_ONLY.includes(table)))
      .map((row) => ({ ...row }))
  }
  assert.deepEqual(shapes['sqlite'], shapes['postgres'])
})
