// An org-admin registers webhooks for its own tenant.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { startService, type Service, type TestTenant } from '../support/service.ts'
import { operatorCalls, poster } from './tools.ts'

onBothEngines((engine) => {
  let service: Service
  let tenant: TestTenant
  let other: TestTenant
  let post: ReturnType<typeof poster>
  before(async () => {
    service = await startService(engine)
    post = poster(service)
    tenant = await service.tenant()
    other = await service.tenant()
  })
  after(() => service.stop())

  const call = (request: string, body?: unknown, token = tenant.admin) => service.call(request, { token, body })

  test('[ING-10] registering answers as the operator is answered, and what is signed arrives', async () => {
    const made = await call('POST /v1/ingest/webhooks', { source: 'shop', mapping: { id: 'body.key' } })
    assert.equal(made.status, 201, made.text)
    assert.deepEqual(Object.keys(made.body).sort(), ['signing_secret', 'url', 'webhook'])
    const { webhook, url, signing_secret } = made.body
    assert.equal(url, `${service.url}/ingest/w/${tenant.slug}`)
    assert.equal(webhook.own_url, `${url}/${webhook.id}`)
    assert.match(signing_secret, /^whsec_[A-Za-z0-9]{32}$/)
    assert.partialDeepStrictEqual(webhook, { tenant: tenant.slug, source: 'shop', active: true })
    const reply = await post(`${tenant.slug}/${webhook.id}`, signing_secret, { entity: 'a', action: 'b', key: 'k-1' })
    assert.equal(reply.body.event_id, 'shop:k-1')

    const { body: page } = await operatorCalls(service).operator(`GET /operator/webhooks?tenant=${tenant.slug}`)
    assert.deepEqual((await call('GET /v1/ingest/webhooks')).body, page, 'the operator sees the same')
    const rotated = await call(`POST /v1/ingest/webhooks/${webhook.id}/rotate`)
    assert.deepEqual([rotated.status, Object.keys(rotated.body).sort()], [200, ['signing_secret', 'webhook']])
    assert.equal((await post(tenant.slug, rotated.body.signing_secret, { key: 'k-2' })).status, 202)
    assert.equal((await post(tenant.slug, signing_secret, { key: 'k-3' })).status, 202, 'the one before holds')
    assert.equal((await call(`DELETE /v1/ingest/webhooks/${webhook.id}`)).status, 204)
    assertError(await post(tenant.slug, signing_secret, { key: 'k-4' }), 'authentication_failed')
    assert.deepEqual((await call('GET /v1/ingest/webhooks')).body, { webhooks: [], total: 0 })
  })

  test('[ING-10] a preset stands for its source; what is wrong is refused as the operator is', async () => {
    const made = await call('POST /v1/ingest/webhooks', { preset: 'github' })
    assert.partialDeepStrictEqual(made.body.webhook, { source: 'github', preset: 'github' })
    assertError(await call('POST /v1/ingest/webhooks', {}), 'validation_failed', { field: 'source' })
    const broken = await call('POST /v1/ingest/webhooks', { source: 'shop', mapping: { id: 'body.' } })
    assertError(broken, 'validation_failed', { field: 'mapping.id' })
    // A tenant in the body is nobody's: the token says which one it is.
    const own = await call('POST /v1/ingest/webhooks', { source: 'mine', tenant: other.slug })
    assert.equal(own.body.webhook.tenant, tenant.slug)
  })

  test('[ING-10] another tenant’s webhook is not found and not listed', async () => {
    const { body } = await call('POST /v1/ingest/webhooks', { source: 'private' })
    const { id } = body.webhook
    const missing = { resource_type: 'webhook', resource_id: id }
    assertError(await call(`POST /v1/ingest/webhooks/${id}/rotate`, undefined, other.admin), 'not_found', missing)
    assertError(await call(`DELETE /v1/ingest/webhooks/${id}`, undefined, other.admin), 'not_found', missing)
    assert.deepEqual((await call('GET /v1/ingest/webhooks', undefined, other.admin)).body, { webhooks: [], total: 0 })
    assert.equal((await post(tenant.slug, body.signing_secret, { id: 1 })).status, 202, 'it was left alone')
  })

  test('[ING-10] no agent may, whatever its scopes, and is told so before its body is looked at', async () => {
    const agent = await tenant.agent({ scopes: ['admin', 'send', 'receive'] })
    for (const request of [
      'GET /v1/ingest/webhooks',
      'POST /v1/ingest/webhooks',
      'POST /v1/ingest/webhooks/whk_00000000000000000000000000/rotate',
      'DELETE /v1/ingest/webhooks/whk_00000000000000000000000000',
    ])
      assertError(
        await call(request, request.startsWith('POST') ? { source: 1 } : undefined, agent.token),
        'insufficient_scope',
      )
  })

  test('[ING-10] a retry with the same Idempotency-Key gets the same secret', async () => {
    const send = () =>
      service.call('POST /v1/ingest/webhooks', {
        token: tenant.admin,
        body: { source: 'again' },
        headers: { 'idempotency-key': 'once' },
      })
    const [first, second] = [await send(), await send()]
    assert.deepEqual([second.status, second.body], [201, first.body])
    assert.equal(second.headers.get('idempotent-replayed'), 'true')
  })
})
