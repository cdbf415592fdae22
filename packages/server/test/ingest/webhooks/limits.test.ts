// How often an address may be refused at the webhook URLs, and how many events a tenant may be sent.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { onBothEngines } from '../../support/engines.ts'
import { assertError } from '../../support/expect.ts'
import { serviceForSuite, type TestAgent, type TestTenant } from '../../support/service.ts'
import { operatorCalls, poster, type MadeWebhook } from '../tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine, { RATE_LIMIT_TENANT: '40', RATE_LIMIT_WINDOW_S: '60' })
  let tenant: TestTenant
  let post: ReturnType<typeof poster>
  let shop: MadeWebhook
  let agent: TestAgent
  before(async () => {
    post = poster(service)
    tenant = await service.tenant()
    agent = await tenant.agent()
    shop = await operatorCalls(service).webhook({ tenant: tenant.slug, source: 'shop' })
    await service.clock.jump(61_000)
  })

  test("[ING-9] events that verified count toward the tenant's limit, refused ones do not", async () => {
    for (let i = 0; i < 40; i++) assert.equal((await post(tenant.slug, shop.signing_secret, { id: i })).status, 202)
    const refused = await post(tenant.slug, shop.signing_secret, { id: 'one too many' })
    assertError(refused, 'rate_limited', { limit: 40, window_seconds: 60 })
    assert.ok(Number(refused.headers.get('retry-after')) > 0)
    const own = `${tenant.slug}/${shop.webhook.id}`
    assertError(await post(own, shop.signing_secret, { id: 'here too' }), 'rate_limited')
    assertError(await service.call('GET /v1/agents', { token: agent.token }), 'rate_limited')
    // Another tenant has its own limit, and a request with a wrong signature learns nothing about it.
    const other = await service.tenant()
    const theirs = await operatorCalls(service).webhook({ tenant: other.slug, source: 'shop' })
    assert.equal((await post(other.slug, theirs.signing_secret, { id: 1 })).status, 202)
    assertError(await post(tenant.slug, 'whsec_wrong', { id: 1 }), 'authentication_failed')
    await service.clock.jump(61_000)
    assert.equal((await post(tenant.slug, shop.signing_secret, { id: 'later' })).status, 202)
  })

  test('[ING-9] after 300 refusals in a minute an address is told to wait at every webhook URL', async () => {
    const refusals = await Promise.all(
      Array.from({ length: 300 }, (_, i) => post(i % 2 ? tenant.slug : 'no-such-tenant', 'whsec_wrong', { id: i })),
    )
    for (const reply of refusals) assertError(reply, 'authentication_failed')
    for (const slug of [
      tenant.slug,
      'no-such-tenant',
      `${tenant.slug}/${shop.webhook.id}`,
      `${tenant.slug}/whk_none`,
    ]) {
      const reply = await post(slug, 'whsec_wrong', { id: 1 })
      assertError(reply, 'rate_limited', { limit: 300, window_seconds: 60 })
      assert.ok(Number(reply.headers.get('retry-after')) > 0)
    }
    // The tenant's URL is closed to this client; a webhook's own URL is not, if the request is signed.
    assertError(await post(tenant.slug, shop.signing_secret, { id: 2 }), 'rate_limited')
    assert.equal((await post(`${tenant.slug}/${shop.webhook.id}`, shop.signing_secret, { id: 'three' })).status, 202)
    await service.clock.jump(61_000)
    assert.equal((await post(tenant.slug, shop.signing_secret, { id: 'four' })).status, 202)
    assertError(await post(tenant.slug, 'whsec_wrong', { id: 5 }), 'authentication_failed')
  })
})
