// Inbound webhooks: which requests are accepted, what becomes of a body, what a provider is told.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { onBothEngines } from '../../support/engines.ts'
import { assertError } from '../../support/expect.ts'
import { serviceForSuite, type TestTenant } from '../../support/service.ts'
import { hmac, listener, operatorCalls, poster, type MadeWebhook } from '../tools.ts'

const ORDER = { entity: 'order', action: 'created', id: 'o-1', total: 40 }
const HOUR = 3_600_000

onBothEngines((engine) => {
  const service = serviceForSuite(engine, { MAX_EVENT_BYTES: '4096' })
  let tenant: TestTenant
  const calls = operatorCalls(service)
  let post: ReturnType<typeof poster>
  let shop: MadeWebhook
  before(async () => {
    post = poster(service)
    tenant = await service.tenant()
    shop = await calls.webhook({ tenant: tenant.slug, source: 'shop' })
  })

  const stored = async (): Promise<number> =>
    (await service.store.rows<{ n: number }>('select count(*) as n from events where tenant_id = ?', [tenant.id]))[0]!.n

  test('[HOOK-1] [HOOK-11] [ROU-7] a signed body becomes an event with data and original, once', async () => {
    const agent = await listener(service, tenant)
    const accepted = await post(tenant.slug, shop.signing_secret, ORDER)
    assert.deepEqual(
      [accepted.status, accepted.body],
      [202, { event_id: 'shop:o-1', status: 'accepted', recipients: 1 }],
    )
    const again = await post(tenant.slug, shop.signing_secret, ORDER)
    assert.deepEqual([again.status, again.body], [200, { event_id: 'shop:o-1', status: 'duplicate' }])
    const [delivery, ...more] = await agent.poll()
    assert.deepEqual(more, [])
    const payload = delivery!.payload as Record<string, unknown>
    assert.partialDeepStrictEqual(payload, {
      type: 'com.shop.order.created',
      source: '/ingest/shop',
      subject: 'order/o-1',
      data: ORDER,
      original: ORDER,
    })
    const [row] = await service.store.rows<{ sender_id: string }>(
      'select sender_id from events where tenant_id = ? and id = ?',
      [tenant.id, 'shop:o-1'],
    )
    assert.equal(row!.sender_id, shop.webhook.id, 'the webhook is the publisher')
  })

  test('[ING-12] a whole number of 64 bits is exact as the id, in a filter and in the mapped data', async () => {
    const bank = await service.tenant()
    const agent = await listener(service, bank, { filter_expression: 'data.total == 9007199254740993' })
    const raw = '{"entity":"order","action":"paid","id":9007199254740995,"total":9007199254740993}'
    const send = (made: MadeWebhook) => post(bank.slug, made.signing_secret, raw)
    const mapping = { data: '{"total": body.total, "more": body.total + 1, "list": [body.id]}' }
    const plain = await calls.webhook({ tenant: bank.slug, source: 'plain' })
    const mapped = await calls.webhook({ tenant: bank.slug, source: 'mapped', mapping })
    assert.deepEqual((await send(plain)).body, {
      event_id: 'plain:9007199254740995',
      status: 'accepted',
      recipients: 1,
    })
    assert.equal((await send(mapped)).body.recipients, 1)
    const { text } = await service.call('GET /v1/delivery/poll', { token: agent.token })
    assert.match(text, /"data":\{"total":9007199254740993,"more":9007199254740994,"list":\[9007199254740995\]\}/)
    assert.equal(text.split(`"original":${raw}`).length, 3)
    assert.match(text, /"subject":"order\/9007199254740995"/)
  })

  test('[HOOK-2] the signature may have a sha256= prefix and capitals, and covers the exact bytes', async () => {
    const raw = '{ "entity":"order",  "action":"created","id":"spaced" }'
    const send = (signature: string) =>
      service.call(`POST /ingest/w/${tenant.slug}`, {
        raw,
        headers: { 'content-type': 'application/json', 'x-service-signature': signature },
      })
    assert.equal((await send(`sha256=${hmac(shop.signing_secret, raw)}`)).status, 202)
    assert.equal((await send(hmac(shop.signing_secret, raw).toUpperCase())).status, 200)
    assertError(await send(hmac(shop.signing_secret, JSON.stringify(JSON.parse(raw)))), 'authentication_failed')
    assertError(await send(hmac(shop.signing_secret.slice('whsec_'.length), raw)), 'authentication_failed')
    assertError(await send(`sha1=${hmac(shop.signing_secret, raw)}`), 'authentication_failed')
  })

  test('[HOOK-3] [HOOK-4] bad or missing signatures and unknown slugs get the same 401 and store nothing', async () => {
    const before = await stored()
    const raw = JSON.stringify({ ...ORDER, id: 'never' })
    const headers = { 'content-type': 'application/json', 'x-request-id': 'same' }
    const send = (slug: string, more: Record<string, string>) =>
      service.call(`POST /ingest/w/${slug}`, { raw, headers: { ...headers, ...more } })
    const wrong = { 'x-service-signature': hmac('whsec_wrong', raw) }
    const replies = [
      await send(tenant.slug, wrong),
      await send(tenant.slug, {}),
      await send(tenant.slug, { 'x-service-signature': 'nonsense' }),
      await send('no-such-tenant', wrong),
      await send('no-such-tenant', {}),
      await send('No%20Slug%00', wrong),
      // Another tenant's secret with an existing slug gets the same response.
      await send((await service.tenant()).slug, { 'x-service-signature': hmac(shop.signing_secret, raw) }),
    ]
    for (const reply of replies) assertError(reply, 'authentication_failed')
    assert.equal(new Set(replies.map(({ text }) => text)).size, 1)
    assert.equal(await stored(), before)
  })

  test('[HOOK-5] the secret that verifies selects the webhook, with its source and mapping', async () => {
    const crm = await calls.webhook({
      tenant: tenant.slug,
      source: 'crm',
      mapping: { entity: '"contact"', action: 'headers["x-what"]', id: 'body.key' },
    })
    const first = await post(tenant.slug, crm.signing_secret, { key: 'k-1' }, { 'X-What': 'Changed' })
    assert.equal(first.body.event_id, 'crm:k-1')
    const [row] = await service.store.rows<{ type: string; sender_id: string }>(
      'select type, sender_id from events where tenant_id = ? and id = ?',
      [tenant.id, 'crm:k-1'],
    )
    assert.deepEqual({ ...row }, { type: 'com.crm.contact.changed', sender_id: crm.webhook.id })
    assert.equal((await post(tenant.slug, shop.signing_secret, { key: 'k-1' })).body.event_id.split(':')[0], 'shop')
  })

  test('[HOOK-6] [OPS-3] after a rotation both secrets are valid for 24 hours, then only the new one', async () => {
    const { webhook, signing_secret: old } = await calls.webhook({ tenant: tenant.slug, source: 'erp' })
    const rotated = await calls.operator(`POST /operator/webhooks/${webhook.id}/rotate`)
    assert.equal(rotated.status, 200)
    assert.deepEqual(Object.keys(rotated.body).sort(), ['signing_secret', 'webhook'])
    assert.deepEqual(rotated.body.webhook, webhook)
    const fresh = rotated.body.signing_secret
    assert.match(fresh, /^whsec_/)
    assert.notEqual(fresh, old)
    const statuses = async (id: string) => [
      (await post(tenant.slug, old, { id })).status,
      (await post(tenant.slug, fresh, { id })).status,
    ]
    assert.deepEqual(await statuses('r-1'), [202, 200])
    await service.clock.jump(24 * HOUR - 1)
    assert.deepEqual(await statuses('r-2'), [202, 200])
    await service.clock.jump(1)
    assert.deepEqual(await statuses('r-3'), [401, 202])
    // Two rotations within a day: each old secret is valid for its own 24 hours.
    const one = await calls.operator(`POST /operator/webhooks/${webhook.id}/rotate`)
    await service.clock.jump(HOUR)
    const two = await calls.operator(`POST /operator/webhooks/${webhook.id}/rotate`)
    const all = async (id: string) => {
      const statuses: number[] = []
      for (const secret of [fresh, one.body.signing_secret, two.body.signing_secret])
        statuses.push((await post(tenant.slug, secret, { id })).status)
      return statuses
    }
    assert.deepEqual(await all('r-4'), [202, 200, 200])
    await service.clock.jump(23 * HOUR)
    assert.deepEqual(await all('r-5'), [401, 202, 200])
    await service.clock.jump(HOUR)
    assert.deepEqual(await all('r-6'), [401, 401, 202])
  })

  test('[HOOK-6] [OPS-3] concurrent rotations each return a secret that is valid', async () => {
    const { webhook, signing_secret } = await calls.webhook({ tenant: tenant.slug, source: 'pos' })
    const rotated = await Promise.all(
      [1, 2, 3].map(() => calls.operator(`POST /operator/webhooks/${webhook.id}/rotate`)),
    )
    const secrets = [signing_secret, ...rotated.map(({ body }) => body.signing_secret)]
    const statuses: number[] = []
    for (const secret of secrets) statuses.push((await post(tenant.slug, secret, { id: 'at-once' })).status)
    assert.deepEqual(statuses, [202, 200, 200, 200])
  })

  test('[HOOK-9] [HOOK-10] a body that cannot be mapped is still stored, and its retry is a duplicate', async () => {
    const body = [{ anything: true }]
    const first = await post(tenant.slug, shop.signing_secret, body)
    assert.equal(first.status, 202)
    assert.equal(first.body.event_id.length, 'shop:'.length + 64)
    assert.equal((await post(tenant.slug, shop.signing_secret, body)).status, 200)
    const [row] = await service.store.rows<{ envelope: string }>(
      'select envelope from events where tenant_id = ? and id = ?',
      [tenant.id, first.body.event_id],
    )
    assert.partialDeepStrictEqual(JSON.parse(row!.envelope), {
      type: 'com.shop.unmapped.received',
      data: body,
      original: body,
    })
  })

  test('[HOOK-12] a signed body that is not JSON is 400, also with broken UTF-8 or nested too deep', async () => {
    for (const raw of ['not json', '', '{"a":', '[1],', '['.repeat(64) + ']'.repeat(64), `"${'\u0001'}"`]) {
      assertError(await post(tenant.slug, shop.signing_secret, raw), 'validation_failed', { field: 'body' })
    }
    const bytes = new Uint8Array([0x22, 0xff, 0x22])
    const headers = { 'content-type': 'application/json', 'x-service-signature': hmac(shop.signing_secret, bytes) }
    assertError(await service.call(`POST /ingest/w/${tenant.slug}`, { raw: bytes, headers }), 'validation_failed', {
      field: 'body',
    })
    assert.equal((await post(tenant.slug, shop.signing_secret, '['.repeat(63) + ']'.repeat(63))).status, 202)
  })

  test('[HOOK-12] a body over the size limit is 413, for every sender and content type', async () => {
    const raw = JSON.stringify({ text: 'x'.repeat(4096) })
    for (const slug of [tenant.slug, 'no-such-tenant']) {
      assertError(await post(slug, shop.signing_secret, raw), 'payload_too_large', { max_size: 4096 })
      assertError(
        await post(slug, shop.signing_secret, raw, { 'content-type': 'application/cloudevents-batch+json' }),
        'payload_too_large',
        { max_size: 4096 },
      )
    }
  })

  test('[HOOK-1] the content type must be JSON, as a signed request is told; other methods are 405', async () => {
    assertError(
      await post(tenant.slug, shop.signing_secret, ORDER, { 'content-type': 'text/plain' }),
      'unsupported_media_type',
    )
    assertError(
      await post(tenant.slug, 'whsec_wrong', ORDER, { 'content-type': 'text/plain' }),
      'authentication_failed',
    )
    assert.equal(
      (await post(tenant.slug, shop.signing_secret, ORDER, { 'content-type': 'application/json; charset=utf-8' }))
        .status,
      200,
    )
    assertError(await service.call(`GET /ingest/w/${tenant.slug}`), 'method_not_allowed')
    assertError(await service.call('POST /ingest/w'), 'not_found')
  })

  test('[OPS-4] a deleted webhook no longer verifies; another one still does', async () => {
    const { webhook, signing_secret } = await calls.webhook({ tenant: tenant.slug, source: 'gone' })
    assert.equal((await post(tenant.slug, signing_secret, { id: 1 })).status, 202)
    assert.equal((await calls.operator(`DELETE /operator/webhooks/${webhook.id}`)).status, 204)
    assertError(await post(tenant.slug, signing_secret, { id: 2 }), 'authentication_failed')
    assert.equal((await post(tenant.slug, shop.signing_secret, { id: 3 })).status, 202)
    assertError(await calls.operator(`DELETE /operator/webhooks/${webhook.id}`), 'not_found', {
      resource_type: 'webhook',
      resource_id: webhook.id,
    })
  })

  test('[HOOK-1] a burst of a hundred requests is stored', async () => {
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        post(tenant.slug, shop.signing_secret, { entity: 'burst', action: 'came', id: `b-${i}` }),
      ),
    )
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([202]))
    assert.equal(replies[0]!.headers.get('x-ratelimit-limit'), null)
  })
})
