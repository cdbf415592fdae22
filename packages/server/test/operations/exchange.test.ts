// POST /auth/token: what is counted, what is stored, what is returned.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { startService, type Service } from '../support/service.ts'

const WRONG_KEY = 'ak_live_aVeryUnlikelyKey0123456789abcdef'

onBothEngines((engine) => {
  const start = async (t: TestContext, env: Record<string, string> = {}): Promise<Service> => {
    const service = await startService(engine, env)
    t.after(() => service.stop())
    return service
  }
  const exchange = (service: Service, api_key: string) => service.call('POST /v1/auth/token', { body: { api_key } })

  test('[RATE-8] a valid key is exchanged, however many wrong ones came from its address', async (t) => {
    const service = await start(t)
    const { adminKey } = await service.tenant()
    for (let i = 0; i < 30; i++) assertError(await exchange(service, WRONG_KEY), 'authentication_failed')
    assertError(await exchange(service, WRONG_KEY), 'rate_limited', { limit: 30, window_seconds: 60 })
    for (let i = 0; i < 3; i++) assert.equal((await exchange(service, adminKey)).status, 200)
    assertError(await exchange(service, WRONG_KEY), 'rate_limited')
  })

  test('[RATE-8] exchanges count toward the limit of the agent, and show what is left of it', async (t) => {
    const service = await start(t, { RATE_LIMIT_AGENT: '10' })
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const first = await exchange(service, agent.key)
    // Creating the agent exchanged its key once.
    assert.deepEqual(
      [first.status, first.headers.get('x-ratelimit-limit'), first.headers.get('x-ratelimit-remaining')],
      [200, '10', '8'],
    )
    const used = await service.call('GET /v1/agents', { token: agent.token })
    assert.equal(used.headers.get('x-ratelimit-remaining'), '7')
    for (let left = 6; left >= 0; left--)
      assert.equal((await exchange(service, agent.key)).headers.get('x-ratelimit-remaining'), String(left))
    const refused = await exchange(service, agent.key)
    assertError(refused, 'rate_limited', { limit: 10 })
    assertError(await service.call('GET /v1/agents', { token: agent.token }), 'rate_limited')
    await service.clock.advance(Number(refused.headers.get('retry-after')) * 1000)
    assert.equal((await exchange(service, agent.key)).status, 200)
  })

  test('[OPS-20] last_used_at is written at most once a minute; the response has expires_in', async (t) => {
    const service = await start(t)
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const lastUsed = async (): Promise<string> =>
      (await service.call(`GET /v1/agents/${agent.id}/keys`, { token: tenant.admin })).body.keys[0].last_used_at
    const first = await lastUsed()
    await service.clock.advance(30_000)
    const reply = await exchange(service, agent.key)
    assert.equal(await lastUsed(), first)
    assert.equal(reply.body.expires_in, 3600)
    assert.equal(Date.parse(reply.body.expires_at) - service.clock.now(), 3_600_000)
    await service.clock.advance(30_000)
    await exchange(service, agent.key)
    assert.equal(await lastUsed(), new Date(service.clock.now()).toISOString())
  })

  test('[OPS-20] expires_in ends with the key', async (t) => {
    const service = await start(t)
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const expires_at = new Date(service.clock.now() + 90_000).toISOString()
    const made = await service.call(`POST /v1/agents/${agent.id}/keys`, {
      token: tenant.admin,
      body: { scopes: ['send'], expires_at },
    })
    const reply = await exchange(service, made.body.key)
    assert.deepEqual([reply.body.expires_at, reply.body.expires_in], [expires_at, 90])
  })

  test('[OPS-21] an API key used as a bearer token gets the hint to exchange it, valid or not', async (t) => {
    const service = await start(t)
    const { adminKey } = await service.tenant()
    for (const token of [adminKey, WRONG_KEY, 'ak_live_']) {
      const reply = await service.call('GET /v1/agents', { token })
      assertError(reply, 'authentication_failed', {})
      assert.match(reply.body.error.message, /exchange it at POST \/v1\/auth\/token/)
      assert.deepEqual(reply.body.error.details, {})
    }
    const other = await service.call('GET /v1/agents', { token: 'nonsense' })
    assert.doesNotMatch(other.body.error.message, /exchange/)
  })
})
