// Idempotency-Key: the same request twice is one effect and one answer.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { later } from '../support/later.ts'
import { OPERATOR_TOKEN, startService, type Reply, type Service, type TestTenant } from '../support/service.ts'

const AGENT = { name: 'Watcher', delivery_mode: 'poll', client_type: 'other' }
const HOUR = 3_600_000

interface Kept {
  idempotency_key: string
  status: number
  body: string
  sealed: number
}

onBothEngines((engine) => {
  let service: Service
  let tenant: TestTenant
  before(async () => {
    service = await startService(engine)
    tenant = await service.tenant()
  })
  after(() => service.stop())

  const create = (key: string, body: unknown = AGENT, at = service) =>
    at.call('POST /v1/agents', { token: tenant.admin, body, headers: { 'idempotency-key': key } })
  const agents = async (): Promise<number> =>
    (await service.call('GET /v1/agents?limit=1', { token: tenant.admin })).body.total
  const kept = (key: string): Promise<Kept[]> =>
    service.store.rows<Kept>(
      'select idempotency_key, status, body, sealed from idempotency where idempotency_key = ?',
      [key],
    )

  const signInAgain = async (): Promise<void> => {
    tenant.admin = (await service.call('POST /v1/auth/token', { body: { api_key: tenant.adminKey } })).body.access_token
  }

  function assertReplay(first: Reply<unknown>, replay: Reply<unknown>): void {
    assert.equal(replay.headers.get('idempotent-replayed'), 'true')
    assert.equal(first.headers.get('idempotent-replayed'), null)
    assert.equal(replay.status, first.status)
    assert.deepEqual(replay.body, first.body)
    // Everything but what belongs to the one request itself.
    const own = ['x-request-id', 'idempotent-replayed', 'date', 'content-length', 'connection', 'keep-alive']
    const shared = ({ headers }: Reply<unknown>) =>
      [...headers].filter(([name]) => !own.includes(name) && !name.startsWith('x-ratelimit'))
    assert.deepEqual(shared(replay), shared(first))
  }

  test('[IDEM-2] the same key and body give the first answer again and no second effect', async () => {
    const before = await agents()
    const first = await create('again')
    assert.equal(first.status, 201)
    await service.clock.advance(5000)
    for (let i = 0; i < 3; i++) assertReplay(first, await create('again'))
    assert.equal(await agents(), before + 1)
  })

  test('[IDEM-1] [IDEM-2] PATCH and POST without a body take the header too', async () => {
    const agent = await tenant.agent()
    const headers = { 'idempotency-key': 'patch' }
    const rename = () =>
      service.call(`PATCH /v1/agents/${agent.id}`, { token: tenant.admin, body: { name: 'Renamed' }, headers })
    const first = await rename()
    await service.call(`PATCH /v1/agents/${agent.id}`, { token: tenant.admin, body: { name: 'Later' } })
    assertReplay(first, await rename())
    const deactivate = () => service.call(`POST /v1/agents/${agent.id}/deactivate`, { token: tenant.admin, headers })
    const inactive = await deactivate()
    await service.call(`POST /v1/agents/${agent.id}/activate`, { token: tenant.admin })
    assertReplay(inactive, await deactivate())
    const now = await service.call(`GET /v1/agents/${agent.id}`, { token: tenant.admin })
    assert.equal(`${now.body.name} ${now.body.status}`, 'Later active')
  })

  test('[IDEM-2] a publish is answered 202 again, where its id alone would have made it a duplicate', async () => {
    const { token } = await tenant.agent()
    const event = { specversion: '1.0', type: 'com.example.once', source: '/x', id: 'once' }
    const publish = (headers = {}) => service.call('POST /v1/events', { token, body: event, headers })
    const first = await publish({ 'idempotency-key': 'publish' })
    assert.equal(first.status, 202)
    assertReplay(first, await publish({ 'idempotency-key': 'publish' }))
    assert.equal((await publish()).status, 200)
  })

  test('[IDEM-1] a key has up to 255 characters', async () => {
    const first = await create('k'.repeat(255))
    assert.equal(first.status, 201)
    assertReplay(first, await create('k'.repeat(255)))
    assertError(await create('k'.repeat(256)), 'validation_failed', {
      field: 'Idempotency-Key',
      value: 'k'.repeat(200),
    })
  })

  test('[IDEM-3] [ERR-6] the same key with another body is 409 and names what the first made', async () => {
    const first = await create('reused')
    for (const body of [{ ...AGENT, name: 'Other' }, {}, [], 'text']) {
      assertError(await create('reused', body), 'conflict', {
        idempotency_key: 'reused',
        existing_resource_id: first.body.id,
      })
    }
    assertReplay(first, await create('reused'))
  })

  test('[IDEM-4] [ISO-6] a key means nothing to another tenant, principal, method or path', async () => {
    const other = await service.tenant()
    const [agent, colleague] = [await tenant.agent(), await tenant.agent()]
    const headers = { 'idempotency-key': 'mine' }
    const answers = [
      await create('mine'),
      await service.call('POST /v1/agents', { token: other.admin, body: AGENT, headers }),
      await service.call('POST /v1/agents', { token: agent.token, body: AGENT, headers }),
      await service.call(`POST /v1/agents/${agent.id}/keys`, {
        token: tenant.admin,
        body: { scopes: ['send'] },
        headers,
      }),
      await service.call(`POST /v1/agents/${colleague.id}/keys`, {
        token: tenant.admin,
        body: { scopes: ['send'] },
        headers,
      }),
      await service.call(`PATCH /v1/agents/${agent.id}`, { token: tenant.admin, body: {}, headers }),
    ]
    for (const { status, headers } of answers) {
      assert.ok(status < 300)
      assert.equal(headers.get('idempotent-replayed'), null)
    }
    assert.equal(new Set(answers.slice(0, 5).map(({ body }) => body.id)).size, 5)
  })

  test('[IDEM-4] a second key of the same agent is the same principal', async () => {
    const agent = await tenant.agent()
    const key = await service.call(`POST /v1/agents/${agent.id}/keys`, {
      token: tenant.admin,
      body: { scopes: ['admin'] },
    })
    const send = (token: string) =>
      service.call('POST /v1/agents', { token, body: AGENT, headers: { 'idempotency-key': 'two keys' } })
    assertReplay(await send(agent.token), await send(await tenant.token(key.body.key)))
  })

  test('[IDEM-5] ten equal requests at once make one agent and get one answer', async () => {
    const before = await agents()
    const replies = await Promise.all(Array.from({ length: 10 }, () => create('at once')))
    assert.deepEqual(new Set(replies.map(({ text }) => text)), new Set([replies[0]!.text]))
    assert.deepEqual(
      replies.map(({ status }) => status),
      Array(10).fill(201),
    )
    assert.equal(replies.filter(({ headers }) => headers.get('idempotent-replayed') === null).length, 1)
    assert.equal(await agents(), before + 1)
  })

  test('[IDEM-5] [IDEM-3] of two different requests at once with one key one is made and one refused', async () => {
    const before = await agents()
    const replies = await Promise.all([
      create('rivals', { ...AGENT, name: 'A' }),
      create('rivals', { ...AGENT, name: 'B' }),
    ])
    assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 409])
    assert.equal(await agents(), before + 1)
  })

  test('[IDEM-7] a 4xx that would come out the same again is kept', async () => {
    const invalid = await create('bad shape', { ...AGENT, name: '' })
    assertError(invalid, 'validation_failed')
    const replay = await create('bad shape', { ...AGENT, name: '' })
    assert.equal(replay.headers.get('idempotent-replayed'), 'true')
    assertError(replay, 'validation_failed', { field: 'name' })
    assert.notEqual(replay.body.error.request_id, invalid.body.error.request_id)
    assertError(await create('bad shape'), 'conflict', { idempotency_key: 'bad shape', existing_resource_id: null })

    const missing = () =>
      service.call('PATCH /v1/agents/agt_nobody', {
        token: tenant.admin,
        body: {},
        headers: { 'idempotency-key': 'missing', 'x-request-id': 'r' },
      })
    assertReplay(await missing(), await missing())
  })

  test('[IDEM-7] 401 and 403 are not kept', async () => {
    const agent = await tenant.agent({ scopes: ['admin'] })
    const mint = (token: string) =>
      service.call(`POST /v1/agents/${agent.id}/keys`, {
        token,
        body: { scopes: ['send'] },
        headers: { 'idempotency-key': 'refused' },
      })
    assertError(await mint('nonsense'), 'authentication_failed')
    assertError(await mint(agent.token), 'insufficient_scope')
    assertError(await mint(agent.token), 'insufficient_scope')
    assert.deepEqual(await kept('refused'), [])
  })

  test('[IDEM-8] [STO-2] where the record cannot be written nothing is done', async () => {
    const [forbid, allow] =
      engine.name === 'sqlite'
        ? [
            "create trigger forbid before insert on idempotency when new.idempotency_key = 'blocked' begin select raise(abort, 'no'); end",
            'drop trigger forbid',
          ]
        : [
            "alter table idempotency add constraint forbid check (idempotency_key <> 'blocked')",
            'alter table idempotency drop constraint forbid',
          ]
    const before = await agents()
    await service.store.tx((tx) => tx.run(forbid))
    assertError(await create('blocked'), 'internal_error')
    await service.store.tx((tx) => tx.run(allow))
    assert.equal(await agents(), before)
    assert.equal((await create('blocked')).status, 201)
    assert.equal(await agents(), before + 1)
  })

  test('[IDEM-9] [STO-6] [KEY-8] an answer with a secret is kept encrypted and still given again', async () => {
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
    const call = (request: string, key: string, body: unknown): Promise<Reply<any>> =>
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
    // Once it was changed, its history has what the first response showed.
    for (let n = 1; n <= 3; n++) {
      await service.clock.advance(1_000)
      const change = n === 2 ? { title: 'Changed' } : { metadata: { other: n, more: 'x'.repeat(70_000) } }
      assert.equal((await call(`PATCH ${path}`, `change-${n}`, change)).status, 200)
    }
    assert.equal((await call('POST /v1/memories', 'long-1', body)).text, made.text)
    // And where that has it no more, the replay says so and makes nothing.
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

  test('[LOAD-4] a long response of a call that changes nothing is made anew, whole each time', async () => {
    const agent = await tenant.agent()
    const metadata = { blob: 'x'.repeat(400_000) }
    for (const n of [1, 2, 3]) {
      const body = { type: 'semantic', scope: 'agent', title: `Whale ${n}`, content: 'Large', metadata }
      assert.equal((await service.call('POST /v1/memories', { token: agent.token, body })).status, 201)
      const search = (): Promise<Reply<any>> =>
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

  test("[IDEM-10] [IDEM-9] the operator's POSTs honour the header, the exchange ignores it", async () => {
    const headers = { 'idempotency-key': 'operator' }
    const tenants = () =>
      service.call('POST /operator/tenants', { token: OPERATOR_TOKEN, body: { slug: 'idem' }, headers })
    const first = await tenants()
    assert.equal(first.status, 201)
    assertReplay(first, await tenants())
    const more = () => service.call('POST /operator/tenants/idem/admin-keys', { token: OPERATOR_TOKEN, headers })
    assertReplay(await more(), await more())
    assert.deepEqual(
      (await kept('operator')).map(({ sealed }) => sealed),
      [1, 1],
    )

    const exchange = (key: string) =>
      service.call('POST /v1/auth/token', { body: { api_key: key }, headers: { 'idempotency-key': 'x'.repeat(300) } })
    const [one, two] = [await exchange(tenant.adminKey), await exchange(first.body.admin_key)]
    assert.deepEqual([one.status, two.status], [200, 200])
    assert.notEqual((await exchange(tenant.adminKey)).body.access_token, one.body.access_token)
    assert.equal(one.headers.get('idempotent-replayed'), null)
  })

  test('[IDEM-6] records survive a restart, stay 24 hours, and are thrown away after', async () => {
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

  test('[IDEM-6] one run of the purge keeps up with any number of old records', async () => {
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

  if (engine.name === 'postgres') {
    test('[IDEM-5] [IDEM-8] equal requests that race on two nodes make one agent', async () => {
      const second = await service.another()
      try {
        const before = await agents()
        for (let round = 0; round < 20; round++) {
          const replies = await Promise.all(
            [service, second, service, second].map((node) => create(`race ${round}`, AGENT, node)),
          )
          assert.deepEqual(new Set(replies.map(({ text }) => text)), new Set([replies[0]!.text]))
          assert.equal(replies.filter(({ headers }) => headers.get('idempotent-replayed') === null).length, 1)
        }
        assert.equal(await agents(), before + 20)
      } finally {
        await second.stop()
      }
    })

    test("[IDEM-5] the loser of a race gets the winner's answer, even where its own work was refused", async () => {
      const second = await service.another()
      try {
        for (let round = 0; round < 20; round++) {
          const options = {
            token: OPERATOR_TOKEN,
            body: { slug: `race-${round}` },
            headers: { 'idempotency-key': `slug race ${round}` },
          }
          const replies = await Promise.all(
            [service, second].map((node) => node.call('POST /operator/tenants', options)),
          )
          assert.deepEqual(
            replies.map(({ status }) => status),
            [201, 201],
          )
          assert.equal(replies[0]!.text, replies[1]!.text)
        }
      } finally {
        await second.stop()
      }
    })
  }
})
