// Databases that an operator has set up in another way than usual.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import pg from 'pg'
import { readConfig } from '../../src/config.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import type { Store } from '../../src/store/db.ts'
import { migrate } from '../../src/store/migrate.ts'
import { openStore } from '../../src/store/open.ts'
import { compareBytes } from '../../src/store/postgres-collation.ts'
import { memoryCalls } from '../memory/tools.ts'
import { POSTGRES_URL, unusualPostgres, type Engine } from '../support/engines.ts'
import { overOrWaiting } from '../support/over-or-waiting.ts'
import { startService } from '../support/service.ts'
import { emptyStore, migrateTo } from '../support/store.ts'

const skip = POSTGRES_URL ? false : 'PostgreSQL is missing'

async function opened(t: TestContext, engine: Engine): Promise<Store> {
  const { env, drop } = await engine.fresh()
  t.after(drop)
  const { store } = await openStore(readConfig(env), systemClock)
  t.after(() => store.close())
  return store
}

test('[STO-21] what a statement means does not depend on settings of the database', { skip }, async (t) => {
  const settings = [
    "default_transaction_isolation = 'repeatable read'",
    'array_nulls = off',
    'extra_float_digits = 0',
    'standard_conforming_strings = off',
  ]
  const store = await opened(t, unusualPostgres('', ...settings))
  const insert = { into: 'settings', columns: { name: 'text', value: 'text' } } as const
  await store.tx((tx) => tx.run('alter table settings alter column value drop not null'))
  await store.tx((tx) => tx.insertMany(insert, [['none', null]]))
  assert.deepEqual(await store.rows("select value from settings where name = 'none'"), [{ value: null }])
  const long = 'select 0.30000000000000004::float8 as number'
  assert.deepEqual([await store.rows(long), await store.lookUp(long)], [[{ number: 0.1 + 0.2 }], { number: 0.1 + 0.2 }])

  const held = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const first = store.tx(async (tx) => {
    await tx.lock(['one at a time'], 'exclusive')
    held.resolve()
    await release.promise
    await tx.insertMany(insert, [['written', 'before']])
  })
  await held.promise
  const second = store.tx(async (tx) => {
    await tx.lock(['one at a time'], 'exclusive')
    return tx.rows("select value from settings where name = 'written'")
  })
  await overOrWaiting(store, second)
  release.resolve()
  await first
  assert.deepEqual(await second, [{ value: 'before' }], 'it sees what was committed while it waited for the lock')
})

test('[STO-21] a database that cannot hold every text is refused, with what to do', { skip }, async (t) => {
  await assert.rejects(
    opened(t, unusualPostgres("encoding 'LATIN1' locale 'C'")),
    /DATABASE_URL has the encoding LATIN1, which lacks most characters\. Create it with encoding 'UTF8'/,
  )
})

const inLanguage = (name: string, ...settings: string[]): Engine =>
  unusualPostgres(`encoding 'UTF8' locale 'C' locale_provider icu icu_locale '${name}'`, ...settings)

test('[STO-21] a store in a database of any language compares text by its bytes, a new one and an old one', {
  skip,
}, async (t) => {
  const { store, another, drop } = await emptyStore(inLanguage('cs'))
  t.after(drop)
  const names = ['B', 'a', 'ch', 'd', 'h', 'z', '{', 'č']
  // The version in which columns had the collation of the database.
  await store.tx(async (tx) => {
    await migrateTo(tx, 34, 0)
    for (const name of names.toReversed()) await tx.run('insert into settings (name, value) values (?, ?)', [name, ''])
  })
  // A connection that has asked before has a plan for the old columns.
  const ordered = async () =>
    (await (await another()).rows<{ name: string }>('select name from settings order by name')).map(({ name }) => name)
  assert.notDeepEqual(await ordered(), names)
  await migrate(store, 0)
  assert.deepEqual(await ordered(), names)
  const others = `select attrelid, attname from pg_attribute a join pg_class c on c.oid = attrelid
    where relnamespace = (select oid from pg_namespace where nspname = current_schema()) and not attisdropped
      and attcollation not in (0, cast('"C"' as regcollation))`
  assert.deepEqual(await store.rows(others), [])
  // A column of a later release, whose migration ends with the same call.
  await store.tx(async (tx) => {
    await tx.run('alter table agents add column nickname text')
    await compareBytes(tx)
  })
  assert.deepEqual(await store.rows(others), [])
  assert.deepEqual(await (await opened(t, inLanguage('en-US'))).rows(others), [])
  // In a schema whose name needs quotes.
  const { env, drop: dropIt } = await inLanguage('en-US', 'search_path = "My-App"').fresh()
  t.after(dropIt)
  const client = new pg.Client(env['DATABASE_URL'])
  await client.connect()
  await client.query('create schema "My-App"')
  await client.end()
  const elsewhere = await openStore(readConfig(env), systemClock)
  t.after(() => elsewhere.store.close())
  assert.deepEqual(await elsewhere.store.rows(others), [])
})

test('[STO-4] [STO-21] what an operator has made of a column, and keeps it from changing, is named with what to do', {
  skip,
}, async (t) => {
  const { store, drop } = await emptyStore(inLanguage('cs'))
  t.after(drop)
  await store.tx((tx) => migrateTo(tx, 34, 0))
  const whatToDo = /\. If that is yours, drop it, start the service, and create it again\.$/
  for (const [make, undo, named] of [
    ['create view mine as select name from settings', 'drop view mine', /: .*\bview mine depends on column "name"/],
    [
      "create publication mine for table settings where (name = 'a')",
      'drop publication mine',
      /: publication .*mine depends on column "name"/,
    ],
  ] as const) {
    await store.tx((tx) => tx.run(make))
    await assert.rejects(migrate(store, 0), ({ message }: Error) => named.test(message) && whatToDo.test(message))
    await store.tx((tx) => tx.run(undo))
  }
  await migrate(store, 0)
})

test('[STO-4] a role that may make no tables, or has no schema, is told what it needs', { skip }, async (t) => {
  await assert.rejects(
    opened(t, unusualPostgres('', 'role = pg_monitor')),
    /schema public\. The role in DATABASE_URL must own the tables of Sensorium and have CREATE on their schema: run "grant create on schema <schema> to <role>"\.$/,
  )
  await assert.rejects(
    opened(t, unusualPostgres('', 'search_path = nowhere')),
    /\. Create the schema that the role in DATABASE_URL has in its search_path, and grant it CREATE on it\.$/,
  )
})

test('[STO-21] a misspelt word is corrected in a database of any language', { skip }, async (t) => {
  const service = await startService(inLanguage('en-US'))
  t.after(() => service.stop())
  const agent = await (await service.tenant()).agent()
  const calls = memoryCalls(service)
  await calls.make(agent, { title: 'Coat', content: 'a zipper and a deploy' })
  const [found] = await calls.search(agent, 'ziper', { explain: true })
  assert.ok(found!.signals!.lexical > 0)
})
