// What a refused webhook request costs, counted in bytes hashed and secrets opened, not in time.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { hmacSha256, makeHmacTurns } from '../../../src/ingest/webhooks/hmac.ts'
import { makeReceive, type Receive } from '../../../src/ingest/webhooks/receive.ts'
import type { Secrets } from '../../../src/kernel/secrets.ts'
import { onBothEngines } from '../../support/engines.ts'
import { assertError } from '../../support/expect.ts'
import { serviceForSuite, type TestTenant } from '../../support/service.ts'
import { hmac, operatorCalls, poster, type MadeWebhook } from '../tools.ts'

const MEBIBYTE = 1_048_576
const FLOOR = 131_072

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const calls = operatorCalls(service)
  let post: ReturnType<typeof poster>
  let many: TestTenant
  let one: TestTenant
  let none: TestTenant
  let ofMany: MadeWebhook[]
  let ofOne: MadeWebhook
  before(async () => {
    post = poster(service)
    many = await service.tenant()
    one = await service.tenant()
    none = await service.tenant()
    ofMany = []
    for (let i = 0; i < 32; i++) ofMany.push(await calls.webhook({ tenant: many.slug, source: `shop-${i}` }))
    for (const { webhook } of ofMany.slice(0, 6)) await calls.operator(`POST /operator/webhooks/${webhook.id}/rotate`)
    ofOne = await calls.webhook({ tenant: one.slug, source: 'shop' })
  })

  /** The same check, counting the bytes that it hashes and the secrets that it opens. */
  function counting() {
    let hashed = 0
    let opened = 0
    const secrets: Secrets = {
      ...service.secrets,
      open: (sealed, context) => (opened++, service.secrets.open(sealed, context)),
    }
    const receive: Receive = makeReceive({
      store: service.store,
      secrets,
      publish: async () => assert.fail('nothing is published'),
      now: service.clock.now,
      limits: { begin: () => {}, refused: async () => {}, verified: async () => {} },
      hmac: (secret, prefix, body) => ((hashed += body.length), hmacSha256(secret, prefix, body)),
    })
    const refuse = async (
      slug: string,
      webhookId: string | null,
      headers: Record<string, string>,
      raw: Buffer,
    ): Promise<{ hashed: number; opened: number }> => {
      hashed = 0
      opened = 0
      const arrived = { slug, webhookId, headers, raw, address: '203.0.113.7', isClientGone: () => false }
      await assert.rejects(receive(arrived), { code: 'authentication_failed' })
      return { hashed, opened }
    }
    return refuse
  }
  const wrong = { 'x-service-signature': '0'.repeat(64) }
  const everyHeader = (): Record<string, string> => ({
    ...wrong,
    'x-hub-signature-256': `sha256=${'0'.repeat(64)}`,
    'stripe-signature': `t=${Math.floor(service.clock.now() / 1000)},v1=${'0'.repeat(64)}`,
  })

  test('[ING-2] a refusal hashes at most four times what was sent, or 128 KiB, however many webhooks there are', async () => {
    const refuse = counting()
    for (const bytes of [0, 100, 4096, 10_000, 16_384, 50_000, 200_000, MEBIBYTE]) {
      for (const headers of [wrong, everyHeader()]) {
        const { hashed, opened } = await refuse(many.slug, null, headers, Buffer.alloc(bytes))
        assert.ok(hashed <= Math.max(4 * bytes, FLOOR), `${hashed} bytes were hashed for ${bytes}`)
        assert.ok(opened <= 32 && opened >= 4, `${opened} secrets were tried`)
      }
    }
  })

  test('[ING-2] without a well-formed signature nothing is hashed and no secret is opened', async () => {
    const refuse = counting()
    const old = Math.floor(service.clock.now() / 1000) - 1000
    for (const headers of [
      {},
      { 'x-service-signature': '' },
      { 'x-service-signature': 'nonsense' },
      { 'x-hub-signature-256': 'sha1=00' },
      { 'stripe-signature': `t=${old},v1=${'0'.repeat(64)}` },
    ] as Record<string, string>[]) {
      for (const slug of [many.slug, 'no-such-tenant'])
        assert.deepEqual(await refuse(slug, null, headers, Buffer.alloc(MEBIBYTE)), { hashed: 0, opened: 0 })
    }
  })

  test('[HOOK-4] [ING-3] refusing takes the same work with no tenant, no webhook, one or many', async () => {
    const refuse = counting()
    for (const bytes of [2, 5_000, 40_000]) {
      const raw = Buffer.alloc(bytes)
      await refuse(many.slug, null, wrong, raw)
      const expected = await refuse('no-such-tenant', null, wrong, raw)
      for (const headers of [wrong, everyHeader(), { 'x-hub-signature-256': '1'.repeat(64) }]) {
        for (const slug of [many.slug, one.slug, none.slug, 'no-such-tenant', 'No Slug', 'No\0Slug'])
          assert.deepEqual(await refuse(slug, null, headers, raw), expected, slug)
      }
    }
  })

  test("[ING-3] the same holds at a webhook's own URL, where few secrets are tried", async () => {
    const refuse = counting()
    const raw = Buffer.alloc(MEBIBYTE)
    const { id } = ofMany[0]!.webhook
    const expected = { hashed: 2 * MEBIBYTE, opened: 2 }
    for (const [slug, webhookId] of [
      [many.slug, id],
      [many.slug, ofMany[9]!.webhook.id],
      [one.slug, ofOne.webhook.id],
      // Another tenant's webhook, one that never existed, and malformed ids.
      [one.slug, id],
      [one.slug, 'whk_00000000000000000000000000'],
      ['no-such-tenant', id],
      [one.slug, 'x\0y'],
    ] as const)
      assert.deepEqual(await refuse(slug, webhookId, wrong, raw), expected, `${slug}/${webhookId}`)
  })

  test('[ING-3] a webhook’s own URL accepts its secret, the previous one, and no other', async () => {
    const { webhook, signing_secret: old } = await calls.webhook({ tenant: one.slug, source: 'erp' })
    assert.equal(webhook.own_url, `${webhook.url}/${webhook.id}`)
    const at = `${one.slug}/${webhook.id}`
    assert.equal((await post(at, old, { entity: 'a', action: 'b', id: 1 })).body.event_id, 'erp:1')
    const { body } = await calls.operator(`POST /operator/webhooks/${webhook.id}/rotate`)
    assert.equal((await post(at, old, { id: 2 })).status, 202)
    assert.equal((await post(at, body.signing_secret, { id: 3 })).status, 202)
    // The tenant's URL still accepts both.
    assert.equal((await post(one.slug, body.signing_secret, { id: 4 })).status, 202)
    assertError(await post(at, ofOne.signing_secret, { id: 5 }), 'authentication_failed')
    assertError(await post(`${none.slug}/${webhook.id}`, old, { id: 6 }), 'authentication_failed')
    await calls.operator(`DELETE /operator/webhooks/${webhook.id}`)
    assertError(await post(at, body.signing_secret, { id: 7 }), 'authentication_failed')
  })

  test('[HOOK-6] [ING-3] of the secrets that were replaced within a day the last three are valid', async () => {
    const { webhook, signing_secret } = await calls.webhook({ tenant: one.slug, source: 'often' })
    const later: string[] = []
    for (let i = 0; i < 4; i++)
      later.push((await calls.operator(`POST /operator/webhooks/${webhook.id}/rotate`)).body.signing_secret)
    const at = `${one.slug}/${webhook.id}`
    assertError(await post(at, signing_secret, { id: 'first' }), 'authentication_failed')
    for (const [id, secret] of later.entries()) assert.equal((await post(at, secret, { id })).status, 202)
    await calls.operator(`DELETE /operator/webhooks/${webhook.id}`)
  })

  test("[ING-2] [HOOK-5] each of 32 webhooks is found at the tenant's URL if the body is short", async () => {
    const last = ofMany[31]!
    assert.equal((await post(many.slug, last.signing_secret, { id: 'short' })).status, 202)
    const long = { id: 'long', text: 'x'.repeat(100_000) }
    assertError(await post(many.slug, last.signing_secret, long), 'authentication_failed')
    assert.equal((await post(`${many.slug}/${last.webhook.id}`, last.signing_secret, long)).status, 202)
    // The secrets of the first webhooks are tried for a body of any size.
    const first = ofMany[3]!
    const replies = await calls.operator(`POST /operator/webhooks/${first.webhook.id}/rotate`)
    const fresh = replies.body.signing_secret
    assert.equal((await post(many.slug, fresh, { ...long, id: 'first' })).status, 202)
  })

  test('[ING-2] a long body is hashed off the main thread and verifies as a short one does', async () => {
    for (const bytes of [16_384, 16_385, 1_000_000]) {
      const raw = Buffer.alloc(bytes, 'a')
      const digest = hmacSha256('whsec_test', '12.', raw)
      assert.equal(digest instanceof Promise, bytes > 16_384)
      assert.equal((await digest).toString('hex'), hmac('whsec_test', `12.${raw.toString()}`))
    }
  })
})

test('[ING-2] long bodies take turns by address, and one address cannot fill the queue', async () => {
  const takeTurn = makeHmacTurns()
  const order: string[] = []
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
  const work = (name: string) => async () => void order.push(name)
  const running = [takeTurn('first', 's', 1, () => held), takeTurn('first', 's', 1, () => held)]
  for (let i = 0; i < 3; i++) running.push(takeTurn('greedy', 's', MEBIBYTE, work(`greedy ${i}`)))
  running.push(takeTurn('other', 's', MEBIBYTE, work('other')))
  await assert.rejects(takeTurn('greedy', 's', 30 * MEBIBYTE, work('too much')), { code: 'service_unavailable' })
  letGo()
  await Promise.all(running)
  assert.deepEqual(order.slice(0, 2).sort(), ['greedy 0', 'other'])
  assert.equal(order.length, 4)
  // What has had its turn counts no longer.
  const again = Promise.withResolvers<void>()
  const more = [takeTurn('first', 's', 1, () => again.promise), takeTurn('first', 's', 1, () => again.promise)]
  more.push(takeTurn('greedy', 's', 30 * MEBIBYTE, work('later')))
  again.resolve()
  await Promise.all(more)
  assert.equal(order.at(-1), 'later')
})
