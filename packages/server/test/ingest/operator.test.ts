// The operator's webhooks and connectors: what is accepted, what is shown, and what is never shown.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { OPERATOR_TOKEN, serviceForSuite, startService, tenantForSuite } from '../support/service.ts'
import { operatorCalls } from './tools.ts'

const PASSWORD = 'hunter2-and-more'
// Nothing listens there: only the registry is tested.
const URL = `amqp://user:${PASSWORD}@127.0.0.1:1/vh`

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const calls = operatorCalls(service)

  test('[OPS-1] a webhook shows its fields, where to post, and its secret once', async () => {
    const made = await calls.webhook({ tenant: tenant.slug, source: 'shop', mapping: { id: 'body.key' } })
    assert.deepEqual(Object.keys(made).sort(), ['signing_secret', 'url', 'webhook'])
    const { id, ...rest } = made.webhook
    assert.match(id, /^whk_[0-9a-z]{26}$/)
    assert.match(made.signing_secret, /^whsec_[A-Za-z0-9]{32}$/)
    const url = `${service.url}/ingest/w/${tenant.slug}`
    assert.deepEqual(rest, {
      tenant: tenant.slug,
      source: 'shop',
      url,
      own_url: `${url}/${id}`,
      active: true,
      created_at: new Date(service.clock.now()).toISOString(),
      mapping: {
        entity: 'body.entity',
        action: 'body.action',
        id: 'body.key',
        subject: 'entity + "/" + id',
        data: 'body',
      },
    })
    assert.equal(made.url, url)
  })

  test('[OPS-1] with PUBLIC_URL the webhook’s address begins with it', async () => {
    const other = await startService(engine, { PUBLIC_URL: 'https://events.example.com/' })
    const { slug } = await other.tenant()
    const made = await operatorCalls(other).webhook({ tenant: slug, source: 'shop' })
    assert.equal(made.url, `https://events.example.com/ingest/w/${slug}`)
    await other.stop()
  })

  test('[OPS-2] the list is newest first, of one tenant or of all, in pages, and without secrets', async () => {
    const own = await service.tenant()
    const made = [
      await calls.webhook({ tenant: own.slug, source: 'a' }),
      await calls.webhook({ tenant: own.slug, source: 'b' }),
      await calls.webhook({ tenant: own.slug, source: 'c' }),
    ]
    const list = await calls.operator(`GET /operator/webhooks?tenant=${own.slug}`)
    assert.equal(list.status, 200)
    assert.deepEqual(list.body, { webhooks: made.map(({ webhook }) => webhook).reverse(), total: 3 })
    const page = await calls.operator(`GET /operator/webhooks?tenant=${own.slug}&offset=1&limit=1`)
    assert.deepEqual(page.body, { webhooks: [made[1]!.webhook], total: 3 })
    const all = await calls.operator('GET /operator/webhooks')
    assert.ok(all.body.total > 3)
    assert.deepEqual(all.body.webhooks[0], made[2]!.webhook)
    for (const { signing_secret } of made) assert.ok(!all.text.includes(signing_secret))
    assertError(await calls.operator('GET /operator/webhooks?tenant=nobody'), 'not_found', {
      resource_type: 'tenant',
      resource_id: 'nobody',
    })
    assertError(await calls.operator('GET /operator/webhooks?limit=0'), 'validation_failed', { field: 'limit' })
  })

  const BAD: [field: string, path: string, body: object][] = [
    ['source', 'webhooks', { source: 'No Such' }],
    ['source', 'webhooks', { source: '-x' }],
    ['source', 'webhooks', { source: 'x'.repeat(64) }],
    ['source', 'webhooks', {}],
    ['preset', 'webhooks', { preset: 'gitlab' }],
    ['mapping.entity', 'webhooks', { source: 'shop', mapping: { entity: 'body.' } }],
    ['mapping.data', 'webhooks', { source: 'shop', mapping: { data: 5 } }],
    ['mapping.subject', 'connectors', { source: 'shop', url: URL, address: 'q', mapping: { subject: 'nobody.knows' } }],
    ['signing_secret', 'webhooks', { source: 'shop', signing_secret: PASSWORD.slice(0, 8) }],
    ['url', 'connectors', { source: 'shop', address: 'q' }],
    ['url', 'connectors', { source: 'shop', address: 'q', url: `http://user:${PASSWORD}@broker` }],
    ['url', 'connectors', { source: 'shop', address: 'q', url: `amqp://user:${PASSWORD}@` }],
    ['url', 'connectors', { source: 'shop', address: 'q', url: `amqp://user:${PASSWORD}%zz@broker` }],
    ['url', 'connectors', { source: 'shop', address: 'q', url: `amqp://user:${PASSWORD}%00@broker` }],
    ['address', 'connectors', { source: 'shop', url: URL, address: '' }],
    ['credit', 'connectors', { source: 'shop', url: URL, address: 'q', credit: 0 }],
    ['credit', 'connectors', { source: 'shop', url: URL, address: 'q', credit: 1001 }],
    ['tls_ca', 'connectors', { source: 'shop', url: URL, address: 'q', tls_ca: '-----BEGIN CERTIFICATE-----' }],
    [
      'tls_ca',
      'connectors',
      { source: 'shop', url: URL.replace('amqp', 'amqps'), address: 'q', tls_ca: 'no certificate' },
    ],
  ]
  for (const [field, path, body] of BAD) {
    test(`[OPS-5] [OPS-7] ${path} with ${JSON.stringify(body).slice(0, 70)} is refused for its ${field}, repeating no secret`, async () => {
      const reply = await calls.operator(`POST /operator/${path}`, { tenant: tenant.slug, ...body })
      assertError(reply, 'validation_failed', { field })
      assert.ok(!reply.text.includes(PASSWORD.slice(0, 8)), reply.text)
    })
  }

  test('[OPS-5] an unknown tenant is 404, a missing one 400', async () => {
    for (const [path, body] of [
      ['webhooks', { source: 'shop' }],
      ['connectors', { source: 'shop', url: URL, address: 'q' }],
    ] as const) {
      assertError(await calls.operator(`POST /operator/${path}`, { tenant: 'nobody', ...body }), 'not_found', {
        resource_type: 'tenant',
        resource_id: 'nobody',
      })
      assertError(await calls.operator(`POST /operator/${path}`, body), 'validation_failed', { field: 'tenant' })
    }
  })

  test('[OPS-1] a tenant has at most 32 webhooks', async () => {
    const full = await service.tenant()
    for (let i = 0; i < 32; i++) await calls.webhook({ tenant: full.slug, source: `s${i}` })
    assertError(
      await calls.operator('POST /operator/webhooks', { tenant: full.slug, source: 'one-more' }),
      'business_rule_violation',
      { rule: 'too_many_webhooks' },
    )
  })

  test('[OPS-3] [OPS-8] an unknown or malformed id is 404', async () => {
    const unknown = { webhook: 'whk_01hv3k8z9q4m7t2x5c6w8r0s1d', connector: 'cnr_01hv3k8z9q4m7t2x5c6w8r0s1d' }
    for (const id of [unknown.webhook, 'x', '%00']) {
      for (const request of [`POST /operator/webhooks/${id}/rotate`, `DELETE /operator/webhooks/${id}`])
        assertError(await calls.operator(request), 'not_found', { resource_type: 'webhook' })
    }
    for (const request of [
      `POST /operator/connectors/${unknown.connector}/pause`,
      'POST /operator/connectors/x/resume',
      `DELETE /operator/connectors/${unknown.connector}`,
    ]) {
      assertError(await calls.operator(request), 'not_found', { resource_type: 'connector' })
    }
  })

  test('[OPS-6] [ING-1] a connector shows its kind and fields, state and counts, and no user or password', async () => {
    const connector = await calls.connector({ tenant: tenant.slug, source: 'erp', url: URL, address: '/queue/orders' })
    const { id, ...rest } = connector
    assert.match(id, /^cnr_[0-9a-z]{26}$/)
    assert.deepEqual(rest, {
      tenant: tenant.slug,
      kind: 'amqp',
      source: 'erp',
      url: 'amqp://***@127.0.0.1:1/vh',
      address: '/queue/orders',
      credit: 200,
      mapping: {
        entity: 'body.entity',
        action: 'body.action',
        id: 'body.id',
        subject: 'entity + "/" + id',
        data: 'body',
      },
      state: 'starting',
      last_error: null,
      counters: { received: 0, accepted: 0, duplicates: 0, released: 0, rejected: 0 },
      last_message_at: null,
      created_at: new Date(service.clock.now()).toISOString(),
    })
    const own = await service.tenant()
    const { id: first } = await calls.connector({ tenant: own.slug, source: 'a', url: URL, address: 'q' })
    const { id: second } = await calls.connector({ tenant: own.slug, source: 'b', url: URL, address: 'q' })
    for (const [offset, wanted] of [second, first].entries()) {
      const page = await calls.operator(`GET /operator/connectors?tenant=${own.slug}&offset=${offset}&limit=1`)
      const ids = page.body.connectors.map((one: { id: string }) => one.id)
      assert.deepEqual([ids, page.body.total], [[wanted], 2])
    }
  })

  test('[OPS-7] [OPS-8] [AMQP-8] a connector’s state and error are listed; pausing and deleting repeat', async () => {
    const own = await service.tenant()
    const { id } = await calls.connector({ tenant: own.slug, source: 'erp', url: URL, address: 'q' })
    const shown = async () => (await calls.operator(`GET /operator/connectors?tenant=${own.slug}`)).body
    const looked = async () => {
      await service.app.runOnce.superviseConnectors()
      return (await shown()).connectors[0]
    }
    let connector = await looked()
    // The broker is away: the refusal arrives when the socket says so.
    while (connector.state === 'starting') connector = await looked()
    assert.equal(connector.state, 'reconnecting')
    assert.match(connector.last_error, /ECONNREFUSED/)
    assert.equal((await shown()).total, 1)
    const metrics = (await service.call('GET /metrics')).text
    assert.match(metrics, /sensorium_connectors\{state="reconnecting"\} [1-9]/)
    assert.match(metrics, /sensorium_connector_messages_total\{outcome="accepted"\} 0/)
    assert.ok(!metrics.includes(own.slug) && !metrics.includes(own.id), 'no label names a tenant')

    for (let i = 0; i < 2; i++) {
      const paused = await calls.operator(`POST /operator/connectors/${id}/pause`)
      assert.deepEqual([paused.status, paused.body.connector.state], [200, 'paused'])
    }
    assert.equal((await looked()).state, 'paused')
    for (let i = 0; i < 2; i++) {
      const resumed = await calls.operator(`POST /operator/connectors/${id}/resume`)
      assert.equal(resumed.status, 200)
      assert.notEqual(resumed.body.connector.state, 'paused')
    }
    assert.notEqual((await looked()).state, 'paused')
    const gone = await calls.operator(`DELETE /operator/connectors/${id}`)
    assert.deepEqual([gone.status, gone.text], [204, ''])
    assert.deepEqual(await shown(), { connectors: [], total: 0 })
    assertError(await calls.operator(`DELETE /operator/connectors/${id}`), 'not_found')
  })

  test('[OPS-10] [OPS-7] neither secret nor password is in the store in plain text', async () => {
    const { signing_secret } = await calls.webhook({ tenant: tenant.slug, source: 'shop' })
    await calls.connector({ tenant: tenant.slug, source: 'erp', url: URL, address: 'q' })
    const dump = JSON.stringify([
      await service.store.rows('select * from webhooks'),
      await service.store.rows('select * from connectors'),
      await service.store.rows('select * from connector_leases'),
    ])
    assert.ok(!dump.includes(signing_secret) && !dump.includes(signing_secret.slice(6)) && !dump.includes(PASSWORD))
  })

  test('[OPS-1] a retry with the same Idempotency-Key gets the same secret, and its record is sealed', async () => {
    const options = {
      token: OPERATOR_TOKEN,
      body: { tenant: tenant.slug, source: 'once' },
      headers: { 'idempotency-key': 'webhook-once' },
    }
    const [first, second] = [
      await service.call('POST /operator/webhooks', options),
      await service.call('POST /operator/webhooks', options),
    ]
    assert.deepEqual(second.body, first.body)
    assert.equal(second.headers.get('idempotent-replayed'), 'true')
    assert.ok(
      !JSON.stringify(await service.store.rows('select body from idempotency')).includes(first.body.signing_secret),
    )
  })

  test('[OPS-1] [OPS-6] all of it needs the operator token', async () => {
    for (const request of ['GET /operator/webhooks', 'POST /operator/connectors', 'GET /operator/connectors']) {
      assertError(await service.call(request, { token: tenant.admin }), 'authentication_failed')
    }
  })
})
