// Migrations: from an empty store to the newest version, repeated without effect, concurrently, and never backwards.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { openStore } from '../../src/store/open.ts'
import type { Db, Store, TxOptions } from '../../src/store/db.ts'
import { migrate, MIGRATING, newestVersion, readMigrations, schemaVersion } from '../../src/store/migrate.ts'
import { onBothEngines, sqlite } from '../support/engines.ts'
import { overOrWaiting } from '../support/over-or-waiting.ts'
import { COMPILE_CACHE, refusedStart } from '../support/process.ts'
import { emptyStore, migrateTo } from '../support/store.ts'
import { columns } from './columns.ts'

const NOW = Date.parse('2030-01-01T00:00:00Z')

test('[STO-4] migrations are numbered without a gap', () => {
  const versions = readMigrations('sqlite').map(({ version }) => version)
  assert.deepEqual(
    versions,
    versions.map((_, i) => i + 1),
  )
})

onBothEngines((engine) => {
  test('[STO-4] an empty store is migrated to the newest version, and a second run does nothing', async (t) => {
    const { store, drop } = await emptyStore(engine)
    t.after(drop)
    const newest = newestVersion(engine.name)
    assert.equal(await schemaVersion(store), 0)
    assert.equal(await migrate(store, NOW), newest)
    assert.equal(await schemaVersion(store), newest)
    const before = await columns(store)
    assert.equal(await migrate(store, NOW + 1), 0)
    assert.deepEqual(await columns(store), before)
    const applied = await store.rows<{ applied_at: number }>('select applied_at from schema_migrations')
    assert.ok(
      applied.every(({ applied_at }) => applied_at === NOW),
      'and says when each one ran',
    )
  })

  test('[STO-4] nodes that start together migrate one after the other', async (t) => {
    const { store, drop } = await emptyStore(engine)
    t.after(drop)
    let isOver = false
    let second: Promise<number> | undefined
    await store.tx(async (tx) => {
      await tx.lock([MIGRATING], 'exclusive')
      second = migrate(store, NOW)
      second.then(
        () => (isOver = true),
        () => {},
      )
      await overOrWaiting(store, second)
      assert.equal(isOver, false)
    })
    assert.equal(await second, newestVersion(engine.name))
  })

  test('[STO-4] no limit of time ends a migration', async (t) => {
    const { store, drop } = await emptyStore(engine)
    t.after(drop)
    let limits: unknown
    const watched: Store = Object.create(store, {
      tx: {
        value: <T>(work: (tx: Db) => Promise<T>, options?: TxOptions) =>
          store.tx(async (tx) => {
            if (engine.name === 'postgres')
              limits = await tx.lookUp(
                `select current_setting('statement_timeout') as statement,
                        current_setting('idle_in_transaction_session_timeout') as idle`,
              )
            return work(tx)
          }, options),
      },
    })
    assert.equal(await migrate(watched, NOW), newestVersion(engine.name))
    assert.deepEqual(limits, engine.name === 'postgres' ? { statement: '0', idle: '0' } : undefined)
  })

  test('[STO-4] nodes that start together migrate once', async (t) => {
    const { store, another, drop } = await emptyStore(engine)
    t.after(drop)
    const stores = [store, await another(), await another(), await another()]
    const ran = await Promise.all(stores.map((one) => migrate(one, NOW)))
    assert.deepEqual(ran.toSorted(), [0, 0, 0, newestVersion(engine.name)])
  })

  test('[STO-4] a migration that fails leaves the store as it was', async (t) => {
    const { store, drop } = await emptyStore(engine)
    t.after(drop)
    await store.tx((tx) => tx.run('create table idempotency (in_the_way integer)'))
    const before = await columns(store)
    await assert.rejects(migrate(store, NOW))
    assert.deepEqual(await columns(store), before)
    assert.equal(await schemaVersion(store), 0)
  })

  test('[STO-4] tables of a newer release beside an older version are reported as that, with what to do', async (t) => {
    const { store, drop } = await emptyStore(engine)
    t.after(drop)
    // As after a backup of version 7 that was restored over a newer store: tables that the backup does not have stay.
    await store.tx(async (tx) => {
      await migrateTo(tx, 7, NOW)
      await tx.run('create table acknowledged_deliveries (of_a_newer_release integer)')
    })
    await assert.rejects(
      migrate(store, NOW),
      /acknowledged_deliveries"? already exists\. .* newer release beside schema version 7, .* empty database/,
    )
    assert.equal(await schemaVersion(store), 7)
  })

  test('[STO-4] a store that is newer than the code is refused, and the error says what to do', async (t) => {
    const { env, store, drop } = await emptyStore(engine)
    t.after(drop)
    await (await openStore(readConfig(env), systemClock)).store.close()
    const next = newestVersion(engine.name) + 1
    await store.tx((tx) =>
      tx.run("insert into schema_migrations (version, name, applied_at) values (?, 'later', 0)", [next]),
    )
    const message = `The store has schema version ${next}; this release knows up to ${next - 1}. Start a newer release.`
    await assert.rejects(openStore(readConfig(env), systemClock), { message })
    const { code, stderr } = await refusedStart(env)
    assert.equal(code, 1)
    assert.ok(stderr.includes(message), stderr)
  })

  test('[CFG-3] a SENSORIUM_SECRET other than the one the store was made with is refused at the start', async (t) => {
    const { env, drop } = await engine.fresh()
    t.after(drop)
    await (await openStore(readConfig(env), systemClock)).store.close()
    await assert.rejects(
      openStore(readConfig({ ...env, SENSORIUM_SECRET: 'quite another master secret' }), systemClock),
      {
        message: 'SENSORIUM_SECRET is not the secret this store was made with.',
      },
    )
    await (await openStore(readConfig(env), systemClock)).store.close()
  })
})

test('[STO-4] two processes that open a new embedded store at the same moment both succeed, with one secret', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const script = `
    const { openStore } = await import(${JSON.stringify(new URL('../../src/store/open.ts', import.meta.url).href)})
    const { readConfig } = await import(${JSON.stringify(new URL('../../src/config.ts', import.meta.url).href)})
    const { systemClock } = await import(${JSON.stringify(new URL('../../src/kernel/clock.ts', import.meta.url).href)})
    process.stdout.write('ready')
    process.stdin.once('data', async () => {
      const { store, secrets } = await openStore(readConfig(process.env), systemClock)
      process.stdout.write(' ' + secrets.fingerprint)
      await store.close()
      process.exit(0)
    })`
  for (let round = 0; round < 3; round++) {
    const folder = `${env['DATA_DIR']}/${round}`
    const children = Array.from({ length: 4 }, () =>
      spawn(process.execPath, ['-e', script], {
        env: { DATA_DIR: folder, NODE_COMPILE_CACHE: COMPILE_CACHE },
        stdio: ['pipe', 'pipe', 'inherit'],
      }),
    )
    const said = children.map((child) => {
      let text = ''
      child.stdout.on('data', (chunk) => (text += chunk))
      return once(child, 'close').then(() => text)
    })
    await Promise.all(children.map((child) => once(child.stdout, 'data')))
    for (const child of children) child.stdin.write('go')
    const words = await Promise.all(said)
    assert.equal(new Set(words).size, 1, words.join('\n'))
    assert.match(words[0]!, /^ready [0-9a-f]{32}$/)
  }
})
