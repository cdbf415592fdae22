// After a crash of the database server the store, its listeners and the service reconnect by themselves.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { postgresColumns } from '../../src/memory/index/columns-postgres.ts'
import { StoreUnavailable } from '../../src/store/db.ts'
import { migrate } from '../../src/store/migrate.ts'
import { openStore } from '../../src/store/open.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { layWireTo } from '../support/cut-wire.ts'
import { SECRET, type Engine } from '../support/engines.ts'
import { startPostgres, type PostgresServer } from '../support/postgres-server.ts'
import { startService } from '../support/service.ts'

const skip = process.env['TEST_POSTGRES_URL'] ? false : 'PostgreSQL is missing'
let server: PostgresServer
before(async () => {
  if (!skip) server = await startPostgres()
})
after(() => server?.stop())

test('[HTTP-28] the store works again after a restart of the server, and so do its wake-ups', { skip }, async (t) => {
  const store = openPostgres({ url: server.url, clock: systemClock })
  t.after(() => store.close())
  await migrate(store, systemClock.now())
  await store.tx(async (tx) => {
    await tx.run('create table kept (n integer)')
    await tx.run('insert into kept values (1)')
  })
  let heard = Promise.withResolvers<void>()
  const far = openPostgres({ url: server.url, clock: systemClock })
  t.after(() => far.close())
  store.listen('mail', () => heard.resolve())
  const wakeUp = async (): Promise<void> => {
    // The listening connection is opened in the background: until then no message arrives.
    let came = false
    void heard.promise.then(() => (came = true))
    while (!came) {
      far.notify('mail', 'x')
      await store.ping() // a moment, in which the server answers
    }
  }
  await wakeUp()

  const held = store.tx(async (tx) => {
    await tx.run('insert into kept values (2)')
    await server.restart()
    await tx.run('insert into kept values (3)')
  })
  await assert.rejects(held, StoreUnavailable)
  assert.deepEqual(
    await store.rows('select n from kept'),
    [{ n: 1 }],
    'what was not committed is gone, the rest is there',
  )
  await store.tx((tx) => tx.run('insert into kept values (4)'))
  heard = Promise.withResolvers<void>()
  await wakeUp()
})

test('[HTTP-28] the service answers 503 with Retry-After while the server is away and serves again when it is back', {
  skip,
}, async (t) => {
  const { wire, url } = await layWireTo(server.url)
  t.after(() => wire.cut())
  const engine: Engine = {
    name: 'postgres',
    fresh: async () => ({ env: { DATABASE_URL: url, SENSORIUM_SECRET: SECRET }, drop: async () => {} }),
  }
  const service = await startService(engine)
  t.after(() => service.stop())
  const tenant = await service.tenant()
  const { admin } = tenant
  const agent = await tenant.agent({ scopes: ['memory:read', 'memory:write'] })
  // Searches have their own connections, in another thread.
  const search = () =>
    service.call('POST /v1/memories/search', { token: agent.token, body: { query: 'where the spare key lies' } })
  const memory = {
    type: 'semantic',
    scope: 'agent',
    title: 'Key',
    content: 'The spare key lies under the third stone.',
  }
  assert.equal((await service.call('POST /v1/memories', { token: agent.token, body: memory })).status, 201)
  assert.equal((await search()).body.total, 1)
  const body = { name: 'Watcher', delivery_mode: 'poll', client_type: 'other' }
  assert.equal((await service.call('POST /v1/agents', { token: admin, body })).status, 201)

  await wire.cut()
  const refused = await service.call('POST /v1/agents', { token: admin, body })
  assert.equal(refused.status, 503)
  assert.equal(refused.body.error.code, 'service_unavailable')
  assert.equal(refused.headers.get('retry-after'), String(refused.body.error.details.retry_after_seconds))
  const unfound = await search()
  assert.equal(unfound.status, 503, unfound.text)
  assert.equal(unfound.body.error.code, 'service_unavailable')
  const unready = await service.call('GET /readyz')
  assert.equal(unready.status, 503)
  assert.equal(unready.body.error.code, 'service_unavailable')
  assert.equal((await service.call('GET /healthz')).status, 200)

  await server.restart()
  await wire.mend()
  assert.equal((await service.call('GET /readyz')).status, 200)
  const list = await service.call('GET /v1/agents', { token: admin })
  assert.equal(list.status, 200)
  assert.equal(list.body.total, 2, 'nothing of the refused request was applied')
  assert.equal((await search()).body.total, 1)
})

test('[RCL-51] columns are read again after a crash of one backend, which restarts the server from within', {
  skip,
}, async (t) => {
  const config = readConfig({ DATABASE_URL: server.url, SENSORIUM_SECRET: SECRET })
  const { store } = await openStore(config, systemClock, { poolSize: 2 })
  t.after(() => store.close())
  const { read, update } = postgresColumns(store)
  const columns = (await read('ten_1', 'm'))!
  assert.equal(await update(columns, 'ten_1', 'm'), true)
  const begun = Promise.withResolvers<void>()
  const bystander = store.tx(async (tx) => {
    await tx.rows('select 1')
    begun.resolve()
    await tx.rows('select pg_sleep(60)')
  })
  await begun.promise
  const [backend] = await store.rows<{ pid: number }>('select pg_backend_pid() as pid')
  process.kill(backend!.pid, 'SIGKILL')
  await assert.rejects(bystander, StoreUnavailable) // by now the server is restarting
  const updatedOnceBack = async (): Promise<boolean> => {
    for (;;) {
      try {
        return await update(columns, 'ten_1', 'm')
      } catch (error) {
        assert.ok(error instanceof StoreUnavailable, String(error))
        await new Promise(setImmediate)
      }
    }
  }
  assert.equal(await updatedOnceBack(), false, 'the server may give out transaction numbers again')
  assert.equal(await update((await read('ten_1', 'm'))!, 'ten_1', 'm'), true)
})
