// GitHub's and Stripe's own events, as they send and sign them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { startService, type Service, type TestTenant } from '../support/service.ts'
import { hmac, listener, operatorCalls, poster, type MadeWebhook } from './tools.ts'

const repository = {
  id: 1296269,
  name: 'Hello-World',
  full_name: 'octocat/Hello-World',
  owner: { login: 'octocat', id: 1 },
}
const sender = { login: 'octocat', id: 1 }

const GITHUB: [event: string, body: Record<string, unknown>, type: string, subject: string | undefined][] = [
  [
    'issues',
    { action: 'opened', issue: { number: 1347, title: 'Found a bug' }, repository, sender },
    'com.github.issues.opened',
    'octocat/Hello-World/issues/1347',
  ],
  [
    'pull_request',
    { action: 'closed', number: 7, pull_request: { number: 7, merged: true }, repository, sender },
    'com.github.pull_request.closed',
    'octocat/Hello-World/pull/7',
  ],
  [
    'push',
    { ref: 'refs/heads/main', commits: [], repository, pusher: { name: 'octocat' } },
    'com.github.push.received',
    'octocat/Hello-World',
  ],
  [
    'organization',
    { action: 'member_added', organization: { login: 'github' }, sender },
    'com.github.organization.member_added',
    'github',
  ],
  ['ping', { zen: 'Design for failure.', hook_id: 1 }, 'com.github.ping.received', undefined],
]

const invoice = { id: 'in_1MtHbELkdIwHu7ixl4OzzPMv', object: 'invoice', amount_paid: 2000, currency: 'usd' }
const STRIPE: [body: Record<string, unknown>, type: string, subject: string][] = [
  [
    { id: 'evt_1', object: 'event', type: 'invoice.paid', created: 1680064028, data: { object: invoice } },
    'com.stripe.invoice.paid',
    `invoice/${invoice.id}`,
  ],
  [
    {
      id: 'evt_2',
      object: 'event',
      type: 'customer.subscription.created',
      data: { object: { id: 'sub_1', object: 'subscription' } },
    },
    'com.stripe.customer_subscription.created',
    'subscription/sub_1',
  ],
  [
    { id: 'evt_3', object: 'event', type: 'balance', data: { object: { object: 'balance' } } },
    'com.stripe.unmapped.received',
    '',
  ],
]

onBothEngines((engine) => {
  let service: Service
  let tenant: TestTenant
  let agent: Awaited<ReturnType<typeof listener>>
  let calls: ReturnType<typeof operatorCalls>
  let github: MadeWebhook
  let stripe: MadeWebhook
  const STRIPE_SECRET = 'whsec_made_by_stripe_0123456789'

  before(async () => {
    service = await startService(engine)
    calls = operatorCalls(service)
    tenant = await service.tenant()
    agent = await listener(service, tenant)
    github = await calls.webhook({ tenant: tenant.slug, preset: 'github' })
    stripe = await calls.webhook({ tenant: tenant.slug, preset: 'stripe', signing_secret: STRIPE_SECRET })
  })
  after(() => service.stop())

  const post = (raw: string, headers: Record<string, string>) =>
    service.call(`POST /ingest/w/${tenant.slug}`, { raw, headers: { 'content-type': 'application/json', ...headers } })
  const seconds = (): number => Math.floor(service.clock.now() / 1000)
  const stripeHeader = (raw: string, time = seconds(), secret = STRIPE_SECRET) => ({
    'stripe-signature': `t=${time},v1=${hmac(secret, `${time}.${raw}`)},v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39`,
  })

  test('[OPS-1] a preset gives the source its name, its mapping is shown, and a secret may be brought along', () => {
    assert.partialDeepStrictEqual(github.webhook, { source: 'github', preset: 'github', tenant: tenant.slug })
    assert.equal(github.webhook.mapping.id, 'headers["x-github-delivery"]')
    assert.equal(stripe.signing_secret, STRIPE_SECRET)
  })

  for (const [event, body, type, subject] of GITHUB) {
    test(`[HOOK-5] [HOOK-7] GitHub's ${event} is ${type}`, async () => {
      const raw = JSON.stringify(body)
      const delivery = `72d3162e-cc78-11e3-81ab-${event}`
      const headers = {
        'x-github-event': event,
        'x-github-delivery': delivery,
        'x-hub-signature-256': `sha256=${hmac(github.signing_secret, raw)}`,
      }
      const reply = await post(raw, headers)
      assert.deepEqual([reply.status, reply.body.event_id], [202, `github:${delivery}`])
      assert.equal((await post(raw, headers)).status, 200, 'a redelivery is a duplicate')
      const payload = (await agent.poll())[0]!.payload
      assert.deepEqual([payload['type'], payload['subject'], payload['data']], [type, subject, body])
    })
  }

  for (const [body, type, subject] of STRIPE) {
    test(`[HOOK-5] [HOOK-7] Stripe's ${body['type']} is ${type}`, async () => {
      const raw = JSON.stringify(body, null, 2)
      const reply = await post(raw, stripeHeader(raw))
      assert.deepEqual([reply.status, reply.body.event_id], [202, `stripe:${body['id']}`])
      const payload = (await agent.poll())[0]!.payload
      assert.deepEqual([payload['type'], payload['subject'] ?? '', payload['original']], [type, subject, body])
      if (subject !== '') assert.deepEqual(payload['data'], (body['data'] as { object: unknown }).object)
    })
  }

  test("[HOOK-2] Stripe's signature is over its time too, which may be five minutes off and no more", async () => {
    const raw = JSON.stringify({ ...STRIPE[0]![0], id: 'evt_time' })
    for (const off of [301, -301, 86_400])
      assertError(await post(raw, stripeHeader(raw, seconds() - off)), 'authentication_failed')
    const stale = {
      'stripe-signature': stripeHeader(raw, seconds() - 1000)['stripe-signature'].replace(/t=\d+/, `t=${seconds()}`),
    }
    assertError(await post(raw, stale), 'authentication_failed')
    assertError(await post(raw, stripeHeader(raw, seconds(), 'whsec_other')), 'authentication_failed')
    for (const broken of ['', 't=', `v1=${hmac(STRIPE_SECRET, raw)}`, `t=${seconds()}`, `t=${seconds()},v1=zz`]) {
      assertError(await post(raw, { 'stripe-signature': broken }), 'authentication_failed')
    }
    assert.equal((await post(raw, stripeHeader(raw, seconds() - 299))).status, 202)
    // While Stripe rolls its secret it signs with both.
    const rolled = stripeHeader(raw)['stripe-signature'].replace('v1=', `v1=${'0'.repeat(64)},v1=`)
    assert.equal((await post(raw, { 'stripe-signature': rolled })).status, 200)
  })

  test("[HOOK-5] a provider's header is taken by its own preset only; ours by every webhook", async () => {
    const raw = JSON.stringify({ id: 'evt_x', type: 'a.b', data: { object: {} } })
    assertError(
      await post(raw, { 'x-hub-signature-256': `sha256=${hmac(STRIPE_SECRET, raw)}` }),
      'authentication_failed',
    )
    assertError(await post(raw, stripeHeader(raw, seconds(), github.signing_secret)), 'authentication_failed')
    assert.equal((await poster(service)(tenant.slug, STRIPE_SECRET, raw)).status, 202)
  })

  test('[OPS-1] [OPS-3] a secret two webhooks would share is 409, on creation and on rotation', async () => {
    const reply = await calls.operator('POST /operator/webhooks', {
      tenant: tenant.slug,
      source: 'twin',
      signing_secret: STRIPE_SECRET,
    })
    assertError(reply, 'conflict', { existing_resource_id: stripe.webhook.id })
    const rotated = await calls.operator(`POST /operator/webhooks/${github.webhook.id}/rotate`, {
      signing_secret: STRIPE_SECRET,
    })
    assertError(rotated, 'conflict', { existing_resource_id: stripe.webhook.id })
    const fresh = await calls.operator(`POST /operator/webhooks/${stripe.webhook.id}/rotate`, {
      signing_secret: 'whsec_rolled_by_stripe',
    })
    assert.equal(fresh.body.signing_secret, 'whsec_rolled_by_stripe')
  })
})
