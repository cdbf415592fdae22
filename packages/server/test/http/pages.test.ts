// The pages beside the API: health, metrics, the OpenAPI document and the reference.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations, type Operation } from '@sensorium/contract'
import { onBothEngines } from '../support/engines.ts'
import { OPERATOR_TOKEN, serviceForSuite } from '../support/service.ts'

const ALL = Object.values(operations) as Operation[]
const pathOf = ({ base, path }: Operation): string => (base === 'v1' ? '/v1' : '') + path

interface Document {
  openapi: string
  info: { version: string }
  paths: Record<
    string,
    Record<
      string,
      {
        operationId: string
        responses: Record<string, { content?: Record<string, { schema: object }> }>
      }
    >
  >
}

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  test('[HTTP-24] a running service is healthy and ready, and needs no token to say so', async () => {
    assert.deepEqual((await service.call('GET /healthz')).body, { status: 'ok' })
    const ready = await service.call('GET /readyz')
    assert.equal(ready.status, 200)
    assert.deepEqual(ready.body, { status: 'ready' })
  })

  test('[HTTP-25] metrics are in the text format of Prometheus, and count what happens', async () => {
    // The second of two requests in quick succession: the event loop was not measured between them, and the mean of no
    // samples is NaN.
    await service.call('GET /metrics')
    const reply = await service.call('GET /metrics')
    assert.match(reply.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
    const name = '[a-zA-Z_:][a-zA-Z0-9_:]*'
    const sample = new RegExp(`^${name}(\\{(${name}="(\\\\.|[^"\\\\])*",?)*\\})? -?(\\d|\\.|e|\\+|-|Inf|NaN)+( \\d+)?$`)
    const comment = new RegExp(`^# (HELP ${name} .*|TYPE ${name} (counter|gauge|histogram|summary|untyped))$`)
    const lines = reply.text.split('\n').filter((line) => line !== '')
    assert.ok(lines.length > 50)
    for (const line of lines) assert.ok((line.startsWith('#') ? comment : sample).test(line), line)

    const counted = async (): Promise<number> => {
      const { text } = await service.call('GET /metrics')
      return Number(
        /^sensorium_http_request_seconds_count\{route="\/v1\/agents\/:id",method="GET",status="401"\} (\d+)$/m.exec(
          text,
        )?.[1] ?? 0,
      )
    }
    const before = await counted()
    for (const id of ['a', 'b', 'c']) await service.call(`GET /v1/agents/${id}`)
    assert.equal(await counted(), before + 3)
  })

  test('[HTTP-25] metrics are named by their type: counters end in _total, and nothing else does', async () => {
    const { text } = await service.call('GET /metrics')
    const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => ({ name: name!, type }))
    assert.ok(types.length > 20)
    const misnamed = types.filter(({ name, type }) => name.endsWith('_total') !== (type === 'counter'))
    assert.deepEqual(misnamed, [])
    for (const { name } of types) assert.doesNotMatch(name, /[A-Z]|_(count|sum|bucket)$/)
    // An alert on an increase sees nothing of a series that appears with its first failure.
    assert.match(text, /^sensorium_background_failures_total\{loop="retain"\} 0$/m)
  })

  test('[HTTP-25] metrics name routes, never tenants, agents or ids', async () => {
    const tenant = await service.tenant('named-nowhere')
    const agent = await tenant.agent()
    await service.call(`GET /v1/agents/${agent.id}`, { token: agent.token })
    await service.call('GET /v1/a-path-nobody-knows')
    const { text } = await service.call('GET /metrics')
    for (const secret of [tenant.id, tenant.slug, agent.id, agent.keyId, 'a-path-nobody-knows']) {
      assert.equal(text.includes(secret), false, secret)
    }
  })

  test('[HTTP-26] the OpenAPI document is of version 1.0.0 and has every operation with its responses', async () => {
    const reply = await service.call<Document>('GET /openapi.json')
    assert.match(reply.headers.get('content-type') ?? '', /^application\/json/)
    assert.match(reply.body.openapi, /^3\.1\./)
    assert.equal(reply.body.info.version, '1.0.0')
    for (const operation of ALL) {
      const shown = reply.body.paths[pathOf(operation)]?.[operation.method.toLowerCase()]
      assert.equal(shown?.operationId, operation.id)
      for (const [status, { schema }] of Object.entries(operation.success)) {
        assert.equal(schema !== undefined, shown.responses[status]?.content !== undefined, `${operation.id} ${status}`)
      }
      for (const status of ['400', '500', '503']) assert.ok(status in shown.responses, `${operation.id} ${status}`)
    }
    assert.equal(Object.values(reply.body.paths).flatMap((path) => Object.keys(path)).length, ALL.length)
  })

  for (const operation of ALL) {
    test(`[HTTP-26] ${operation.method} ${pathOf(operation)} is served`, async () => {
      const path = pathOf(operation).replace(/\{\w+\}/g, 'nobody')
      const token = operation.access.scope === 'operator' ? OPERATOR_TOKEN : 'nonsense'
      const { status, body } = await service.call(`${operation.method} ${path}`, { token })
      assert.notEqual(status, 405)
      assert.notEqual(body?.error?.details?.resource_type, 'path')
    })
  }

  test('[HTTP-26] the reference runs and loads nothing but what the service itself serves', async () => {
    const reply = await service.call('GET /docs')
    assert.equal(reply.status, 200)
    assert.match(reply.headers.get('content-type') ?? '', /^text\/html/)
    assert.match(reply.headers.get('content-security-policy') ?? '', /default-src 'none'/)
    assert.doesNotMatch(reply.text, /<script(?! src="\/docs\/site\.js" defer><\/script>)/i)
    for (const { summary } of ALL) assert.ok(reply.text.includes(summary.replaceAll('"', '&quot;')), summary)
  })
})
