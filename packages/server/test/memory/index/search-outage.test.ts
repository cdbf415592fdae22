// The search thread, which opens the store for itself, when the store is away at its first request.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { renameSync } from 'node:fs'
import net, { type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { makeSearch } from '../../../src/memory/index/search.ts'
import { StoreUnavailable } from '../../../src/store/db.ts'
import { layWireTo } from '../../support/cut-wire.ts'
import { onBothEngines, sqlite } from '../../support/engines.ts'
import { startService } from '../../support/service.ts'

test('[HTTP-28] a search finds the data directory moved away, and works once it is back', async (t) => {
  const service = await startService(sqlite)
  t.after(() => service.stop())
  const agent = await (await service.tenant()).agent()
  const search = () => service.call('POST /v1/memories/search', { token: agent.token, body: { query: 'blue' } })
  const directory = service.env['DATA_DIR']!
  renameSync(directory, `${directory}-moved`)
  const refused = await search()
  renameSync(`${directory}-moved`, directory)
  assert.equal(refused.status, 503, refused.text)
  assert.equal(refused.body.error.code, 'service_unavailable')
  assert.equal((await search()).status, 200)
})

onBothEngines((engine) => {
  test('[STO-12] the loop of the search thread is one of the background work', async (t) => {
    const service = await startService(engine)
    t.after(() => service.stop())
    const agent = await (await service.tenant()).agent()
    await service.app.runOnce.learnSearchStore()
    const found = await service.call('POST /v1/memories/search', { token: agent.token, body: { query: 'blue' } })
    assert.equal(found.status, 200)
    await service.app.runOnce.learnSearchStore()
  })

  if (engine.name !== 'postgres') return

  test('[STO-12] what goes wrong in the search thread between searches fails a background loop', async (t) => {
    const { env, drop } = await engine.fresh()
    const { wire, url } = await layWireTo(env['DATABASE_URL']!)
    const search = makeSearch({ url })
    t.after(async () => {
      await search.close()
      await wire.cut()
      await drop()
    })
    await wire.cut()
    await search.learn() // nothing has been searched: there is no thread
    await wire.mend()
    const viewer = { kind: 'agent', id: 'agt_1', tenantId: 'ten_1', teamId: null } as const
    await search.ask(viewer, 'candidates', { sql: "select 'one' as id, 1 as bytes", values: [], most: 2 })
    await search.learn()
    await wire.cut()
    await assert.rejects(search.learn(), StoreUnavailable)
    await wire.mend()
    await search.learn()
  })

  test('[STO-11] a search thread whose first request found no server works once there is one', async () => {
    const { env, drop } = await engine.fresh()
    const url = new URL(env['DATABASE_URL']!)
    const sockets = new Set<net.Socket>()
    const between = net.createServer((near) => {
      const far = net.connect(Number(url.port), url.hostname)
      for (const socket of [near, far]) sockets.add(socket.on('error', () => socket.destroy()))
      near.pipe(far).pipe(near)
    })
    between.listen(0, '127.0.0.1')
    await once(between, 'listening')
    const { port } = between.address() as AddressInfo
    between.close()
    await once(between, 'close')

    const through = new URL(url)
    through.host = `127.0.0.1:${port}`
    const search = makeSearch({ url: through.href })
    const viewer = { kind: 'agent', id: 'agt_1', tenantId: 'ten_1', teamId: null } as const
    const ask = () => search.ask(viewer, 'candidates', { sql: "select 'one' as id, 1 as bytes", values: [], most: 2 })
    await assert.rejects(ask(), StoreUnavailable)
    between.listen(port, '127.0.0.1')
    await once(between, 'listening')
    assert.deepEqual(await ask(), { slices: ['one'], last: null })
    await search.close()
    between.close()
    for (const socket of sockets) socket.destroy()
    await drop()
  })
})
