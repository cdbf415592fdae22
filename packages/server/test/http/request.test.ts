// What holds for every request of any operation.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { rawConnection } from '../support/raw-http.ts'
import {
  AGENT,
  OPERATOR_TOKEN,
  serviceForSuite,
  tenantForSuite,
  type CallOptions,
  type TestAgent,
} from '../support/service.ts'
import { agentOf, MIB, NO_AGENT } from './tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  let powerless: TestAgent
  const json = { 'content-type': 'application/json' }
  before(async () => {
    powerless = await tenant.agent({ scopes: ['send'] })
  })

  const post = (options: CallOptions) =>
    service.call('POST /v1/agents', { token: tenant.admin, headers: json, ...options })

  /** One request for every kind of response. */
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

  test('[HTTP-1] [HTTP-3] even bytes that are not HTTP are answered in the envelope', async () => {
    const connection = await rawConnection(service.url)
    connection.write('THIS IS NOT HTTP\r\n\r\n')
    const { status, headers, body } = await connection.reply()
    assert.equal(status, 400)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(JSON.parse(body).error.request_id, headers['x-request-id'])
    connection.socket.destroy()
  })

  test('[HTTP-6] an unknown path is 404, and the error names it', async () => {
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

  test('[HTTP-23] no caller can register a webhook over the API', async () => {
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

  test('[HTTP-13] a malformed id in the path is answered like an unknown one', async () => {
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
