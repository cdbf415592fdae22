// GitHub's and Stripe's own events, as they send and sign them.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { onBothEngines } from '../../support/engines.ts'
import { assertError } from '../../support/expect.ts'
import { serviceForSuite, tenantForSuite } from '../../support/service.ts'
import { hmac, listener, operatorCalls, poster, type MadeWebhook } from '../tools.ts'

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

const SHORT_REPOSITORY = { full_name: 'octocat/Hello-World' }

/** With the URLs that GitHub repeats for every user and object. */
function pullRequest(): Record<string, unknown> {
  const addresses = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, i) => [
        `thing${i}_url`,
        `https://api.github.com/repos/octocat/Hello-World/things/${i}{/sha}`,
      ]),
    )
  const user = { login: 'octocat', id: 1, node_id: 'MDQ6', type: 'User', site_admin: false, ...addresses(14) }
  const repo = { ...repository, node_id: 'MDEw', owner: user, ...addresses(44), permissions: { admin: true } }
  const side = (ref: string, sha: string) => ({ ref, sha, user, repo })
  const url = 'https://api.github.com/repos/octocat/Hello-World/pulls/7'
  return {
    action: 'opened',
    number: 7,
    pull_request: {
      url,
      id: 1,
      node_id: 'PR_1',
      number: 7,
      title: 'Cool the pump',
      body: 'It runs hot.',
      html_url: 'https://github.com/octocat/Hello-World/pull/7',
      merged: false,
      merged_at: null,
      user,
      labels: [{ id: 5, node_id: 'LA_5', url, name: 'bug' }],
      head: side('cool', 'abc'),
      base: side('main', 'def'),
      _links: Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`link${i}`, { href: url }])),
      ...addresses(12),
    },
    repository: repo,
    sender: user,
  }
}

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
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  let agent: Awaited<ReturnType<typeof listener>>
  const calls = operatorCalls(service)
  let github: MadeWebhook
  let stripe: MadeWebhook
  const STRIPE_SECRET = 'whsec_made_by_stripe_0123456789'
  before(async () => {
    agent = await listener(service, tenant)
    github = await calls.webhook({ tenant: tenant.slug, preset: 'github' })
    stripe = await calls.webhook({ tenant: tenant.slug, preset: 'stripe', signing_secret: STRIPE_SECRET })
  })

  const post = (raw: string, headers: Record<string, string>) =>
    service.call(`POST /ingest/w/${tenant.slug}`, { raw, headers: { 'content-type': 'application/json', ...headers } })
  const seconds = (): number => Math.floor(service.clock.now() / 1000)
  const stripeHeader = (raw: string, time = seconds(), secret = STRIPE_SECRET) => ({
    'stripe-signature': `t=${time},v1=${hmac(secret, `${time}.${raw}`)},v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39`,
  })

  test('[OPS-1] a preset names the source, its mapping is shown, and a secret may be given', async () => {
    assert.partialDeepStrictEqual(github.webhook, { source: 'github', preset: 'github', tenant: tenant.slug })
    assert.equal(github.webhook.mapping.id, 'headers["x-github-delivery"]')
    assert.equal(stripe.signing_secret, STRIPE_SECRET)
    const { slug } = await service.tenant()
    const { webhook } = await calls.webhook({ tenant: slug, preset: 'github', source: 'code' })
    assert.deepEqual([webhook.source, webhook.preset], ['code', 'github'])
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
      assert.deepEqual([payload['type'], payload['subject'], payload['original']], [type, subject, body])
      assert.equal((payload['data'] as { action?: string }).action, body['action'])
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
      else assert.deepEqual(payload['data'], body, 'what cannot be mapped is kept whole')
    })
  }

  const sendGithub = (event: string, delivery: string, raw: string, contentType: string) =>
    post(raw, {
      'content-type': contentType,
      'x-github-event': event,
      'x-github-delivery': delivery,
      'x-hub-signature-256': `sha256=${hmac(github.signing_secret, raw)}`,
    })

  test('[ING-4] of GitHub’s pull request, data has what an agent needs, and original has all', async () => {
    const body = pullRequest()
    const raw = JSON.stringify(body)
    assert.ok(raw.length > 20_000, 'as long as real ones are')
    assert.equal((await sendGithub('pull_request', 'long-1', raw, 'application/json')).status, 202)
    const payload = (await agent.poll())[0]!.payload
    assert.deepEqual(payload['original'], body)
    assert.ok(JSON.stringify(payload['data']).length < raw.length / 10, JSON.stringify(payload['data']))
    assert.deepEqual(payload['data'], {
      action: 'opened',
      number: 7,
      pull_request: {
        id: 1,
        number: 7,
        title: 'Cool the pump',
        body: 'It runs hot.',
        html_url: 'https://github.com/octocat/Hello-World/pull/7',
        merged: false,
        user: { login: 'octocat' },
        labels: [{ id: 5, name: 'bug' }],
        head: { ref: 'cool', sha: 'abc', user: { login: 'octocat' }, repo: SHORT_REPOSITORY },
        base: { ref: 'main', sha: 'def', user: { login: 'octocat' }, repo: SHORT_REPOSITORY },
      },
      repository: SHORT_REPOSITORY,
      sender: { login: 'octocat' },
    })
  })

  test('[ING-4] of Stripe’s invoice, data has its own fields; nested objects are ids or left to original', async () => {
    const object = {
      ...invoice,
      customer: { id: 'cus_1', object: 'customer', email: 'a@example.com' },
      lines: { object: 'list', data: Array.from({ length: 50 }, (_, i) => ({ id: `il_${i}`, amount: i })) },
      default_tax_rates: [],
      description: null,
      metadata: { order: 'o-1' },
    }
    const body = {
      id: 'evt_long',
      object: 'event',
      type: 'invoice.updated',
      data: { object, previous_attributes: { status: 'draft', metadata: { order: null } } },
    }
    const raw = JSON.stringify(body)
    assert.equal((await post(raw, stripeHeader(raw))).status, 202)
    const payload = (await agent.poll())[0]!.payload
    assert.deepEqual(payload['data'], {
      ...invoice,
      customer: 'cus_1',
      metadata: { order: 'o-1' },
      previous_attributes: { status: 'draft', metadata: { order: null } },
    })
    assert.deepEqual(payload['original'], body)
  })

  test('[ING-4] an expression replaces the short data, may read it, or takes the whole body', async () => {
    for (const [data, expected] of [
      ['body', GITHUB[0]![1]],
      ['{"title": compact.issue.title, "by": compact.sender.login}', { title: 'Found a bug', by: 'octocat' }],
    ] as const) {
      const { webhook, signing_secret } = await calls.webhook({
        tenant: tenant.slug,
        preset: 'github',
        source: 'forge',
        mapping: { data },
      })
      const raw = JSON.stringify(GITHUB[0]![1])
      const headers = {
        'x-github-event': 'issues',
        'x-github-delivery': data,
        'x-hub-signature-256': hmac(signing_secret, raw),
      }
      assert.equal((await post(raw, headers)).status, 202)
      assert.deepEqual((await agent.poll())[0]!.payload['data'], expected)
      await calls.operator(`DELETE /operator/webhooks/${webhook.id}`)
    }
  })

  const FORM = 'application/x-www-form-urlencoded'
  test("[ING-5] GitHub's form encoding is read like its JSON, and the signature is over the bytes sent", async () => {
    const json = JSON.stringify({ ...GITHUB[0]![1], note: 'a+b & c = 100 % “é”' })
    const raw = new URLSearchParams({ payload: json }).toString()
    assert.equal((await sendGithub('issues', 'form-1', raw, FORM)).status, 202)
    const payload = (await agent.poll())[0]!.payload
    assert.deepEqual([payload['type'], payload['original']], ['com.github.issues.opened', JSON.parse(json)])
    assertError(await sendGithub('issues', 'form-2', 'other=1', FORM), 'validation_failed', { field: 'body' })
    assertError(await sendGithub('issues', 'form-3', 'payload=%7B', FORM), 'validation_failed', { field: 'body' })
    assertError(await sendGithub('issues', 'form-4', json, 'text/plain'), 'unsupported_media_type')
    // No other webhook takes a form, and an unsigned request learns nothing.
    const stripeForm = await post(raw, { ...stripeHeader(raw), 'content-type': FORM })
    assertError(stripeForm, 'unsupported_media_type')
    const unsigned = { 'content-type': FORM, 'x-hub-signature-256': hmac('whsec_wrong', raw) }
    assertError(await post(raw, unsigned), 'authentication_failed')
  })

  test("[HOOK-2] Stripe's signature covers its time, which may be at most five minutes off", async () => {
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
    assert.equal((await post(raw, stripeHeader(raw, seconds() - 300))).status, 202)
    // While Stripe rolls its secret it signs with both.
    const after = (others: number) => ({
      'stripe-signature': stripeHeader(raw)['stripe-signature'].replace(
        'v1=',
        `${`v1=${'0'.repeat(64)},`.repeat(others)}v1=`,
      ),
    })
    assert.equal((await post(raw, after(1))).status, 200)
    assert.equal((await post(raw, after(3))).status, 200)
    assertError(await post(raw, after(4)), 'authentication_failed')
    const first = stripeHeader(raw)['stripe-signature'].replace(',v0=', `,v1=${'0'.repeat(64)},v0=`)
    assert.equal((await post(raw, { 'stripe-signature': first })).status, 200)
  })

  test("[HOOK-5] a provider's header is accepted by its own preset only; ours by every webhook", async () => {
    const raw = JSON.stringify({ id: 'evt_x', type: 'a.b', data: { object: {} } })
    assertError(
      await post(raw, { 'x-hub-signature-256': `sha256=${hmac(STRIPE_SECRET, raw)}` }),
      'authentication_failed',
    )
    assertError(await post(raw, stripeHeader(raw, seconds(), github.signing_secret)), 'authentication_failed')
    assert.equal((await poster(service)(tenant.slug, STRIPE_SECRET, raw)).status, 202)
  })

  test('[OPS-1] [OPS-3] a secret that two webhooks would share is 409, on creation and on rotation', async () => {
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
