// The error catalogue, as a caller meets it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { onBothEngines, POSTGRES_URL } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { inFlight } from '../support/in-flight.ts'
import { rawConnection } from '../support/raw-http.ts'
import {
  AGENT,
  OPERATOR_TOKEN,
  serviceForSuite,
  startService,
  tenantForSuite,
  type CallOptions,
} from '../support/service.ts'
import { turnsUntil } from '../support/turns-until.ts'

const NO_AGENT = 'agt_01hv3k8z9q4m7t2x5c6w8r0s1d'
const KEY = 'ak_live_aVeryUnlikelyKey0123456789abcdef'

/** A deep copy of `body` with the value at `path` (such as `scopes[1]`) replaced; `body` stands for all of it. */
function withField(body: unknown, path: string, value: unknown): unknown {
  if (path === 'body') return value
  const copy = structuredClone(body) as Record<string, unknown>
  const [name, index] = path.split(/[[\]]/) as [string, string | undefined]
  if (index === undefined) copy[name] = value
  else (copy[name] as unknown[])[Number(index)] = value
  return copy
}

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)

  // Invalid requests, with the field that the error names and the value that it reports.
  const invalid: [request: string, body: unknown, field: string, value: unknown][] = [
    ['POST /v1/agents', { ...AGENT, name: undefined }, 'name', null],
    ['POST /v1/agents', { ...AGENT, name: 7 }, 'name', 7],
    ['POST /v1/agents', { ...AGENT, name: { a: [1] } }, 'name', { a: [1] }],
    ['POST /v1/agents', { ...AGENT, delivery_mode: 'pigeon' }, 'delivery_mode', 'pigeon'],
    ['POST /v1/agents', { ...AGENT, client_type: 'telex' }, 'client_type', 'telex'],
    ['POST /v1/agents', { ...AGENT, client_type: undefined }, 'client_type', null],
    ['POST /v1/agents', { ...AGENT, description: 'd'.repeat(5000) }, 'description', 'd'.repeat(200)],
    ['POST /v1/agents', { ...AGENT, description: '\u{1f600}'.repeat(5000) }, 'description', '\u{1f600}'.repeat(200)],
    ['POST /v1/agents', { ...AGENT, team_id: ['x'.repeat(300)] }, 'team_id', `["${'x'.repeat(198)}`],
    ['POST /v1/agents', [AGENT], 'body', [AGENT]],
    ['PATCH /v1/agents/AGENT', { delivery_endpoint: 'not a url' }, 'delivery_endpoint', 'not a url'],
    ['PATCH /v1/agents/AGENT', 'text', 'body', 'text'],
    ['POST /v1/agents/AGENT/keys', {}, 'scopes', null],
    ['POST /v1/agents/AGENT/keys', { scopes: [] }, 'scopes', []],
    ['POST /v1/agents/AGENT/keys', { scopes: ['send', 'fly'] }, 'scopes[1]', 'fly'],
    ['POST /v1/agents/AGENT/keys', { scopes: ['send', 'send', null] }, 'scopes[2]', null],
    ['POST /v1/agents/AGENT/keys', { scopes: ['send'], expires_at: 'tomorrow' }, 'expires_at', 'tomorrow'],
    [
      'POST /v1/agents/AGENT/keys',
      { scopes: ['send'], expires_at: '2001-01-01T00:00:00Z' },
      'expires_at',
      '2001-01-01T00:00:00Z',
    ],
    ['POST /operator/tenants', { slug: 'Not A Slug' }, 'slug', 'Not A Slug'],
    ['POST /operator/tenants', { slug: 'fine', name: ' ' }, 'name', ' '],
    ['POST /operator/tenants', null, 'body', null],
  ]

  for (const [request, body, field, value] of invalid) {
    test(`[ERR-1] [HTTP-19] ${request} refuses ${field} ${JSON.stringify(value).slice(0, 40)} and gives an example that passes`, async () => {
      const agent = request.includes('AGENT') ? (await tenant.agent()).id : ''
      const token = request.includes('/operator') ? OPERATOR_TOKEN : tenant.admin
      const send = (sent: unknown) => service.call(request.replace('AGENT', agent), { token, body: sent })
      const details = assertError(await send(body), 'validation_failed', { field })
      assert.deepEqual(details['value'], value)
      assert.match(String(details['expected']), /\w/)
      const better = await send(withField(body, field, details['example']))
      // The example passes the schema; a slug may still be taken.
      assert.ok(
        better.status < 300 || better.status === 409,
        `example ${JSON.stringify(details['example'])}: ${better.text}`,
      )
    })
  }

  const queries = [
    'limit=0',
    'limit=201',
    'limit=1.5',
    'limit=ten',
    'limit=',
    'offset=-1',
    'offset=x',
    'status=asleep',
    'limit=1&limit=2',
  ]
  for (const query of queries) {
    test(`[ERR-1] [HTTP-18] [HTTP-19] GET /v1/agents?${query} names the parameter and gives an example that passes`, async () => {
      const field = query.split('=')[0]!
      const details = assertError(
        await service.call(`GET /v1/agents?${query}`, { token: tenant.admin }),
        'validation_failed',
        { field },
      )
      assert.equal(
        (await service.call(`GET /v1/agents?${field}=${details['example']}`, { token: tenant.admin })).status,
        200,
      )
    })
  }

  test('[ERR-1] [HTTP-18] a refused parameter is shown as it was sent', async () => {
    for (const [query, value] of [
      ['limit=0201', '0201'],
      ['limit=201', 201],
      ['offset=9007199254740993', '9007199254740993'],
    ] as const) {
      const reply = await service.call(`GET /v1/agents?${query}`, { token: tenant.admin })
      assertError(reply, 'validation_failed', { value })
    }
  })

  test('[ERR-1] [HTTP-2] a request with too long a head is told so', async () => {
    const reply = await service.call(`GET /v1/memories?search=${'x'.repeat(17_000)}`, { token: tenant.admin })
    assertError(reply, 'validation_failed', { expected: 'a path, query and headers of at most 16 KiB together' })
  })

  test('[HTTP-19] broken JSON is answered with an example of the body', async () => {
    const send = (raw: string) =>
      service.call('POST /v1/agents', { token: tenant.admin, raw, headers: { 'content-type': 'application/json' } })
    const details = assertError(await send(`{"name": "${'x'.repeat(300)}`), 'validation_failed', { field: 'body' })
    assert.equal(details['value'], `{"name": "${'x'.repeat(190)}`)
    assert.equal((await send(JSON.stringify(details['example']))).status, 201)
  })

  test('[HTTP-19] [AUTH-2] a submitted API key is never sent back, however it was wrapped', async () => {
    const bodies = [
      `{"api_key":"${KEY}x"}`,
      `{"api_key":["${KEY}"]}`,
      `{"api_key":{"key":"${KEY}"}}`,
      `"${KEY}"`,
      `["${KEY}"]`,
      `{"api_key":"${KEY}"`,
    ]
    for (const raw of bodies) {
      const reply = await service.call('POST /v1/auth/token', { raw, headers: { 'content-type': 'application/json' } })
      assertError(reply, 'validation_failed')
      assert.equal(reply.text.includes(KEY), false, raw)
    }
  })

  test('[HTTP-20] lengths are counted in code points, and white space alone is empty', async () => {
    const post = (name: string) => service.call('POST /v1/agents', { token: tenant.admin, body: { ...AGENT, name } })
    for (const name of ['a', '\u{1f600}'.repeat(255), 'e\u0301'.repeat(127), ' a ']) {
      const reply = await post(name)
      assert.equal(reply.status, 201)
      assert.equal(reply.body.name, name)
    }
    const empty = ['', ' ', '\t\n\r ', '\u00a0', '\u3000\u2003', '\u2028', '\u0085']
    for (const name of [...empty, '\u{1f600}'.repeat(256), 'a'.repeat(256), 'nul\0']) {
      assertError(await post(name), 'validation_failed', { field: 'name' })
    }
  })

  test('[ERR-3] whatever is wrong with a credential, the response is the same', async () => {
    const answers = new Set<string>()
    const near = [`bearer  ${tenant.admin}`, `Bearer ${tenant.admin}x`, `Token ${tenant.admin}`]
    for (const authorization of [undefined, '', 'Bearer', 'Bearer ', 'Basic abc', ...near]) {
      const reply = await service.call('GET /v1/agents', {
        headers: { ...(authorization === undefined ? {} : { authorization }), 'x-request-id': 'same' },
      })
      assert.deepEqual(assertError(reply, 'authentication_failed'), {})
      answers.add(reply.text)
    }
    answers.add(
      (await service.call('POST /v1/auth/token', { body: { api_key: KEY }, headers: { 'x-request-id': 'same' } })).text,
    )
    assert.equal(answers.size, 1)
    assert.equal(
      (await service.call('GET /v1/agents', { headers: { authorization: `bearer ${tenant.admin}` } })).status,
      200,
    )
  })

  test('[ERR-5] not_found says what was looked for', async () => {
    const agent = await tenant.agent()
    const admin = { token: tenant.admin }
    assertError(await service.call(`GET /v1/agents/${NO_AGENT}`, admin), 'not_found', {
      resource_type: 'agent',
      resource_id: NO_AGENT,
    })
    const key = await service.call(`DELETE /v1/agents/${agent.id}/keys/key_nope`, admin)
    assertError(key, 'not_found', { resource_type: 'api_key', resource_id: 'key_nope' })
    const usage = await service.call('GET /operator/usage?tenant=nobody', { token: OPERATOR_TOKEN })
    assertError(usage, 'not_found', { resource_type: 'tenant', resource_id: 'nobody' })
  })

  test('[ERR-6] [HTTP-15] a conflict names the existing resource', async () => {
    const taken = await service.call('POST /operator/tenants', { token: OPERATOR_TOKEN, body: { slug: tenant.slug } })
    assertError(taken, 'conflict', { existing_resource_id: tenant.id, idempotency_key: null })
    const headers = { 'idempotency-key': 'err-6' }
    const first = await service.call('POST /v1/agents', { token: tenant.admin, body: AGENT, headers })
    const reused = await service.call('POST /v1/agents', {
      token: tenant.admin,
      body: { ...AGENT, name: 'Other' },
      headers,
    })
    assertError(reused, 'conflict', { idempotency_key: 'err-6', existing_resource_id: first.body.id })
  })

  test('[ERR-2] [HTTP-8] a fault in an event is reported as invalid_event', async () => {
    const { token } = await tenant.agent()
    const event = { specversion: '1.0', type: 'com.example.x', source: '/x', id: 'x' }
    const send = (raw: string) =>
      service.call('POST /v1/events', { token, raw, headers: { 'content-type': 'application/json' } })
    for (const field of Object.keys(event)) {
      const { [field]: _, ...rest } = event as Record<string, string>
      assertError(await send(JSON.stringify(rest)), 'invalid_event', { field })
    }
    assertError(await send(JSON.stringify({ ...event, specversion: '0.3' })), 'invalid_event', {
      field: 'specversion',
      value: '0.3',
    })
    for (const raw of ['{', '', '[]', 'null', '"x"']) assertError(await send(raw), 'invalid_event', { field: 'body' })
  })

  test('[ERR-8] a broken rule is named and described', async () => {
    const [agent, other] = [await tenant.agent(), await tenant.agent()]
    const interest = (id: string) =>
      service.call(`POST /v1/agents/${id}/interests`, {
        token: agent.token,
        body: { event_type: 'com.example.*', priority: 0, enrichment_depth: 'none' },
      })
    const foreign = assertError(await interest(other.id), 'business_rule_violation', { rule: 'self_only' })
    assert.match(String(foreign['message']), /\w+ \w+/)
    assert.equal((await interest(agent.id)).status, 201)
    assertError(await interest(agent.id), 'business_rule_violation', { rule: 'interest_conflict' })
  })

  test('[HTTP-4] [HTTP-5] existence is checked before the rules of the domain', async () => {
    const { token } = await tenant.agent()
    const body = { event_type: 'com.example.*', priority: 0, enrichment_depth: 'none' }
    assertError(await service.call(`POST /v1/agents/${NO_AGENT}/interests`, { token, body }), 'not_found', {
      resource_type: 'agent',
    })
  })

  test('[ERR-10] [IDEM-7] an unexpected failure is 500 without internals, and the request may be retried', async () => {
    const create: CallOptions = {
      token: tenant.admin,
      body: { ...AGENT, name: 'After the failure' },
      headers: { 'idempotency-key': 'err-10' },
    }
    await service.store.tx((tx) => tx.run('alter table agents rename to agents_away'))
    const failed = await service.call('POST /v1/agents', create)
    await service.store.tx((tx) => tx.run('alter table agents_away rename to agents'))
    assert.deepEqual(assertError(failed, 'internal_error'), {})
    assert.doesNotMatch(failed.text, /agents|table|relation|sql|\.ts/i)
    const retried = await service.call('POST /v1/agents', create)
    assert.equal(retried.status, 201)
    assert.equal(retried.headers.get('idempotent-replayed'), null)
  })

  test('[ERR-11] [HTTP-28] [HTTP-24] a draining node finishes requests in hand and refuses others: 503', async () => {
    const node = await startService(engine)
    try {
      const { admin } = await node.tenant()
      const body = JSON.stringify(AGENT)
      const taken = await rawConnection(node.url)
      taken.write(
        `POST /v1/agents HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${admin}\r\ncontent-type: application/json\r\n`,
      )
      taken.write(`content-length: ${body.length}\r\n\r\n${body.slice(0, 10)}`)
      // The request is in hand once it is counted besides the request for the metrics.
      await turnsUntil(async () => (await inFlight(node.url)) >= 2)
      const closing = node.app.close()
      for (const request of ['GET /v1/agents', 'GET /readyz', 'POST /v1/agents']) {
        const refused = await node.call(request, {
          token: admin,
          ...(request.startsWith('POST') ? { body: AGENT } : {}),
        })
        const details = assertError(refused, 'service_unavailable')
        assert.ok(Number(details['retry_after_seconds']) >= 1)
        assert.equal(refused.headers.get('retry-after'), String(details['retry_after_seconds']))
      }
      assert.equal((await node.call('GET /healthz')).status, 200)
      taken.write(body.slice(10))
      assert.equal((await taken.reply()).status, 201)
      await closing
    } finally {
      await node.stop()
    }
  })

  if (engine.name === 'postgres') {
    test('[ERR-11] [HTTP-28] [HTTP-24] a lost store means 503, and it is used again when it is back', async () => {
      const node = await startService(engine)
      const database = new URL(node.env['DATABASE_URL']!).pathname.slice(1)
      const server = new pg.Client(POSTGRES_URL)
      await server.connect()
      try {
        const { admin } = await node.tenant()
        const create: CallOptions = { token: admin, body: AGENT, headers: { 'idempotency-key': 'lost' } }
        await server.query(`alter database ${database} allow_connections false`)
        await server.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database])
        const details = assertError(await node.call('POST /v1/agents', create), 'service_unavailable')
        const again = await node.call('GET /v1/agents', { token: admin })
        assertError(again, 'service_unavailable')
        assert.equal(again.headers.get('retry-after'), String(details['retry_after_seconds']))
        assert.equal((await node.call('GET /readyz')).status, 503)
        assert.equal((await node.call('GET /healthz')).status, 200)
        await server.query(`alter database ${database} allow_connections true`)
        assert.equal((await node.call('GET /readyz')).status, 200)
        assert.equal((await node.call('GET /v1/agents', { token: admin })).body.total, 0)
        const retried = await node.call('POST /v1/agents', create)
        assert.equal(retried.status, 201)
        assert.equal(retried.headers.get('idempotent-replayed'), null)
      } finally {
        await server.end()
        await node.stop()
      }
    })
  }
})
