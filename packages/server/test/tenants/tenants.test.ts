// The operator's API: tenants, org-admin keys, usage.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { meter } from '../../src/tenants/usage.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { OPERATOR_TOKEN, serviceForSuite, startService } from '../support/service.ts'

const DAY = 86_400_000
const SLUG = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  const create = (body: unknown) => service.call('POST /operator/tenants', { token: OPERATOR_TOKEN, body })
  const exchange = (api_key: string) => service.call('POST /v1/auth/token', { body: { api_key } })
  const usage = (slug: string) => service.call(`GET /operator/usage?tenant=${slug}`, { token: OPERATOR_TOKEN })

  test('[TEN-1] a new tenant comes with an org-admin key that works at once', async () => {
    const { status, body } = await create({ slug: 'acme', name: 'Acme & Söhne' })
    assert.equal(status, 201)
    assert.deepEqual(Object.keys(body).sort(), ['admin_key', 'tenant'])
    assert.deepEqual(body.tenant, {
      id: body.tenant.id,
      slug: 'acme',
      name: 'Acme & Söhne',
      created_at: new Date(service.clock.now()).toISOString(),
    })
    assert.match(body.tenant.id, /^ten_[0-9a-hjkmnp-tv-z]{26}$/)
    const token = await exchange(body.admin_key)
    assert.equal(token.status, 200)
    const agents = await service.call('GET /v1/agents', { token: token.body.access_token })
    assert.deepEqual(agents.body, { agents: [], total: 0 })
  })

  test('[TEN-1] without a name the slug is the name', async () => {
    assert.equal((await create({ slug: 'nameless' })).body.tenant.name, 'nameless')
    for (const name of ['', ' ', 7, null, 'x'.repeat(256)]) {
      assertError(await create({ slug: 'unnamed', name }), 'validation_failed', { field: 'name' })
    }
  })

  test('[TEN-2] a slug has 1 to 63 lower-case letters, digits and inner hyphens', async () => {
    for (const slug of ['a', '0', 'a-b', 'a--b', 'x'.repeat(63), '0-9'])
      assert.equal((await create({ slug })).status, 201, slug)
    const wrong = [
      '',
      '-',
      '-a',
      'a-',
      'A',
      'a_b',
      'a.b',
      'a b',
      'ä',
      'a\n',
      'x'.repeat(64),
      '../a',
      'a/b',
      7,
      null,
      ['a'],
      undefined,
    ]
    for (const slug of wrong) assertError(await create({ slug }), 'validation_failed', { field: 'slug' })
  })

  test('[TEN-2] any slug is accepted exactly if it matches the pattern', async () => {
    const letters = fc.constantFrom(...'az09-A_. é\n')
    let n = 0
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: letters, minLength: 0, maxLength: 5 }), async (text) => {
        const slug = text === '' ? text : `${text}${text.endsWith('-') ? '' : (n++).toString(36)}`
        const { status } = await create({ slug })
        assert.ok(
          SLUG.test(slug) ? status === 201 || status === 409 : status === 400,
          `${JSON.stringify(slug)} ${status}`,
        )
      }),
      { numRuns: 60 },
    )
  })

  test('[TEN-2] [HTTP-15] a slug that is taken is 409, and its tenant is unchanged', async () => {
    const first = await create({ slug: 'taken', name: 'First' })
    assertError(await create({ slug: 'taken', name: 'Second' }), 'conflict', {
      existing_resource_id: first.body.tenant.id,
      idempotency_key: null,
    })
    const { body } = await service.call('GET /operator/tenants?limit=200', { token: OPERATOR_TOKEN })
    assert.deepEqual(
      body.tenants.filter(({ slug }: { slug: string }) => slug === 'taken'),
      [first.body.tenant],
    )
    const keys = await service.store.rows('select id from api_keys where tenant_id = ?', [first.body.tenant.id])
    assert.equal(keys.length, 1)
  })

  test('[TEN-2] of many concurrent requests for one slug one gets it', async () => {
    const replies = await Promise.all(Array.from({ length: 8 }, () => create({ slug: 'wanted' })))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409, 409, 409])
    const id = replies.find(({ status }) => status === 201)!.body.tenant.id
    for (const reply of replies.filter(({ status }) => status === 409))
      assertError(reply, 'conflict', { existing_resource_id: id })
  })

  test('[TEN-3] further org-admin keys work beside the first, for the same org-admin', async () => {
    const { admin_key, tenant } = (await create({ slug: 'many-keys' })).body
    const more = await service.call('POST /operator/tenants/many-keys/admin-keys', { token: OPERATOR_TOKEN })
    assert.equal(more.status, 201)
    assert.deepEqual(Object.keys(more.body), ['admin_key'])
    assert.notEqual(more.body.admin_key, admin_key)
    const subjects = new Set<string>()
    for (const key of [admin_key, more.body.admin_key]) {
      const { body } = await exchange(key)
      const claims = JSON.parse(Buffer.from(body.access_token.split('.')[1], 'base64url').toString())
      assert.equal(claims.tid, tenant.id)
      subjects.add(claims.sub)
    }
    assert.equal(subjects.size, 1)
    for (const slug of ['nobody', 'MANY-KEYS', '%00', 'x'.repeat(100)]) {
      assertError(
        await service.call(`POST /operator/tenants/${slug}/admin-keys`, { token: OPERATOR_TOKEN }),
        'not_found',
        { resource_type: 'tenant' },
      )
    }
  })

  test('[TEN-3] the list has every tenant and no key', async () => {
    const node = await startService(engine)
    assert.deepEqual((await node.call('GET /operator/tenants', { token: OPERATOR_TOKEN })).body, {
      tenants: [],
      total: 0,
    })
    const made = (await node.call('POST /operator/tenants', { token: OPERATOR_TOKEN, body: { slug: 'one' } })).body
    const list = await node.call('GET /operator/tenants', { token: OPERATOR_TOKEN })
    assert.deepEqual(list.body, { tenants: [made.tenant], total: 1 })
    await node.stop()
  })

  test('[TEN-4] usage is counted by day and tenant, the newest day first', async () => {
    const [tenant, other] = [await service.tenant('metered'), await service.tenant('unmetered')]
    assert.deepEqual((await usage('metered')).body, { tenant: 'metered', days: [] })
    const now = service.clock.now()
    await service.store.tx(async (tx) => meter(tx, now - DAY, [[tenant.id, 'events', 2]]))
    await Promise.all(
      Array.from({ length: 10 }, () =>
        service.store.tx(async (tx) =>
          meter(tx, now, [
            [tenant.id, 'events', 1],
            [tenant.id, 'deliveries', 3],
            [tenant.id, 'memories', 0],
            [other.id, 'searches', 1],
          ]),
        ),
      ),
    )
    const nothing = { events: 0, deliveries: 0, acknowledgements: 0, memories: 0, searches: 0 }
    assert.deepEqual((await usage('metered')).body, {
      tenant: 'metered',
      days: [
        { date: '2030-01-01', ...nothing, events: 10, deliveries: 30 },
        { date: '2029-12-31', ...nothing, events: 2 },
      ],
    })
    assert.deepEqual((await usage('unmetered')).body.days, [{ date: '2030-01-01', ...nothing, searches: 10 }])
  })

  test('[TEN-4] usage counts what is published, delivered and acknowledged', async () => {
    const tenant = await service.tenant('busy')
    const agent = await tenant.agent()
    const call = (request: string, body?: unknown) => service.call(request, { token: agent.token, body })
    await call(`POST /v1/agents/${agent.id}/interests`, {
      event_type: 'com.example.*',
      priority: 0,
      enrichment_depth: 'none',
    })
    const event = (id: string, type: string) => ({ specversion: '1.0', type, source: '/test', id })
    for (const id of ['1', '2', '3'])
      assert.equal((await call('POST /v1/events', event(id, 'com.example.heard'))).status, 202)
    assert.equal((await call('POST /v1/events', event('4', 'org.example.unheard'))).status, 202)
    assert.equal((await call('POST /v1/events', event('1', 'com.example.heard'))).body.status, 'duplicate')
    assertError(await call('POST /v1/events', event('5', '')), 'invalid_event')
    const { deliveries } = (await call('GET /v1/delivery/poll?limit=2')).body
    const delivery_ids = deliveries.map(({ id }: { id: string }) => id)
    for (let twice = 0; twice < 2; twice++) await call('POST /v1/delivery/ack', { delivery_ids })
    assert.deepEqual((await usage('busy')).body.days, [
      { date: '2030-01-01', events: 4, deliveries: 3, acknowledgements: 2, memories: 0, searches: 0 },
    ])
  })

  test('[TEN-4] usage needs an existing tenant', async () => {
    assertError(await usage('nobody'), 'not_found', { resource_type: 'tenant', resource_id: 'nobody' })
    assertError(await usage('No%20Slug'), 'validation_failed', { field: 'tenant' })
    assertError(await service.call('GET /operator/usage', { token: OPERATOR_TOKEN }), 'validation_failed', {
      field: 'tenant',
    })
    assertError(
      await service.call('GET /operator/usage?tenant=a&tenant=b', { token: OPERATOR_TOKEN }),
      'validation_failed',
      { field: 'tenant' },
    )
  })

  test('[TEN-5] a missing or wrong operator token is 401', async () => {
    const near = [
      `Bearer ${OPERATOR_TOKEN}x`,
      `Bearer ${OPERATOR_TOKEN.slice(1)}`,
      `Basic ${OPERATOR_TOKEN}`,
      OPERATOR_TOKEN,
    ]
    for (const authorization of [undefined, 'Bearer', 'Bearer wrong', ...near]) {
      const reply = await service.call('POST /operator/tenants', {
        body: { slug: 'sneaky' },
        headers: authorization ? { authorization } : {},
      })
      assertError(reply, 'authentication_failed')
    }
    assertError(await usage('sneaky'), 'not_found')
    assertError(await service.call('GET /operator/nothing', { token: OPERATOR_TOKEN }), 'not_found', {
      resource_type: 'path',
    })
  })

  test('[TEN-5] without a configured operator token there is no operator API', async () => {
    const closed = await startService(engine, { OPERATOR_TOKEN: '' })
    const methods = ['GET /operator/tenants', 'POST /operator/tenants', 'DELETE /operator/tenants']
    for (const request of [...methods, 'GET /operator/usage?tenant=a', 'GET /operator/nothing', 'GET /operator']) {
      for (const token of [OPERATOR_TOKEN, '', null]) {
        const reply = await closed.call(request, { token })
        assertError(reply, 'not_found', { resource_type: 'path', resource_id: request.split(' ')[1]!.split('?')[0] })
      }
    }
    await closed.stop()
  })
})
