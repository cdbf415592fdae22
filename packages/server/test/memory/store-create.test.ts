// Creating a memory: what is stored, and what is refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentForSuite, OPERATOR_TOKEN, serviceForSuite, tenantForSuite } from '../support/service.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { START } from '../support/fake-clock.ts'
import { aMemory, memoryCalls, orgAdmin } from './tools.ts'

const NOW = new Date(START).toISOString()
const MAX = 32_768

onBothEngines((engine) => {
  const service = serviceForSuite(engine, { MAX_MEMORY_BYTES: '300000' })
  const tenant = tenantForSuite(service)
  const agent = agentForSuite(tenant)
  const calls = memoryCalls(service)

  const refused = async (field: string, body: object) => {
    const reply = await service.call('POST /v1/memories', { token: agent.token, body })
    return assertError(reply, 'validation_failed', { field })
  }

  test('[MEM-1] [MEM-4] [MEM-5] a minimal body, and the defaults of all other fields', async () => {
    const memory = await calls.make(agent)
    assert.match(memory.id, /^mem_[0-9a-z]{26}$/)
    assert.deepEqual(memory, {
      id: memory.id,
      tenant_id: tenant.id,
      agent_id: agent.id,
      team_id: null,
      project_id: null,
      type: 'semantic',
      scope: 'agent',
      status: 'active',
      title: 'A title',
      content: 'Some content',
      confidence: 1,
      importance: 0.5,
      metadata: {},
      source_type: null,
      source_id: null,
      source_url: null,
      source_event_id: null,
      freshness_date: null,
      expires_at: null,
      created_at: NOW,
      updated_at: NOW,
      accessed_at: NOW,
    })
    assert.deepEqual((await calls.get(agent, memory.id)).body, memory)
    assert.deepEqual((await calls.list(agent)).memories[0], memory)
  })

  test('[MEM-1] [MEM-5] every field that can be sent is returned as it was sent', async () => {
    const sent = {
      type: 'reasoning',
      scope: 'institutional',
      title: ' “Títle” \n 🙂 ',
      content: ' \t\u{1F469}\u200D\u{1F4BB} \'quoted\' "twice" % _ \\ \u0001 ',
      project_id: 'p',
      confidence: 0,
      importance: 1,
      metadata: { deep: [1, { ß: null }], '\u0000': '\u0000', __proto__: 1, constructor: 2 },
      source_type: 'ticket',
      source_id: 'T/1',
      source_url: 'urn:isbn:0451450523',
      source_event_id: 'e 1',
      freshness_date: '2020-02-29T23:59:59.5+02:00',
      expires_at: '2030-01-01T00:00:00.001Z',
    }
    const memory = await calls.make(agent, sent)
    const expected = { ...sent, freshness_date: '2020-02-29T21:59:59.500Z' }
    for (const seen of [memory, (await calls.get(agent, memory.id)).body])
      assert.deepEqual({ ...seen, ...expected }, seen)
  })

  test('[MEM-5] null is the same as an omitted field where null is allowed', async () => {
    const names = [
      'team_id',
      'project_id',
      'source_type',
      'source_id',
      'source_url',
      'source_event_id',
      'freshness_date',
      'expires_at',
    ] as const
    const memory = await calls.make(agent, Object.fromEntries(names.map((name) => [name, null])))
    for (const name of names) assert.equal(memory[name], null)
    for (const name of ['confidence', 'importance', 'metadata']) await refused(name, { ...aMemory, [name]: null })
  })

  test('[MEM-2] every type and every scope is accepted, and nothing else', async () => {
    for (const type of ['episodic', 'semantic', 'procedural', 'entity', 'reflection', 'reasoning']) {
      for (const scope of ['agent', 'team', 'institutional']) {
        const memory = await calls.make(agent, { type, scope, team_id: 'blue' })
        assert.deepEqual([memory.type, memory.scope], [type, scope])
      }
    }
    for (const name of ['type', 'scope', 'title', 'content'] as const) {
      const { [name]: _, ...rest } = aMemory
      await refused(name, rest)
      for (const wrong of [null, 1, [], {}, '']) await refused(name, { ...aMemory, [name]: wrong })
    }
    for (const type of ['Semantic', 'fact', 'semantic '])
      assert.match(String((await refused('type', { ...aMemory, type }))['expected']), /episodic, semantic/)
    for (const scope of ['tenant', 'AGENT']) await refused('scope', { ...aMemory, scope })
  })

  test('[MEM-3] a title is not blank; content has 1 to 32768 characters, counted as code points', async () => {
    for (const title of ['', ' ', '\n\t\u00a0\u3000', 'a\u0000b']) await refused('title', { ...aMemory, title })
    for (const content of ['', 'a\u0000b', 'x'.repeat(MAX + 1), '🙂'.repeat(MAX + 1)])
      await refused('content', { ...aMemory, content })
    for (const content of ['x', ' ', '\n', '🙂'.repeat(MAX), 'x'.repeat(MAX)])
      assert.equal((await calls.make(agent, { content })).content, content)
  })

  test('[MEM-3] half a surrogate pair becomes the replacement character, in response and store', async () => {
    const memory = await calls.make(agent, { title: 'a\ud800b', content: '\udc00' })
    assert.deepEqual([memory.title, memory.content], ['a\ufffdb', '\ufffd'])
    assert.deepEqual((await calls.get(agent, memory.id)).body, memory)
  })

  test('[MEM-4] confidence and importance are numbers from 0 to 1', async () => {
    for (const name of ['confidence', 'importance']) {
      for (const wrong of [-0.001, 1.001, '0.5', true]) await refused(name, { ...aMemory, [name]: wrong })
      for (const right of [0, 1, 0.1 + 0.2, 5e-324])
        assert.equal((await calls.make(agent, { [name]: right }))[name as 'confidence'], right)
    }
  })

  test('[MEM-5] a value of the wrong form is refused', async () => {
    for (const metadata of [[], 'x', 1]) await refused('metadata', { ...aMemory, metadata })
    for (const source_url of ['not a uri', '/relative', 'http://a b', 1])
      await refused('source_url', { ...aMemory, source_url })
    for (const name of ['freshness_date', 'expires_at']) {
      for (const wrong of ['tomorrow', '2031-02-29T00:00:00Z', '2031-01-01', '2031-01-01T00:00:00', 1, ''])
        await refused(name, { ...aMemory, [name]: wrong })
    }
    for (const name of ['team_id', 'project_id', 'source_type', 'source_id', 'source_event_id']) {
      for (const wrong of [1, {}, 'a\u0000b']) await refused(name, { ...aMemory, [name]: wrong })
    }
  })

  test('[MEM-6] an expiry in the past or at this very moment is refused', async () => {
    for (const expires_at of ['2029-12-31T23:59:59.999Z', NOW, '1970-01-01T00:00:00Z']) {
      const { example } = await refused('expires_at', { ...aMemory, expires_at })
      assert.equal((await calls.post(agent, { expires_at: example })).status, 201)
    }
  })

  test('[MEM-7] the caller owns it, whatever the body says; an unknown field is ignored', async () => {
    const other = await tenant.agent()
    const memory = await calls.make(agent, {
      agent_id: other.id,
      tenant_id: 'x',
      id: 'mem_x',
      status: 'deleted',
      created_at: 'x',
      colour: 'red',
    })
    assert.deepEqual([memory.agent_id, memory.tenant_id, memory.status], [agent.id, tenant.id, 'active'])
    assert.ok(!('colour' in memory))
    const admin = await orgAdmin(service, tenant)
    assert.equal((await calls.make(admin)).agent_id, admin.id)
  })

  test('[MEM-8] a team memory takes the team of the body, else of the token, else it is refused', async () => {
    const blue = await tenant.agent({ team: 'blue' })
    assert.equal((await calls.make(blue, { scope: 'team' })).team_id, 'blue')
    assert.equal((await calls.make(blue, { scope: 'team', team_id: null })).team_id, 'blue')
    assert.equal((await calls.make(blue, { scope: 'team', team_id: 'red' })).team_id, 'red')
    assert.equal((await calls.make(agent, { scope: 'team', team_id: 'red' })).team_id, 'red')
    for (const team_id of [undefined, null, '']) await refused('team_id', { ...aMemory, scope: 'team', team_id })
  })

  test('[MEM-8] only a team memory has a team', async () => {
    for (const scope of ['agent', 'institutional'])
      assert.equal((await calls.make(agent, { scope, team_id: 'blue' })).team_id, null)
  })

  test('[HTTP-10] a body over MAX_MEMORY_BYTES is 413, one below it is taken', async () => {
    const size = (metadata: string) => JSON.stringify({ ...aMemory, metadata: { a: metadata } }).length
    const room = 300_000 - size('')
    assert.equal((await calls.post(agent, { metadata: { a: 'x'.repeat(room) } })).status, 201)
    assertError(await calls.post(agent, { metadata: { a: 'x'.repeat(room + 1) } }), 'payload_too_large', {
      max_size: 300_000,
    })
  })

  test('[AUTH-8] a scope is needed to write and one to read', async () => {
    const reader = await tenant.agent({ scopes: ['memory:read'] })
    const writer = await tenant.agent({ scopes: ['memory:write'] })
    assertError(await calls.post(reader, {}), 'insufficient_scope', { required_scope: 'memory:write' })
    const memory = await calls.make(writer)
    assertError(await calls.get(writer, memory.id), 'insufficient_scope', { required_scope: 'memory:read' })
    assertError(await service.call('GET /v1/memories', { token: writer.token }), 'insufficient_scope', {
      required_scope: 'memory:read',
    })
  })

  test('[IDEM-1] [TEN-4] the same Idempotency-Key creates one memory, metered once', async () => {
    const other = await service.tenant()
    const token = (await other.agent()).token
    const once = () => service.call('POST /v1/memories', { token, body: aMemory, headers: { 'idempotency-key': 'k' } })
    const [first, second] = [await once(), await once()]
    assert.deepEqual(second.body, first.body)
    await calls.post({ token, id: '' }, { type: 'wrong' })
    await calls.make({ token, id: '' })
    const usage = await service.call(`GET /operator/usage?tenant=${other.slug}`, { token: OPERATOR_TOKEN })
    assert.equal(usage.body.days[0].memories, 2)
  })
})
