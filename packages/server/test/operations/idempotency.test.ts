// Idempotency-Key: the same request twice is one effect and one response.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { AGENT, OPERATOR_TOKEN, serviceForSuite, tenantForSuite } from '../support/service.ts'
import { assertReplay, createUnder, keptUnder } from './idempotency-tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)

  const create = (key: string, body?: unknown, at = service) => createUnder(at, tenant, key, body)
  const kept = (key: string) => keptUnder(service, key)
  const agents = async (): Promise<number> =>
    (await service.call('GET /v1/agents?limit=1', { token: tenant.admin })).body.total

  test('[IDEM-2] the same key and body give the first response again and no second effect', async () => {
    const before = await agents()
    const first = await create('again')
    assert.equal(first.status, 201)
    await service.clock.advance(5000)
    for (let i = 0; i < 3; i++) assertReplay(first, await create('again'))
    assert.equal(await agents(), before + 1)
  })

  test('[IDEM-1] [IDEM-2] PATCH, and POST without a body, take the header too', async () => {
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

  test('[IDEM-2] a publish is answered 202 again, although its id alone would make it a duplicate', async () => {
    const { token } = await tenant.agent()
    const event = { specversion: '1.0', type: 'com.example.once', source: '/x', id: 'once' }
    const publish = (headers = {}) => service.call('POST /v1/events', { token, body: event, headers })
    const first = await publish({ 'idempotency-key': 'publish' })
    assert.equal(first.status, 202)
    assertReplay(first, await publish({ 'idempotency-key': 'publish' }))
    assert.equal((await publish()).status, 200)
  })

  test('[IDEM-2] the refused events of a replayed batch name the present request, and nothing else differs', async () => {
    const { token } = await tenant.agent()
    const publish = (id: string) =>
      service.call('POST /v1/events', {
        token,
        raw: JSON.stringify([
          { specversion: '1.0', type: 'com.example.once', source: '/x', id: 'good' },
          { id: 'bad' },
        ]),
        headers: {
          'content-type': 'application/cloudevents-batch+json',
          'idempotency-key': 'batch',
          'x-request-id': id,
        },
      })
    const [first, again] = [await publish('request-1'), await publish('request-2')]
    assert.deepEqual([first.body.results[0].status, again.headers.get('idempotent-replayed')], ['accepted', 'true'])
    assert.equal(first.body.results[1].error.request_id, 'request-1')
    assert.equal(again.text, first.text.replace('request-1', 'request-2'))
  })

  test('[IDEM-1] a key has up to 255 characters', async () => {
    const first = await create('k'.repeat(255))
    assert.equal(first.status, 201)
    assertReplay(first, await create('k'.repeat(255)))
    assertError(await create('k'.repeat(256)), 'validation_failed', {
      field: 'Idempotency-Key',
      value: 'k'.repeat(200),
    })
    // Characters are counted, not the bytes that a header consists of.
    const inBytes = (key: string): string => Buffer.from(key).toString('latin1')
    assertReplay(await create(inBytes('é'.repeat(255))), await create(inBytes('é'.repeat(255))))
    assert.equal((await create(inBytes('😀'.repeat(255)))).status, 201)
    assertError(await create(inBytes('é'.repeat(256))), 'validation_failed', {
      field: 'Idempotency-Key',
      value: 'é'.repeat(200),
    })
  })

  test('[IDEM-3] [ERR-6] the same key with another body is 409 and names what the first created', async () => {
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

  test('[IDEM-4] [IDEM-7] a path may be longer than an entry of an index', async () => {
    // Random, so that it cannot be compressed to a short one.
    const long = randomBytes(4_000).toString('hex')
    const update = (path: string) =>
      service.call(`PATCH /v1/agents/${path}`, {
        token: tenant.admin,
        body: {},
        headers: { 'idempotency-key': 'long path', 'x-request-id': 'r' },
      })
    const first = await update(long)
    assertError(first, 'not_found')
    assertReplay(first, await update(long))
    assert.equal((await update(`${long}0`)).headers.get('idempotent-replayed'), null)
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

  test('[IDEM-5] ten equal concurrent requests create one agent and get one response', async () => {
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

  test('[IDEM-5] [IDEM-3] of two different concurrent requests with one key one is refused', async () => {
    const before = await agents()
    const replies = await Promise.all([
      create('rivals', { ...AGENT, name: 'A' }),
      create('rivals', { ...AGENT, name: 'B' }),
    ])
    assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 409])
    assert.equal(await agents(), before + 1)
  })

  test('[IDEM-7] a 4xx that a retry would get again is kept', async () => {
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

  test('[IDEM-8] [STO-2] if the record cannot be written nothing is done', async () => {
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

  if (engine.name === 'postgres') {
    test('[IDEM-5] [IDEM-8] equal requests that race on two nodes create one agent', async () => {
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

    test("[IDEM-5] the loser of a race gets the winner's response, even if its own work was refused", async () => {
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
