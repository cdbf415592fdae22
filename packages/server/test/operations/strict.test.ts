// Prefer: handling=strict
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from '@sensorium/contract'
import { prefersStrict } from '../../src/http/prefer.ts'
import { repeatableOf } from '../../src/operations/repeatable.ts'
import { unknownField } from '../../src/operations/unknown-field.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { AGENT, OPERATOR_TOKEN, serviceForSuite, tenantForSuite } from '../support/service.ts'

const STRICT = { prefer: 'handling=strict' }

test('[OPS-23] a preference is found among others, in any spelling; the first one counts', () => {
  for (const header of [
    'handling=strict',
    'respond-async, handling=strict; why=tests',
    'Handling = "strict"',
    'wait=10,\thandling=STRICT',
    'handling=strict, handling=lenient',
  ])
    assert.equal(prefersStrict(header), true, header)
  for (const header of ['', 'handling=lenient', 'handling', 'handling=lenient, handling=strict', 'xhandling=strict'])
    assert.equal(prefersStrict(header), false, header)
})

test('[OPS-23] [LOAD-11] the first unknown field of a wide body is found without reading the rest of it', () => {
  const schema = Type.Object({ ids: Type.Array(Type.String()), name: Type.Optional(Type.String()) })
  let read = 0
  const counting = <T extends object>(value: T): T =>
    new Proxy(value, { get: (of, name) => (read++, Reflect.get(of, name)) })
  const ids = counting(Array.from({ length: 9_000 }, String))
  const others = Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`other${i}`, i]))
  assert.equal(unknownField(schema, { ids }), null)
  assert.equal(unknownField(schema, counting({ ids, ...others }))?.field, 'other0')
  assert.ok(read < 20, `${read} reads`)
})

test('[OPS-23] unknown fields are found at any depth, except in free-form objects', () => {
  const schema = Type.Object({
    name: Type.String(),
    list: Type.Array(Type.Object({ inner: Type.Object({ deep: Type.Optional(Type.String()) }) })),
    free: Type.Unsafe({ type: 'object' }),
    open: Type.Object({ known: Type.String() }, { additionalProperties: true }),
  })
  const body = {
    name: 'x',
    list: [{ inner: {} }, { inner: { deep: 'y' } }],
    free: { any: { thing: 1 } },
    open: { z: 1 },
  }
  assert.equal(unknownField(schema, body), null)
  const misspelt = { ...body, list: [{ inner: {} }, { inner: { depe: 1 } }] }
  assert.deepEqual(unknownField(schema, misspelt), {
    field: 'list[1].inner.depe',
    value: 1,
    expected: 'a known field; the nearest is deep',
    example: 'deep',
  })
  assert.equal(
    unknownField(schema, { ...body, nmae: 'whsec_' }, repeatableOf({ secrets: ['name'] }))?.value,
    '[redacted]',
  )
  assert.equal(unknownField(schema, { ...body, ['__proto__x']: 1, constructor: 2 })?.field, '__proto__x')
  assert.equal(unknownField(Type.Object({}), { some: 1 })?.expected, 'no field')
  for (const odd of [null, 7, 'text', [], [{ a: 1 }]]) assert.equal(unknownField(schema, odd), null)
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)

  test('[OPS-23] with the preference a misspelt field is 400 and named; without it it is ignored', async () => {
    const body = { ...AGENT, desciption: 'Looks out' }
    const refused = await service.call('POST /v1/agents', { token: tenant.admin, body, headers: STRICT })
    const details = assertError(refused, 'validation_failed', { field: 'desciption', value: 'Looks out' })
    assert.match(String(details['expected']), /\bdescription\b/)
    assert.equal(details['example'], 'description')
    assert.equal(refused.headers.get('preference-applied'), 'handling=strict')

    const ignored = await service.call('POST /v1/agents', { token: tenant.admin, body })
    assert.deepEqual([ignored.status, ignored.body.description], [201, null])
    assert.equal(ignored.headers.get('preference-applied'), null)
    const fine = await service.call('POST /v1/agents', { token: tenant.admin, body: AGENT, headers: STRICT })
    assert.deepEqual([fine.status, fine.headers.get('preference-applied')], [201, 'handling=strict'])
  })

  test('[OPS-23] a misspelt required field is named rather than the missing one', async () => {
    const { name: _, ...rest } = AGENT
    const reply = await service.call('POST /v1/agents', {
      token: tenant.admin,
      body: { ...rest, nmae: 'Watcher' },
      headers: STRICT,
    })
    assertError(reply, 'validation_failed', { field: 'nmae', example: 'name' })
  })

  test('[OPS-23] memories: metadata is free-form, the rest is not', async () => {
    const memory = { type: 'semantic', scope: 'agent', title: 'Cups', content: 'In the cupboard' }
    const create = (body: object) => service.call('POST /v1/memories', { token: tenant.admin, body, headers: STRICT })
    assert.equal((await create({ ...memory, metadata: { any: { thing: [{ goes: true }] } } })).status, 201)
    assertError(await create({ ...memory, confidance: 0.9 }), 'validation_failed', {
      field: 'confidance',
      value: 0.9,
      example: 'confidence',
    })
    // Whatever the length of its name or value: the beginning is shown.
    for (const length of [254, 255, 5_000]) {
      const field = 'f'.repeat(length)
      const shown = assertError(await create({ ...memory, [field]: 'v'.repeat(9_000) }), 'validation_failed')
      assert.match(String(shown['field']), /^f{254,1000}$/)
      assert.match(String(shown['value']), /^"?v{190,200}/)
    }
  })

  test('[OPS-23] events: extension attributes and data are free-form', async () => {
    const agent = await tenant.agent()
    const event = {
      specversion: '1.0',
      type: 'a.b',
      source: '/x',
      id: 'strict-1',
      tenantzone: 'eu',
      data: { x: { y: 1 } },
    }
    const publish = await service.call('POST /v1/events', { token: agent.token, body: event, headers: STRICT })
    assert.equal(publish.status, 202)
    const explain = (body: object) =>
      service.call('POST /v1/events/explain', { token: agent.token, body, headers: STRICT })
    assert.equal((await explain({ event })).status, 200)
    assertError(await explain({ event, agentid: agent.id }), 'validation_failed', {
      field: 'agentid',
      example: 'agent_id',
    })
  })

  test('[OPS-23] an unknown field beside a secret is not repeated; nested ones have a path', async () => {
    const body = { tenant: tenant.slug, source: 'shop', signing_secrt: 'whsec_do-not-repeat' }
    const create = (given: object) =>
      service.call('POST /operator/webhooks', { token: OPERATOR_TOKEN, body: given, headers: STRICT })
    const reply = await create(body)
    assertError(reply, 'validation_failed', { field: 'signing_secrt', example: 'signing_secret' })
    assert.equal(reply.text.includes('do-not-repeat'), false)
    assertError(
      await create({ tenant: tenant.slug, source: 'shop', mapping: { entty: 'body.x' } }),
      'validation_failed',
      {
        field: 'mapping.entty',
        example: 'entity',
      },
    )
  })

  test('[OPS-23] authentication, scope and media type are checked first, whatever the preference', async () => {
    const body = { ...AGENT, nmae: 1 }
    const agent = await tenant.agent({ scopes: ['send'] })
    const unscoped = await service.call('POST /v1/agents', { token: agent.token, body, headers: STRICT })
    assertError(unscoped, 'insufficient_scope')
    assert.equal(unscoped.headers.get('preference-applied'), null)
  })
})
