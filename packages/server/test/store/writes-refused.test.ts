// A store that answers reads and refuses writes, as with a full disk, is not ready.
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { StoreUnavailable, type Store } from '../../src/store/db.ts'
import { makeWriteWatch } from '../../src/store/write-watch.ts'
import { onBothEngines, sqlite, type Engine } from '../support/engines.ts'
import { startService } from '../support/service.ts'

/** Makes every write fail as on a full disk. Returns a function that ends it. */
async function fillDisk(engine: Engine, store: Store): Promise<() => Promise<unknown>> {
  if (engine.name === 'sqlite') {
    const [row] = await store.rows<{ page_count: number }>('pragma page_count')
    await store.tx((tx) => tx.rows(`pragma max_page_count = ${row!.page_count}`))
    return () => store.tx((tx) => tx.rows('pragma max_page_count = 1000000'))
  }
  const tables = ['settings', 'agents']
  await store.tx(async (tx) => {
    await tx.run(
      `create or replace function disk_full() returns trigger language plpgsql as
         $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`,
    )
    for (const table of tables)
      await tx.run(`create trigger full_${table} before insert on ${table} for each row execute function disk_full()`)
  })
  return () =>
    store.tx(async (tx) => {
      for (const table of tables) await tx.run(`drop trigger full_${table} on ${table}`)
    })
}

onBothEngines((engine) => {
  test('[STO-12] while writes are refused /readyz is 503, and 200 again when they are taken', async (t) => {
    const service = await startService(engine)
    t.after(() => service.stop())
    const tenant = await service.tenant()
    const { admin } = tenant
    const agent = await tenant.agent()
    const register = (i: number) =>
      service.call('POST /v1/agents', {
        token: admin,
        body: { name: `Agent ${i} ${'x'.repeat(200)}`, delivery_mode: 'poll', client_type: 'other' },
      })
    /** Requests with a transaction that needs no room, and what they are answered. */
    const roomless = async (): Promise<number[]> => {
      const { token } = agent
      const replies = [
        await service.call('GET /v1/delivery/poll', { token }),
        await service.call('POST /v1/delivery/ack', { token, body: { delivery_ids: ['dlv_none'] } }),
        await service.call(`PATCH /v1/agents/${agent.id}`, { token: admin, body: {} }),
        await service.call('PATCH /v1/agents/agt_none', { token: admin, body: { name: 'Nobody' } }),
        await service.call('POST /v1/memories/search', { token, body: { query: 'disk' } }),
      ]
      return replies.map(({ status }) => status)
    }
    // Twice: what the first time left behind must not make the second look as if there were room.
    for (const time of [1, 2]) {
      const free = await fillDisk(engine, service.store)
      let refused = await register(0)
      // Uses up space that was left in the file.
      for (let i = 1; refused.status === 201; i++) refused = await register(i)
      assert.equal(refused.status, 503, refused.text)
      const unready = await service.call('GET /readyz')
      assert.equal(unready.status, 503, `time ${time}`)
      assert.equal(unready.body.error.code, 'service_unavailable')
      assert.equal((await service.call('GET /v1/agents', { token: admin })).status, 200, 'reads go on')
      assert.equal((await service.call('GET /healthz')).status, 200)
      assert.deepEqual(await roomless(), [200, 200, 200, 404, 200])
      assert.equal((await service.call('GET /readyz')).status, 503, 'nothing was written since')

      await free()
      assert.equal((await service.call('GET /readyz')).status, 200)
      assert.equal((await register(9_999)).status, 201)
    }
  })
})

test('[STO-1] [STO-12] no write is accepted after the files of the store were deleted under it', async (t) => {
  const service = await startService(sqlite)
  t.after(() => service.stop())
  const { admin } = await service.tenant()
  const body = { name: 'Agent', delivery_mode: 'poll', client_type: 'other' }
  const register = () => service.call('POST /v1/agents', { token: admin, body })
  assert.equal((await register()).status, 201)
  rmSync(service.env['DATA_DIR']!, { recursive: true })
  for (const time of ['first', 'second']) assert.equal((await register()).status, 503, time)
  assert.equal((await service.call('GET /readyz')).status, 503)
})

test('[STO-12] a store that is busy is ready, unless it refused a write before and has taken none since', async () => {
  const busy = new StoreUnavailable('too many transactions are waiting', { trouble: 'busy' })
  const { failed, check } = makeWriteWatch()
  /** Whether it says so without a write. */
  const isReady = async (): Promise<boolean> => {
    let hasTried = false
    await check(async () => {
      hasTried = true
      throw busy
    }).catch(() => {})
    return !hasTried
  }
  failed(busy)
  failed(new Error('an error of the statement'))
  assert.equal(await isReady(), true)
  failed(new StoreUnavailable('the disk is full'))
  failed(busy)
  assert.equal(await isReady(), false)
  failed(new Error('an error of the statement: nothing was written'))
  assert.equal(await isReady(), false)
  await check(async () => undefined as never)
  assert.equal(await isReady(), true)
})

test('[STO-12] however many ask at once whether writes are taken again, one write is tried', async () => {
  const { failed, check } = makeWriteWatch()
  failed(new StoreUnavailable('the disk is full'))
  let tried = 0
  const full = async (): Promise<never> => {
    tried++
    throw new StoreUnavailable('the disk is full')
  }
  const asked = await Promise.allSettled(Array.from({ length: 100 }, () => check(full)))
  assert.deepEqual([tried, asked.filter(({ status }) => status === 'rejected').length], [1, 100])
})
