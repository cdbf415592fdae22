// Databases that an operator has set up in another way than usual.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import type { Store } from '../../src/store/db.ts'
import { openStore } from '../../src/store/open.ts'
import { POSTGRES_URL, unusualPostgres, type Engine } from '../support/engines.ts'
import { overOrWaiting } from '../support/over-or-waiting.ts'

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
