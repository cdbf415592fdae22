// Tenants that are spread over machines: every table declares its distribution, every statement stays with its tenant,
// and the service works as it does on one server. Partitions stand in for Citus, see test/support/citus.ts.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { systemClock } from '../../src/kernel/clock.ts'
import type { Store } from '../../src/store/db.ts'
import { distribute } from '../../src/store/distribute.ts'
import { distributeTables, isDistributed, readDistribution } from '../../src/store/distribution.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { portions } from '../../src/store/postgres-sharded.ts'
import { standInForCitus } from '../support/citus.ts'
import { postgres, sqlite, type FreshStore } from '../support/engines.ts'
import { sensorium } from '../support/process.ts'
import { openPlanner } from '../support/plans.ts'
import { SHARDED_URL, whyNotOneShard } from '../support/shards.ts'
import { emptyStore } from '../support/store.ts'

const missing = SHARDED_URL ? false : 'PostgreSQL is missing'

describe('a store on several machines', { skip: missing }, () => {
  let fresh: FreshStore
  let store: Store

  before(async () => {
    if (missing) return
    fresh = await postgres.migrated!()
    store = openPostgres({ url: fresh.env['DATABASE_URL']!, clock: systemClock })
  })
  after(async () => {
    if (missing) return
    await store.close()
    await fresh.drop()
  })

  test('[SCL-1] every table declares its distribution, and no other table is named', async () => {
    const rows = await store.rows<{ name: string }>(
      "select tablename as name from pg_tables where schemaname = 'public' order by tablename",
    )
    assert.deepEqual(
      rows.map(({ name }) => name),
      Object.keys(readDistribution()).sort(),
    )
  })

  test('[SCL-1] tables distributed by tenant have the tenant in their key and in every unique index', async () => {
    const rows = await store.rows<{ table: string; columns: string[] }>(
      `select cast(c.relname as text) as table, array(select cast(a.attname as text) from pg_attribute a
                where a.attrelid = c.oid and a.attnum = any(cast(cast(i.indkey as text[]) as smallint[]))) as columns
         from pg_index i join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace
        where i.indisunique and n.nspname = 'public'`,
    )
    const distribution = readDistribution()
    const without = rows.filter(
      ({ table, columns }) => distribution[table] === 'tenant' && !columns.includes('tenant_id'),
    )
    assert.deepEqual(without, [])
  })

  test('[SCL-3] on a server without Citus and on the embedded store distribute says what is missing', async () => {
    await assert.rejects(distribute(store), /has no Citus: install it/)
    const told = await sensorium(['distribute'], fresh.env)
    assert.notEqual(told.code, 0)
    assert.match(told.stderr, /has no Citus: install it/)
    const embedded = await emptyStore(sqlite)
    await assert.rejects(distribute(embedded.store), /set DATABASE_URL to a PostgreSQL with Citus/)
    await embedded.drop()
  })

  test('[SCL-3] distribute spreads existing tables with their rows, once, and the store notices', async () => {
    await store.tx((tx) =>
      tx.run(
        "insert into agents (tenant_id, id, name, status, delivery_mode, client_type, created_at, updated_at) values ('t', 'a', 'A', 'active', 'poll', 'other', 1, 1)",
      ),
    )
    await standInForCitus(fresh.env['DATABASE_URL']!)
    assert.equal(store.isSharded, false)
    const { tables } = await distribute(store)
    assert.deepEqual(
      tables.sort(),
      Object.entries(readDistribution())
        .filter(([, how]) => how !== 'local')
        .map(([name]) => name)
        .sort(),
    )
    assert.equal(store.isSharded, true)
    await store.tx(async (tx) => assert.equal(tx.isSharded, true))
    assert.equal((await store.rows("select id from agents where tenant_id = 't'")).length, 1)
    assert.deepEqual((await distribute(store)).tables, [])
    const again = await sensorium(['distribute', '--json'], fresh.env)
    assert.deepEqual([again.code, JSON.parse(again.stdout)], [0, { tables: [], refused: [] }])
    const wrong = await sensorium(['distribute', '--shards', 'many'], fresh.env)
    assert.match(wrong.stderr, /--shards/)
  })

  test('[SCL-3] distribute fails if a worker refused a setting, and says which one and why', async () => {
    await store.tx((tx) =>
      tx.run(`create or replace function run_command_on_workers(command text)
        returns table (nodename text, nodeport integer, success boolean, result text) language sql as
        $$ values ('one', 5433, true, 'ALTER DATABASE'), ('two', 5434, false, 'ERROR:  must be owner') $$`),
    )
    const { code, stdout } = await sensorium(['distribute', '--json'], fresh.env)
    assert.deepEqual([code, JSON.parse(stdout)], [1, { tables: [], refused: ['two:5434: ERROR:  must be owner'] }])
  })

  test('[SCL-2] a table that is created anew is distributed in the same transaction', async () => {
    await store.tx(async (tx) => {
      await tx.run('alter table mailboxes rename to mailboxes_before')
      await tx.run('create table mailboxes (like mailboxes_before including all)')
      await tx.run('drop table mailboxes_before')
      assert.deepEqual(await distributeTables(tx), ['mailboxes'])
    })
    assert.equal(await isDistributed(store), true)
  })

  test('[SCL-4] rows are written tenant by tenant, in statements whose sizes are powers of two', () => {
    const insert = { into: 'events', columns: { tenant_id: 'text', id: 'text' } } as const
    const rows = [
      ...Array.from({ length: 70 }, (_, i) => ['a', `e${i}`]),
      ...Array.from({ length: 3 }, (_, i) => ['b', `e${i}`]),
    ]
    const sent = [...portions(insert, rows)]
    assert.deepEqual(
      sent.map(({ values }) => [values[0], values.length / 2]),
      [
        ['a', 64],
        ['a', 4],
        ['a', 2],
        ['b', 2],
        ['b', 1],
      ],
    )
    assert.deepEqual(
      sent.flatMap(({ values }) => values),
      rows.flat(),
    )
  })

  test('[SCL-9] a statement that uses no index is detected', async () => {
    const { whyNotByIndex, end } = await openPlanner()
    const named = "delete from deliveries where tenant_id = ? and recipient_id || '' = ? and id = any(?::text[])"
    try {
      assert.equal(await whyNotByIndex(`${named} and state <> 'dead_lettered'`), null)
      assert.equal(
        await whyNotByIndex(`${named} and dead_lettered_at is null`),
        'reads all of the index deliveries_open',
      )
      assert.match((await whyNotByIndex('select count(*) as n from agents'))!, /reads all of/)
      assert.match((await whyNotByIndex('select id from agents where name = ?'))!, /reads all of/)
    } finally {
      await end()
    }
  })

  test('[SCL-4] a statement that leaves its shard is detected', async () => {
    const client = new pg.Client(SHARDED_URL)
    await client.connect()
    const why = (sql: string, ...values: string[]) => whyNotOneShard(client, sql, values)
    try {
      assert.equal(await why('select id from agents where tenant_id = ? and id = ?', 't', 'a'), null)
      assert.equal(await why('update agents set name = ? where tenant_id = ?', 'x', 't'), null)
      assert.equal(await why('insert into mailboxes values (?, ?, 1) on conflict do nothing', 't', 'a'), null)
      assert.equal(await why('select name from settings'), null)
      assert.match((await why('select id from agents where id = ?', 'a'))!, /touches \d shards/)
      assert.match((await why("select id from agents where tenant_id || '' = ?", 't'))!, /touches/)
      assert.match((await why('delete from agents where id = ?', 'a'))!, /touches/)
      assert.match((await why('select id from agents where tenant_id = any(array[?])', 't'))!, /as a list/)
      assert.match(
        (await why('insert into mailboxes select unnest(array[?]), unnest(array[?]), 1', 't', 'a'))!,
        /the coordinator has to look into/,
      )
      assert.match(
        (await why(
          'select (select count(*) from deliveries d where d.recipient_id = a.id) from agents a where a.tenant_id = ?',
          't',
        ))!,
        /touches/,
      )
    } finally {
      await client.end()
    }
  })
})
