// User and password in a `delivery_endpoint`: who sees them, and what is stored of them.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Agent } from '@sensorium/contract'
import { outboundCalls, startReceiver, until, type Receiver } from '../outbound/tools.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { startService, type CallOptions, type Service, type TestAgent, type TestTenant } from '../support/service.ts'

const PASSWORD = 's3cret%2Fpass'
const BASIC = `Basic ${Buffer.from('hook:s3cret/pass').toString('base64')}`

onBothEngines((engine) => {
  let service: Service
  let tenant: TestTenant
  let receiver: Receiver
  let agent: TestAgent
  let calls: ReturnType<typeof outboundCalls>
  let url: string
  let masked: string
  before(async () => {
    service = await startService(engine, { PUSH_ALLOW_PRIVATE: 'on' })
    calls = outboundCalls(service)
    tenant = await service.tenant()
    receiver = await startReceiver()
    url = receiver.url.replace('//', `//hook:${PASSWORD}@`)
    masked = receiver.url.replace('//', '//***@')
  })
  after(async () => {
    await service.stop()
    await receiver.stop()
  })
  beforeEach(async () => {
    receiver.all.length = 0
    agent = await calls.pushed(tenant, url, 'none.yet')
  })

  const stored = async (): Promise<string> =>
    (
      await service.store.rows<{ url: string }>('select delivery_endpoint as url from agents where id = ?', [agent.id])
    )[0]!.url
  const get = async (token: string) => (await service.call<Agent>(`GET /v1/agents/${agent.id}`, { token })).body
  const update = async (token: string, delivery_endpoint: string): Promise<Agent> => {
    const reply = await service.call<Agent>(`PATCH /v1/agents/${agent.id}`, { token, body: { delivery_endpoint } })
    assert.equal(reply.status, 200, reply.text)
    return reply.body
  }
  const push = async (): Promise<{ authorization: string | undefined; path: string }> => {
    const reply = await service.call(`POST /v1/agents/${agent.id}/test-event`, { token: tenant.admin })
    assert.equal(reply.status, 202, reply.text)
    const { headers, path } = await receiver.next()
    return { authorization: headers.authorization, path }
  }

  test('[AGT-11] the agent itself and the org-admin see them, others do not', async () => {
    const listed = async (token: string): Promise<string | null | undefined> => {
      const reply = await service.call<{ agents: Agent[] }>('GET /v1/agents?limit=200', { token })
      return reply.body.agents.find(({ id }) => id === agent.id)!.delivery_endpoint
    }
    const mint = async (scopes: string[]) =>
      (await service.call(`POST /v1/agents/${agent.id}/keys`, { token: tenant.admin, body: { scopes } })).body.key
    const exchange = (api_key: string) => service.call('POST /v1/auth/token', { body: { api_key } })
    const sender = await mint(['send'])
    const [other, admin] = [await tenant.agent({ scopes: ['receive'] }), await tenant.agent({ scopes: ['admin'] })]
    for (const token of [tenant.admin, agent.token])
      assert.deepEqual([(await get(token)).delivery_endpoint, await listed(token)], [url, url])
    for (const token of [other.token, admin.token, await tenant.token(sender)])
      assert.deepEqual([(await get(token)).delivery_endpoint, await listed(token)], [masked, masked])
    assert.equal((await exchange(agent.key)).body.agent.delivery_endpoint, url)
    assert.equal((await exchange(sender)).body.agent.delivery_endpoint, masked)
    assert.equal((await update(agent.token, `${url}?own`)).delivery_endpoint, `${url}?own`)
    assert.equal((await update(admin.token, `${url}?admin`)).delivery_endpoint, `${masked}?admin`)
    const refused = await service.call(`PATCH /v1/agents/${agent.id}`, {
      token: tenant.admin,
      body: { delivery_endpoint: `ftp://hook:${PASSWORD}@a.example` },
    })
    assertError(refused, 'validation_failed', { field: 'delivery_endpoint', value: 'ftp://***@a.example' })
  })

  test('[AGT-11] [STO-6] [IDEM-9] the store has them sealed, and pushes send them', async () => {
    assert.match(await stored(), /^http:\/\/<v1\.[^/@]+>@127\.0\.0\.1:\d+\/inbox$/)
    assert.deepEqual(await push(), { authorization: BASIC, path: '/inbox' })
    const reply = await service.call(`PATCH /v1/agents/${agent.id}`, {
      token: tenant.admin,
      headers: { 'idempotency-key': `key-${agent.id}` },
      body: { delivery_endpoint: `${url}?recorded` },
    })
    assert.equal(reply.body.delivery_endpoint, `${url}?recorded`)
    const records = await service.store.rows<{ body: string }>(
      'select body from idempotency where idempotency_key = ?',
      [`key-${agent.id}`],
    )
    assert.equal(records.length, 1)
    assert.doesNotMatch(records[0]!.body, /s3cret/)
  })

  test('[AGT-11] [PUSH-9] an endpoint with a user is found by its stored form when it is gone', async () => {
    receiver.answer = () => 410
    await push()
    await until(async () => (await get(tenant.admin)).delivery_mode === 'poll', 'the switch to poll')
    receiver.answer = () => 204
  })

  test('[AGT-11] [AGT-6] the same URL changes nothing, and *** stands for what is there', async () => {
    const [before, was] = [await get(tenant.admin), await stored()]
    await service.clock.advance(1_000)
    for (const same of [url, masked]) {
      await update(tenant.admin, same)
      assert.deepEqual([await get(tenant.admin), await stored()], [before, was])
    }
    const moved = masked.replace('/inbox', '/other')
    assert.equal((await update(tenant.admin, moved)).delivery_endpoint, url.replace('/inbox', '/other'))
    assert.deepEqual(await push(), { authorization: BASIC, path: '/other' })
  })

  test('[AGT-11] *** takes them to no other host or scheme, and is never stored', async () => {
    const elsewhere = masked.replace('127.0.0.1', 'localhost')
    const refuse = async (url = elsewhere): Promise<void> => {
      const body = { delivery_endpoint: url }
      const reply = await service.call(`PATCH /v1/agents/${agent.id}`, { token: tenant.admin, body })
      assertError(reply, 'validation_failed', { field: 'delivery_endpoint', value: url })
    }
    await refuse(masked.replace('http:', 'https:'))
    await refuse()
    assert.equal((await push()).authorization, BASIC)
    await update(tenant.admin, elsewhere.replace('***@', ''))
    await refuse()
    await service.call(`PATCH /v1/agents/${agent.id}`, { token: tenant.admin, body: { delivery_endpoint: null } })
    await refuse()
  })

  test('[AGT-11] [HTTP-19] [IDEM-9] no refusal repeats them, and none is recorded with them', async () => {
    const path = `PATCH /v1/agents/${agent.id}`
    const put = 'PUT /v1/agents/by-external-id/hook'
    const fields = { name: 'Hook', delivery_mode: 'push', client_type: 'other' }
    const raw = (text: string) => ({ raw: text, headers: { 'content-type': 'application/json' } })
    const strict = (body: object) => ({ body, headers: { prefer: 'handling=strict' } })
    const cases: [string, Partial<CallOptions>, shown: string][] = [
      [path, strict({ delivery_endpont: url }), masked],
      ['POST /v1/agents', strict({ ...fields, delivery_endpoint: url }), masked],
      [put, strict({ ...fields, delivery_endpoint: url }), masked],
      [path, { body: { delivery_endpoint: [url] } }, '[redacted]'],
      [path, { body: { delivery_endpoint: { url } } }, '[redacted]'],
      [path, { body: [url] }, '[redacted]'],
      [path, { body: { delivery_endpoint: 'https://hook:s3cret/pass@a.example/' } }, '[redacted]'],
      [path, { body: { delivery_endpoint: ` ${url}` } }, '[redacted]'],
      [path, raw(`{"delivery_endpoint":"${url}",}`), '[redacted]'],
      [path, raw(`{"delivery_endpoint":"${url.replace('@', '\\u0040')}",}`), '[redacted]'],
      [path, raw(`["${'x'.repeat(970)}","${url}",]`), '[redacted]'],
      // What holds no user is repeated.
      [path, { body: { delivery_endpoint: 'ftp://a.example' } }, 'ftp://a.example'],
    ]
    for (const [at, [route, options, shown]] of cases.entries()) {
      const headers = { ...options.headers, 'idempotency-key': `refused-${agent.id}-${at}` }
      const reply = await service.call(route, { ...options, token: tenant.admin, headers })
      assert.equal(reply.status, 400, reply.text)
      assert.equal(reply.body.error.details.value, shown, `case ${at}`)
    }
    const records = await service.store.rows<{ body: string }>('select body from idempotency')
    assert.ok(records.length >= cases.length)
    for (const { body } of records) assert.doesNotMatch(body, /s3cret/)
  })

  test('[AGT-11] a URL that was stored before is shown, masked and pushed to in the same way', async () => {
    await service.store.tx((tx) => tx.run('update agents set delivery_endpoint = ? where id = ?', [url, agent.id]))
    const other = await tenant.agent({ scopes: ['receive'] })
    assert.deepEqual(
      [(await get(tenant.admin)).delivery_endpoint, (await get(other.token)).delivery_endpoint],
      [url, masked],
    )
    assert.equal((await push()).authorization, BASIC)
    await update(tenant.admin, `${masked}?next`)
    assert.match(await stored(), /^http:\/\/<v1\./)
    assert.deepEqual(await push(), { authorization: BASIC, path: '/inbox?next' })
  })
})
