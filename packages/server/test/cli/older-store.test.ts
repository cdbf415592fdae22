// A command of a newer release on the store of an older one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newestVersion, schemaVersion } from '../../src/store/migrate.ts'
import { onBothEngines } from '../support/engines.ts'
import { sensorium } from '../support/process.ts'
import { emptyStore, makeStore, migrateTo } from '../support/store.ts'

onBothEngines((engine) => {
  test('[STO-18] a command migrates no store of an older release; after the start of the new one it works', async (t) => {
    const { store, env, drop } = await emptyStore(engine)
    t.after(drop)
    const older = newestVersion(engine.name) - 1
    await store.tx((tx) => migrateTo(tx, older, 0))
    const { code, stderr } = await sensorium(['tenant', 'create', 'early'], env)
    assert.equal(code, 1)
    assert.match(stderr, /is older than this command, which needs \d+\. Start the new release first/)
    assert.equal(await schemaVersion(store), older)
    await makeStore(env)
    assert.equal((await sensorium(['tenant', 'create', 'later'], env)).code, 0)
  })

  test('[STO-18] a command makes the tables of an empty store', async (t) => {
    const { env, drop } = await emptyStore(engine)
    t.after(drop)
    assert.equal((await sensorium(['tenant', 'create', 'first'], env)).code, 0)
  })
})
