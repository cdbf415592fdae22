// What holds for every request, whatever it asks for.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { rawConnection } from '../support/raw-http.ts'
import {
  OPERATOR_TOKEN,
  startService,
  type CallOptions,
  type Service,
  type TestAgent,
  type TestTenant,
} from '../support/service.ts'

const MIB = 1_048_576
const AGENT = { name: 'Watcher', delivery_mode: 'poll', client_type: 'other' }
const NO_AGENT = 'agt_01hv3k8z9q4m7t2x5c6w8r0s1d'

/** A body that is a valid agent and exactly so many bytes long. */
const agentOf = (bytes: number): string => {
  const json = JSON.stringify(AGENT)
  return json.slice(0, -1) + ' '.repeat(bytes - json.length) + '}'
}

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

onBothEngines((engine) => {
  let service: Service
  let tenant: TestTenant
  let powerless: TestAgent
  const json = { 'content-type': 'application/json' }

  before(async () => {
    service = await startService(engine)
    tenant = await service.tenant()
    powerless = await tenant.agent({ scopes: ['send'] })
  })
  after(() => service.stop())

  const post = (options: CallOptions) =>
    service.call('POST /v1/agents', { token: tenant.admin, headers: json, ...options })

  /** One request for every kind of answer there is. */
  const everywhere: [request: string, status: number, options: () => CallOptions][] = [
    ['GET /healthz', 200, () => ({})],
    ['GET /readyz', 200, () => ({})],
    ['GET /metrics', 200, () => ({})],
    ['GET /openapi.json', 200, () => ({})],
    ['GET /docs', 200, () => ({})],
    ['GET /v1/agents', 200, () => ({ token: tenant.admin })],
    ['HEAD /v1/agents', 200, () => ({ token: tenant.admin })],
    ['POST /v1/agents', 201, () => ({ token: tenant.admin, body: AGENT })],
    ['POST /v1/auth/token', 400, () => ({ body: {} })],
    ['GET /v1/agents', 401, () => ({})],
    ['POST /v1/agents', 403, () => ({ token: powerless.token, body: AGENT })],
    ['GET /nowhere', 404, () => ({})],
    ['GET /v1/agents/nobody', 404, () => ({ token: tenant.admin })],
    ['GET /v1/agents/%zz', 404, () => ({ token: tenant.admin })],
    ['PUT /v1/agents', 405, () => ({})],
    ['POST /v1/agents', 413, () => ({ token: tenant.admin, raw: agentOf(MIB + 1), headers: json })],
    ['POST /v1/agents', 415, () => ({ token: tenant.admin, raw: 'x', headers: { 'content-type': 'text/plain' } })],
    ['GET /operator/tenants', 200, () => ({ token: OPERATOR_TOKEN })],
    ['GET /operator/tenants', 401, () => ({})],
  ]

  for (const [request, status, options] of everywhere) {
    test(`[HTTP-1] [HTTP-2] [HTTP-3] ${request} ${status} carries a request id, the caller's where one is given`, async () => {
      const given = options()
      const made = await service.call(request, given)
      assert.equal(made.status, status)
      assert.match(made.headers.get('x-request-id') ?? '', /^req_\w{8,}$/)
      const echoed = await service.call(request, {
        ...given,
        headers: { ...given.headers, 'x-request-id': 'my own: id/1' },
      })
      assert.equal(echoed.headers.get('x-request-id'), 'my own: id/1')
      if (status < 400 || request.startsWith('HEAD')) return
      const { error } = echoed.body
      assert.equal(error.request_id, 'my own: id/1')
      assert.deepEqual(Object.keys(error).sort(), ['code', 'details', 'message', 'request_id'])
      assert.equal(typeof error.details, 'object')
    })

    test(`${request} ${status} is neither sniffed nor cached`, async () => {
      const { headers } = await service.call(request, options())
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.equal(headers.get('cache-control'), 'no-store')
      assert.equal(headers.get('x-powered-by'), null)
    })
  }

  test('[HTTP-1] a request id of 1 to 128 printable characters is taken, any other is replaced', async () => {
    const sent = async (id: string) => {
      const { headers } = await service.call('GET /healthz', { headers: { 'x-request-id': id } })
      return headers.get('x-request-id')
    }
    for (const id of ['a', '~', 'a b', 'x'.repeat(128)]) assert.equal(await sent(id), id)
    for (const id of ['', '  ', 'x'.repeat(129), 'tab\there', 'caf\u00e9'])
      assert.match((await sent(id)) ?? '', /^req_/)
    assert.notEqual(await sent(''), await sent(''))
  })

  test('[HTTP-1] [HTTP-3] even what is not HTTP is answered in the envelope', async () => {
    const connection = await rawConnection(service.url)
    connection.write('THIS IS NOT HTTP\r\n\r\n')
    const { status, headers, body } = await connection.reply()
    assert.equal(status, 400)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(JSON.parse(body).error.request_id, headers['x-request-id'])
    connection.socket.destroy()
  })

  test('[HTTP-6] an unknown path is 404 and names itself', async () => {
    for (const path of [
      '/v1',
      '/v1/nothing',
      '/v2/agents',
      '/V1/agents',
      '/openapixjson',
      '/ingest/webhooks',
      '/agents',
    ]) {
      assertError(await service.call(`GET ${path}?x=1`), 'not_found', { resource_type: 'path', resource_id: path })
    }
  })

  test('[HTTP-23] nobody registers a webhook over the API', async () => {
    assertError(await service.call('POST /v1/ingest/webhooks', { token: tenant.admin, body: {} }), 'not_found', {
      resource_type: 'path',
    })
    assertError(await service.call('POST /ingest/webhooks', { body: {} }), 'not_found', { resource_type: 'path' })
  })

  test('[HTTP-6] [ERR-12] a known path with another method is 405 and says which it has', async () => {
    const paths: [string, string[]][] = [
      ['/v1/auth/token', ['POST']],
      ['/v1/agents', ['GET', 'HEAD', 'POST']],
      [`/v1/agents/${NO_AGENT}`, ['GET', 'HEAD', 'PATCH']],
      [`/v1/agents/${NO_AGENT}/keys/x`, ['DELETE']],
      ['/operator/tenants', ['GET', 'HEAD', 'POST']],
      ['/healthz', ['GET', 'HEAD']],
    ]
    for (const [path, allowed] of paths) {
      for (const method of ['PUT', 'OPTIONS', 'PROPFIND']) {
        const reply = await service.call(`${method} ${path}`)
        const details = assertError(reply, 'method_not_allowed')
        assert.deepEqual((details['allowed'] as string[]).sort(), allowed)
        assert.deepEqual(reply.headers.get('allow')?.split(', ').sort(), allowed)
      }
    }
  })

  test('[HTTP-7] [ERR-12] a body needs a content type that the endpoint takes', async () => {
    const raw = JSON.stringify(AGENT)
    for (const type of [
      'application/json',
      'Application/JSON',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
    ]) {
      assert.equal((await post({ raw, headers: { 'content-type': type } })).status, 201, type)
    }
    for (const type of [
      'text/plain',
      'application/xml',
      'application/json; charset=latin1',
      'application/jsonx',
      'nonsense',
      '*/*',
    ]) {
      const details = assertError(await post({ raw, headers: { 'content-type': type } }), 'unsupported_media_type')
      assert.equal(details['content_type'], type)
      assert.deepEqual(details['supported'], ['application/json'])
    }
    assertError(await post({ raw: new TextEncoder().encode(raw), headers: {} }), 'unsupported_media_type', {
      content_type: '',
    })
  })

  test('[HTTP-7] an operation without a body takes any, and ignores it', async () => {
    const agent = await tenant.agent()
    const options = { token: tenant.admin, raw: '{broken', headers: { 'content-type': 'text/plain' } }
    assert.equal((await service.call(`POST /v1/agents/${agent.id}/deactivate`, options)).status, 200)
    assert.equal((await service.call(`DELETE /v1/agents/${agent.id}/keys/${agent.keyId}`, options)).status, 204)
  })

  test('[HTTP-8] a body that is not JSON in UTF-8, or none, is 400 for the field body', async () => {
    const broken = [
      '',
      ' ',
      '{',
      '{"a":1,}',
      "{'a':1}",
      '{"a":1} {}',
      'undefined',
      '\ufeff{}',
      '{"name":"\u0001"}',
      nested(65),
    ]
    for (const raw of broken) assertError(await post({ raw }), 'validation_failed', { field: 'body' })
    const latin1 = new Uint8Array([...Buffer.from('{"name":"caf\u00e9"}', 'latin1')])
    assertError(await post({ raw: latin1 }), 'validation_failed', { field: 'body', expected: 'JSON in UTF-8' })
    assertError(await service.call('POST /v1/agents', { token: tenant.admin }), 'validation_failed', { field: 'body' })
    for (const raw of ['null', '[]', '"text"', '1', 'true']) {
      assertError(await post({ raw }), 'validation_failed', {
        field: 'body',
        value: JSON.parse(raw),
        expected: 'an object',
      })
    }
  })

  test('[HTTP-11] 64 levels of nesting pass, 65 do not', async () => {
    const withExtra = (extra: string): string => JSON.stringify(AGENT).slice(0, -1) + `,"extra":${extra}}`
    assert.equal((await post({ raw: withExtra(nested(63)) })).status, 201)
    assertError(await post({ raw: withExtra(nested(64)) }), 'validation_failed', { field: 'body' })
    const inText = JSON.stringify({ ...AGENT, extra: '[{"\\'.repeat(200) })
    assert.equal((await post({ raw: inText })).status, 201)
  })

  test('[HTTP-10] [ERR-7] 1 MiB passes, one byte more is 413 and says both sizes', async () => {
    assert.equal((await post({ raw: agentOf(MIB) })).status, 201)
    assertError(await post({ raw: agentOf(MIB + 1) }), 'payload_too_large', { actual_size: MIB + 1, max_size: MIB })
  })

  test('[HTTP-9] a body over the limit is refused while it still arrives', async () => {
    const head = `POST /v1/agents HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${tenant.admin}\r\ncontent-type: application/json\r\n`
    // Announced too long: refused with no byte of it sent.
    const announced = await rawConnection(service.url)
    announced.write(`${head}content-length: ${50 * MIB}\r\n\r\n`)
    assert.deepEqual(JSON.parse((await announced.reply()).body).error.details, { actual_size: 50 * MIB, max_size: MIB })
    announced.socket.destroy()
    // Not announced: refused with the byte that is too many, while more could follow.
    const chunked = await rawConnection(service.url)
    chunked.write(`${head}transfer-encoding: chunked\r\n\r\n`)
    for (let i = 0; i < 17; i++) chunked.write(`10000\r\n${' '.repeat(65_536)}\r\n`)
    const { status, body } = await chunked.reply()
    assert.equal(status, 413)
    const { actual_size, max_size } = JSON.parse(body).error.details
    assert.ok(actual_size > MIB && actual_size <= 17 * 65_536)
    assert.equal(max_size, MIB)
    chunked.socket.destroy()
  })

  test('[HTTP-12] a field nobody knows is ignored and not stored', async () => {
    const { status, body } = await post({
      body: { ...AGENT, colour: 'red', status: 'inactive', id: NO_AGENT, tenant_id: 'ten_x', __proto__: null },
    })
    assert.equal(status, 201)
    assert.equal(body.status, 'active')
    assert.equal(body.tenant_id, tenant.id)
    assert.notEqual(body.id, NO_AGENT)
    const again = await service.call(`GET /v1/agents/${body.id}`, { token: tenant.admin })
    assert.deepEqual(again.body, body)
    assert.equal('colour' in again.body, false)
  })

  test('[HTTP-13] a path id that is malformed answers as an unknown one does', async () => {
    const malformed = [
      'x',
      '%00',
      '%20',
      'agt_',
      `${NO_AGENT}x`,
      NO_AGENT.toUpperCase(),
      'key_01hv3k8z9q4m7t2x5c6w8r0s1d',
      '%E2%82%AC',
      'a%2Fb',
      'x'.repeat(8000),
      '..%2f',
    ]
    const shown = (id: string): string => decodeURIComponent(id).slice(0, 200)
    const agent = await tenant.agent()
    for (const id of malformed) {
      const unknown = { resource_type: 'agent', resource_id: shown(id) }
      for (const [request, body] of [
        ['GET', undefined],
        ['PATCH', { name: 'New' }],
      ] as const) {
        assertError(
          await service.call(`${request} /v1/agents/${id}`, { token: tenant.admin, body }),
          'not_found',
          unknown,
        )
      }
      const revoke = await service.call(`DELETE /v1/agents/${agent.id}/keys/${id}`, { token: tenant.admin })
      assertError(revoke, 'not_found', { resource_type: 'api_key', resource_id: shown(id) })
      const more = await service.call(`POST /operator/tenants/${id}/admin-keys`, { token: OPERATOR_TOKEN })
      assertError(more, 'not_found', { resource_type: 'tenant', resource_id: shown(id) })
    }
  })

  test('[HTTP-4] [HTTP-5] of two faults the earlier check is reported', async () => {
    const large = { raw: agentOf(MIB + 1), headers: json }
    const broken = { raw: '{', headers: json }
    const used = { 'idempotency-key': 'order-of-checks' }
    assert.equal((await post({ body: AGENT, headers: used })).status, 201)
    const admin = { token: tenant.admin }
    const noScope = { token: powerless.token }
    const pairs: [what: string, request: string, options: CallOptions, code: Parameters<typeof assertError>[1]][] = [
      ['path before authentication', 'GET /v1/nothing', {}, 'not_found'],
      ['path before size', 'POST /v1/nothing', large, 'not_found'],
      ['method before authentication', 'PUT /v1/agents', {}, 'method_not_allowed'],
      ['method before size', 'PUT /v1/agents', large, 'method_not_allowed'],
      ['authentication before size', 'POST /v1/agents', large, 'authentication_failed'],
      ['authentication before shape', 'POST /v1/agents', broken, 'authentication_failed'],
      ['authentication before existence', `GET /v1/agents/${NO_AGENT}`, {}, 'authentication_failed'],
      ['scope before size', 'POST /v1/agents', { ...noScope, ...large }, 'insufficient_scope'],
      [
        'scope before content type',
        'POST /v1/agents',
        { ...noScope, raw: 'x', headers: { 'content-type': 'text/plain' } },
        'insufficient_scope',
      ],
      ['scope before shape', 'POST /v1/agents', { ...noScope, ...broken }, 'insufficient_scope'],
      [
        'scope before existence',
        `PATCH /v1/agents/${NO_AGENT}`,
        { ...noScope, body: { name: 'New' } },
        'insufficient_scope',
      ],
      [
        'size before idempotency',
        'POST /v1/agents',
        { ...admin, ...large, headers: { ...json, ...used } },
        'payload_too_large',
      ],
      [
        'content type before idempotency',
        'POST /v1/agents',
        { ...admin, raw: '{}', headers: { ...used, 'content-type': 'text/plain' } },
        'unsupported_media_type',
      ],
      [
        'idempotency before shape',
        'POST /v1/agents',
        { ...admin, ...broken, headers: { ...json, ...used } },
        'conflict',
      ],
      ['shape before existence', `PATCH /v1/agents/${NO_AGENT}`, { ...admin, body: { name: '' } }, 'validation_failed'],
      [
        'shape of a value before existence',
        `POST /v1/agents/${NO_AGENT}/keys`,
        { ...admin, body: { scopes: ['send'], expires_at: '2001-01-01T00:00:00Z' } },
        'validation_failed',
      ],
    ]
    for (const [what, request, options, code] of pairs) {
      const reply = await service.call(request, options)
      assert.equal(reply.body?.error?.code, code, what)
      assertError(reply, code)
    }
  })
})
