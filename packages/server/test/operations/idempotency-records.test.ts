// Records of responses under their Idempotency-Key: sealed, small, and kept for a day.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { later } from '../support/later.ts'
import { startService, type Reply, type Service, type TestTenant } from '../support/service.ts'
import { assertReplay, createUnder, keptUnder } from './idempotency-tools.ts'

const HOUR = 3_600_000

onBothEngines((engine) => {
  let service: Service
  let tenant: TestTenant
  before(async () => {
    service = await startService(engine)
    tenant = await service.tenant()
  })
  after(() => service.stop())

  const create = (key: string) => createUnder(service, tenant, key)
  const kept = (key: string) => keptUnder(service, key)
  const signInAgain = async (): Promise<void> => {
    tenant.admin = (await service.call('POST /v1/auth/token', { body: { api_key: tenant.adminKey } })).body.access_token
  }

  test('[IDEM-9] [STO-6] [KEY-8] a response with a secret is kept encrypted and can still be replayed', async () => {
    const agent = await tenant.agent()
    const headers = { 'idempotency-key': 'secret' }
    const mint = () =>
      service.call(`POST /v1/agents/${agent.id}/keys`, { token: tenant.admin, body: { scopes: ['send'] }, headers })
    const first = await mint()
    assertReplay(first, await mint())
    const [record] = await kept('secret')
    assert.equal(record?.sealed, 1)
    assert.match(record.body, /^v1\.[A-Za-z0-9+/=]+$/)
    assert.equal(record.body.includes(first.body.key), false)
    assert.equal(Buffer.from(record.body.slice(3), 'base64').includes(first.body.key), false)
    const other = await mint().then(() =>
      service.call(`POST /v1/agents/${agent.id}/keys`, { token: tenant.admin, body: { scopes: ['send'] } }),
    )
    assert.notEqual(other.body.key, first.body.key)
  })

  test('[LOAD-4] the record of a memory with long metadata is small, and its replay is the first response', async () => {
    const agent = await tenant.agent()
    const metadata = { blob: 'Grüße '.repeat(20_000) }
    const call = (request: string, key: string, body: unknown): Promise<Reply> =>
      service.call(request, { token: agent.token, body, headers: { 'idempotency-key': key } })
    const body = { type: 'semantic', scope: 'agent', title: 'Long', content: 'Has much metadata', metadata }
    const made = await call('POST /v1/memories', 'long-1', body)
    assert.equal(made.status, 201, made.text)
    assert.equal((await call('POST /v1/memories', 'long-1', body)).text, made.text)
    const path = `/v1/memories/${made.body.id}`
    const changed = await call(`PATCH ${path}`, 'long-2', { importance: 0.9 })
    const again = await call(`PATCH ${path}`, 'long-2', { importance: 0.9 })
    assert.deepEqual([again.text, again.headers.get('idempotent-replayed')], [changed.text, 'true'])
    for (const key of ['long-1', 'long-2'])
      for (const row of await kept(key)) assert.ok(row.body.length < 2_000, `${row.body.length} characters are kept`)
    // Once the memory was changed, its history has what the first response showed.
    for (let n = 1; n <= 3; n++) {
      await service.clock.advance(1_000)
      const change = n === 2 ? { title: 'Changed' } : { metadata: { other: n, more: 'x'.repeat(70_000) } }
      assert.equal((await call(`PATCH ${path}`, `change-${n}`, change)).status, 200)
    }
    assert.equal((await call('POST /v1/memories', 'long-1', body)).text, made.text)
    // When the history no longer has it, the replay is refused and creates nothing.
    for (let n = 1; n <= 4; n++) {
      await service.clock.advance(1_000)
      const change = { metadata: { n, blob: 'x'.repeat(400_000) } }
      assert.equal((await call(`PATCH ${path}`, `whale-${n}`, change)).status, 200)
    }
    const late = await call('POST /v1/memories', 'long-1', body)
    assert.deepEqual(
      [late.status, late.body.error.details],
      [409, { idempotency_key: 'long-1', existing_resource_id: made.body.id }],
    )
    const { total } = (await service.call<{ total: number }>('GET /v1/memories', { token: agent.token })).body
    assert.equal(total, 1)
  })

  test('[LOAD-4] the record of a long memory is small, and its replay is the first response', async () => {
    const agent = await tenant.agent()
    const call = (request: string, key: string, body: unknown): Promise<Reply> =>
      service.call(request, { token: agent.token, body, headers: { 'idempotency-key': key } })
    // One word, which is embedded at once.
    const text = 'ü'.repeat(9_000)
    const body = { type: 'semantic', scope: 'agent', title: `T ${text}`, content: `C ${text}`, metadata: { text } }
    const made = await call('POST /v1/memories', 'texts-1', body)
    assert.equal(made.status, 201, made.text)
    const path = `/v1/memories/${made.body.id}`
    const requests: [request: string, body: unknown][] = [
      [`POST ${path}/promote`, { scope: 'institutional' }],
      [`POST ${path}/promote`, { scope: 'institutional' }],
      [`PATCH ${path}`, {}],
      [`PATCH ${path}`, { title: `Second ${text}` }],
      [`PATCH ${path}`, { content: 'short', metadata: {} }],
      [`PATCH ${path}`, { content: `Third ${text}` }],
      [`POST ${path}/restore`, { version: 1 }],
    ]
    const responses: Reply[] = []
    for (const [i, [request, change]] of requests.entries()) {
      await service.clock.advance(1_000)
      const response = await call(request, `texts-of-${i}`, change)
      assert.equal(response.status, 200, response.text)
      responses.push(response)
    }
    for (const key of ['texts-1', ...requests.map((_, i) => `texts-of-${i}`)])
      for (const row of await kept(key)) assert.ok(row.body.length < 17_000, `${row.body.length} characters of ${key}`)
    const replaysAll = async () => {
      assertReplay(made, await call('POST /v1/memories', 'texts-1', body))
      for (const [i, [request, change]] of requests.entries())
        assertReplay(responses[i]!, await call(request, `texts-of-${i}`, change))
    }
    await replaysAll()
    assert.equal((await service.call(`DELETE ${path}`, { token: agent.token })).status, 204)
    await replaysAll()
    // What was erased is shown to nobody.
    assert.equal((await service.call(`DELETE ${path}?erase=true`, { token: tenant.admin })).status, 204)
    const late = await call(requests[0]![0], 'texts-of-0', requests[0]![1])
    assert.deepEqual(
      [late.status, late.body.error.details],
      [409, { idempotency_key: 'texts-of-0', existing_resource_id: made.body.id }],
    )
  })

  test('[LOAD-4] the creation of a long memory that was never changed is replayed also after its deletion', async () => {
    const agent = await tenant.agent()
    const body = { type: 'semantic', scope: 'agent', title: 'T', content: 'ü'.repeat(25_000) }
    const create = () =>
      service.call('POST /v1/memories', { token: agent.token, body, headers: { 'idempotency-key': 'unchanged' } })
    const made = await create()
    assert.equal(made.status, 201, made.text)
    await service.clock.advance(1_000)
    assert.equal((await service.call(`DELETE /v1/memories/${made.body.id}`, { token: agent.token })).status, 204)
    assertReplay(made, await create())
  })

  test('[LOAD-4] a long response of a call that changes nothing is not kept but computed again', async () => {
    const agent = await tenant.agent()
    const metadata = { blob: 'x'.repeat(400_000) }
    for (const n of [1, 2, 3]) {
      const body = { type: 'semantic', scope: 'agent', title: `Whale ${n}`, content: 'Large', metadata }
      assert.equal((await service.call('POST /v1/memories', { token: agent.token, body })).status, 201)
      const search = (): Promise<Reply> =>
        service.call('POST /v1/memories/search', {
          token: agent.token,
          body: { query: 'whale' },
          headers: { 'idempotency-key': `search-${n}` },
        })
      assert.equal((await search()).body.total, n)
      assert.equal((await search()).body.total, n)
      assert.deepEqual(await kept(`search-${n}`), [])
    }
  })

  test('[IDEM-6] records survive a restart, stay 24 hours, and are deleted after that', async () => {
    const [first, secret] = [await create('long'), await create('longer')]
    service = await service.restart()
    assertReplay(first, await create('long'))
    service = await later(service, 24 * HOUR)
    await signInAgain()
    await service.app.runOnce.purgeIdempotency()
    assertReplay(first, await create('long'))
    assertReplay(secret, await create('longer'))
    service = await later(service, 2 * HOUR)
    await signInAgain()
    await service.app.runOnce.purgeIdempotency()
    assert.deepEqual(await kept('long'), [])
    const fresh = await create('long')
    assert.equal(fresh.status, 201)
    assert.notEqual(fresh.body.id, first.body.id)
  })

  test('[IDEM-6] one run of the purge deletes any number of old records', async () => {
    const columns = {
      tenant_id: 'text',
      principal_id: 'text',
      method: 'text',
      path: 'text',
      idempotency_key: 'text',
      body_hash: 'text',
      status: 'integer',
      body: 'text',
      sealed: 'integer',
      created_at: 'bigint',
    } as const
    const old = Array.from(
      { length: 2500 },
      (_, i) => ['t', 'p', 'POST', '/old', `${i}`, '', 201, '{}', 0, service.clock.now() - 48 * HOUR] as const,
    )
    await service.store.tx((tx) => tx.insertMany({ into: 'idempotency', columns }, old))
    await service.app.runOnce.purgeIdempotency()
    assert.deepEqual(await service.store.rows("select idempotency_key from idempotency where path = '/old'"), [])
  })
})
