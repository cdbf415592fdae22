// The official builds of the embedding runtime report to their vendor unless told not to. Reporting begins with an
// identifier in the user's cache folder, so a home that stays empty proves that it never began.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { createClient } from '@sensorium/client'
import { sqlite } from '../support/engines.ts'
import { startProcess } from '../support/process.ts'

test('[PKG-8] embedding a memory leaves no trace outside DATA_DIR: the runtime does not report', async (t) => {
  const { env, drop } = await sqlite.fresh()
  const home = mkdtempSync(path.join(os.tmpdir(), 'sensorium-home-'))
  t.after(() => {
    rmSync(home, { recursive: true, force: true })
    drop()
  })
  // The runtime recognises build machines and does not report there, so `startProcess` passes no such hint.
  const service = await startProcess({
    ...env,
    HOME: home,
    XDG_CACHE_HOME: path.join(home, 'cache'),
    LOG_LEVEL: 'warn',
  })
  t.after(() => service.stop())
  const [, adminKey] = await service.printed(/(ak_live_[A-Za-z0-9]{32})/)
  const admin = createClient({ url: service.url, apiKey: adminKey! })
  const { id } = await admin.agents.register({ name: 'Triage', delivery_mode: 'poll', client_type: 'other' })
  const { key } = await admin.keys.mint(id, { scopes: ['memory:read', 'memory:write'] })
  const client = createClient({ url: service.url, apiKey: key })
  await client.memory.remember({ type: 'semantic', scope: 'agent', title: 'Pump 7 runs hot', content: 'The valve.' })
  const found = await client.memory.recall('why does the motor overheat?')
  assert.equal(found.length, 1, 'the model was loaded and used')
  assert.deepEqual(readdirSync(home, { recursive: true }), [])
})
