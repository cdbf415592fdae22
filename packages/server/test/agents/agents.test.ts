// The registry of agents: what each field accepts, what is returned, what can change.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../support/any-character.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { AGENT, serviceForSuite, startService, tenantForSuite } from '../support/service.ts'

const NO_AGENT = 'agt_01hv3k8z9q4m7t2x5c6w8r0s1d'
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const SMILE = '\u{1f600}'

const characters = (text: string): number => [...text].length
/** Any text, with likely troublemakers more often than by chance. */
const anyText = (maxLength: number) =>
  fc.oneof(
    fc.string({ unit: anyCharacter, maxLength }),
    fc.string({
      unit: fc.constantFrom(' ', '\t', '\u00a0', '\0', 'a', SMILE, '"', '\\', '\ud800', '\u2028'),
      maxLength,
    }),
    fc.nat(maxLength).map((n) => SMILE.repeat(n)),
  )
const storable = (text: string): boolean => !text.includes('\0')

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)

  const register = (body: unknown, at = service, token = tenant.admin) => at.call('POST /v1/agents', { token, body })
  const get = (id: string) => service.call(`GET /v1/agents/${id}`, { token: tenant.admin })
  const update = (id: string, body: unknown) => service.call(`PATCH /v1/agents/${id}`, { token: tenant.admin, body })

  test('[AGT-1] [AGT-2] [HTTP-21] a registered agent has all its fields and is active', async () => {
    const wanted = {
      name: 'Watcher',
      description: 'Watches',
      delivery_mode: 'sse',
      client_type: 'claude',
      team_id: 'blue',
    }
    const { status, body } = await register(wanted)
    assert.equal(status, 201)
    const now = new Date(service.clock.now()).toISOString()
    assert.deepEqual(body, {
      ...wanted,
      id: body.id,
      tenant_id: tenant.id,
      status: 'active',
      paused: false,
      retry_schedule_seconds: null,
      created_at: now,
      updated_at: now,
    })
    assert.match(body.id, /^agt_[0-9a-hjkmnp-tv-z]{26}$/)
    assert.match(body.created_at, DATE_TIME)
    assert.deepEqual((await get(body.id)).body, body)
  })

  test('[AGT-1] optional fields may be null or left out', async () => {
    for (const optional of [{}, { description: null, team_id: null }, { description: '' }]) {
      const { status, body } = await register({ ...AGENT, ...optional })
      assert.equal(status, 201)
      assert.deepEqual(
        [body.description, body.team_id],
        ['description' in optional ? optional.description : null, null],
      )
    }
  })

  test('[AGT-1] names need not be unique', async () => {
    assert.notEqual((await register(AGENT)).body.id, (await register(AGENT)).body.id)
  })

  for (const field of ['name', 'delivery_mode', 'client_type']) {
    test(`[AGT-1] ${field} is required and is a text`, async () => {
      const { [field]: _, ...rest } = AGENT as Record<string, string>
      assertError(await register(rest), 'validation_failed', { field, value: null })
      for (const value of [null, 7, true, [], {}, ['poll']]) {
        assertError(await register({ ...AGENT, [field]: value }), 'validation_failed', { field, value })
      }
    })
  }

  test('[AGT-3] delivery_mode is poll, push or sse', async () => {
    for (const delivery_mode of ['poll', 'push', 'sse']) {
      assert.equal((await register({ ...AGENT, delivery_mode })).body.delivery_mode, delivery_mode)
    }
    for (const delivery_mode of ['', 'POLL', 'poll ', 'webhook', 'none']) {
      const details = assertError(await register({ ...AGENT, delivery_mode }), 'validation_failed', {
        field: 'delivery_mode',
        value: delivery_mode,
      })
      assert.match(String(details['expected']), /poll.*push.*sse/)
    }
  })

  test('[AGT-4] client_type is one of six', async () => {
    for (const client_type of ['claude', 'chatgpt', 'gemini', 'copilot', 'cursor', 'other']) {
      assert.equal((await register({ ...AGENT, client_type })).body.client_type, client_type)
    }
    for (const client_type of ['', 'Claude', 'others', 'llama', 'claude,chatgpt']) {
      const details = assertError(await register({ ...AGENT, client_type }), 'validation_failed', {
        field: 'client_type',
      })
      assert.match(String(details['expected']), /claude.*chatgpt.*gemini.*copilot.*cursor.*other/)
    }
    const { client_type: _, ...without } = AGENT
    for (const [body, expected] of [
      [without, 'one of: claude, chatgpt, gemini, copilot, cursor, other (required)'],
      [{ ...without, client_type: null }, 'one of: claude, chatgpt, gemini, copilot, cursor, other'],
    ] as const)
      assertError(await register(body), 'validation_failed', { field: 'client_type', expected })
  })

  test('[AGT-4] [CFG-6] the five named types are configurable, and other is always allowed', async () => {
    const node = await startService(engine, { CLIENT_TYPES: 'a, b,c.d,e_f,G-9' })
    const { admin } = await node.tenant()
    for (const client_type of ['a', 'b', 'c.d', 'e_f', 'G-9', 'other']) {
      assert.equal((await register({ ...AGENT, client_type }, node, admin)).status, 201)
    }
    for (const client_type of ['claude', 'cursor', 'g-9']) {
      assertError(await register({ ...AGENT, client_type }, node, admin), 'validation_failed')
    }
    await node.stop()
  })

  test('[AGT-1] [AGT-3] [HTTP-20] any text is either returned as sent, or refused with its field', async () => {
    const fields = {
      name: (text: string) => storable(text) && text.trim() !== '' && characters(text) <= 255,
      description: (text: string) => storable(text) && characters(text) <= 4096,
      team_id: (text: string) => storable(text) && text !== '' && characters(text) <= 255,
    }
    for (const [field, fits] of Object.entries(fields)) {
      await fc.assert(
        fc.asyncProperty(anyText(300), async (text) => {
          const made = await register({ ...AGENT, [field]: text })
          if (!fits(text)) return void assertError(made, 'validation_failed', { field })
          assert.equal(made.status, 201, made.text)
          // Half a surrogate pair is not valid UTF-8; the response shows it as it will be read later.
          assert.equal(made.body[field], text.toWellFormed())
          assert.equal((await get(made.body.id)).body[field], text.toWellFormed())
        }),
        { numRuns: 50 },
      )
    }
    assert.equal((await register({ ...AGENT, description: SMILE.repeat(4096) })).status, 201)
    assertError(await register({ ...AGENT, description: SMILE.repeat(4097) }), 'validation_failed', {
      field: 'description',
    })
  })

  test('[AGT-5] an agent is read by its id, an unknown one is 404', async () => {
    assertError(await get(NO_AGENT), 'not_found', { resource_type: 'agent', resource_id: NO_AGENT })
    for (const request of [
      'PATCH /v1/agents/X',
      'POST /v1/agents/X/deactivate',
      'POST /v1/agents/X/activate',
      'GET /v1/agents/X/keys',
    ]) {
      const body = request.startsWith('PATCH') ? {} : undefined
      assertError(await service.call(request.replace('X', NO_AGENT), { token: tenant.admin, body }), 'not_found', {
        resource_type: 'agent',
        resource_id: NO_AGENT,
      })
    }
  })

  test('[AGT-5] a list is filtered by status, of which there are two', async () => {
    const other = await service.tenant()
    const [up, down] = [await other.agent(), await other.agent()]
    await service.call(`POST /v1/agents/${down.id}/deactivate`, { token: other.admin })
    const listed = async (query: string) => (await service.call(`GET /v1/agents${query}`, { token: other.admin })).body
    const ids = ({ agents }: { agents: { id: string }[] }): string[] => agents.map(({ id }) => id)
    assert.deepEqual(ids(await listed('')), [down.id, up.id])
    assert.deepEqual(ids(await listed('?status=active')), [up.id])
    assert.deepEqual(ids(await listed('?status=inactive')), [down.id])
    assert.deepEqual((await listed('?status=active')).total, 1)
    for (const status of ['', 'Active', 'all', 'active&status=inactive']) {
      assertError(await service.call(`GET /v1/agents?status=${status}`, { token: other.admin }), 'validation_failed', {
        field: 'status',
      })
    }
  })

  test('[AGT-6] an update changes what it names and nothing else', async () => {
    const { body: made } = await register({ ...AGENT, description: 'First', team_id: 'blue' })
    await service.clock.advance(1000)
    const later = new Date(service.clock.now()).toISOString()
    const changes: Record<string, unknown>[] = [
      { name: 'Renamed' },
      { description: null },
      { delivery_mode: 'push' },
      { delivery_endpoint: 'https://a.example/in?x=1' },
    ]
    let expected = { ...made, updated_at: later }
    for (const change of changes) {
      expected = { ...expected, ...change }
      const reply = await update(made.id, change)
      assert.equal(reply.status, 200)
      assert.deepEqual(reply.body, expected)
      assert.deepEqual((await get(made.id)).body, expected)
    }
  })

  test('[AGT-6] [HTTP-12] fields that cannot be changed are ignored, and changing nothing changes nothing', async () => {
    const { body: made } = await register({ ...AGENT, team_id: 'blue' })
    await service.clock.advance(1000)
    const ignored = {
      id: NO_AGENT,
      tenant_id: 'x',
      status: 'inactive',
      client_type: 'claude',
      team_id: null,
      created_at: 'x',
      updated_at: 'x',
      colour: 'red',
    }
    for (const change of [{}, ignored, { name: made.name, description: null }]) {
      const reply = await update(made.id, change)
      assert.equal(reply.status, 200)
      assert.deepEqual(reply.body, made)
    }
    assert.deepEqual((await get(made.id)).body, made)
  })

  test('[AGT-6] [AGT-3] an update takes the same values as a registration', async () => {
    const { body: made } = await register(AGENT)
    const wrong: [string, unknown[]][] = [
      ['name', ['', ' ', null, 7, 'x'.repeat(256), 'nul\0']],
      ['description', [7, {}, 'x'.repeat(4097), '\0']],
      ['delivery_mode', [null, '', 'pigeon', 7]],
    ]
    for (const [field, values] of wrong) {
      for (const value of values) assertError(await update(made.id, { [field]: value }), 'validation_failed', { field })
    }
    assert.deepEqual((await get(made.id)).body, made)
  })

  test('[AGT-7] delivery_endpoint is a URL that can be posted to, or null; it is shown while set', async () => {
    const { body: made } = await register({
      ...AGENT,
      delivery_mode: 'push',
      delivery_endpoint: 'https://ignored.example',
    })
    assert.equal('delivery_endpoint' in made, false)
    const fine = [
      'https://a.example',
      'http://127.0.0.1:9000/in',
      'https://[::1]/x',
      'https://a.example/%C3%A4?q=1#f',
      'https://us%C3%A4r:p%40ss@a.example',
    ]
    for (const delivery_endpoint of [...fine, `https://a.example/${'x'.repeat(2030)}`]) {
      assert.equal((await update(made.id, { delivery_endpoint })).body.delivery_endpoint, delivery_endpoint)
      assert.equal((await get(made.id)).body.delivery_endpoint, delivery_endpoint)
    }
    const wrong = [
      '',
      'nowhere',
      '/path',
      '//a.example',
      'a.example',
      'http://',
      'https://a b',
      'https://a.example/\n',
      'https://a.example/<x>',
      'https://a.example/%zz',
      'https://%ff@a.example',
      'https://user:%ff@a.example',
      'https://%C3:%A4@a.example',
      'ftp://a.example',
      'javascript:alert(1)',
      `https://a.example/${'x'.repeat(2048)}`,
      7,
      {},
      ['https://a.example'],
    ]
    for (const delivery_endpoint of wrong) {
      assertError(await update(made.id, { delivery_endpoint }), 'validation_failed', { field: 'delivery_endpoint' })
    }
    assert.equal('delivery_endpoint' in (await update(made.id, { delivery_endpoint: null })).body, false)
  })

  test('[AGT-8] repeated deactivation or activation gives the same response and moves updated_at once', async () => {
    const { body: made } = await register(AGENT)
    for (const [verb, status] of [
      ['deactivate', 'inactive'],
      ['activate', 'active'],
    ] as const) {
      await service.clock.advance(1000)
      const at = new Date(service.clock.now()).toISOString()
      for (let i = 0; i < 3; i++) {
        const reply = await service.call(`POST /v1/agents/${made.id}/${verb}`, { token: tenant.admin })
        assert.equal(reply.status, 200)
        assert.deepEqual(reply.body, { status })
        await service.clock.advance(1000)
      }
      const { body } = await get(made.id)
      assert.deepEqual([body.status, body.updated_at], [status, at])
    }
  })

  test('[AGT-6] two concurrent updates lose neither change', async () => {
    const { body: made } = await register(AGENT)
    for (let round = 0; round < 10; round++) {
      await Promise.all([
        update(made.id, { name: `Name ${round}` }),
        update(made.id, { description: `Description ${round}` }),
      ])
      const { body } = await get(made.id)
      assert.deepEqual([body.name, body.description], [`Name ${round}`, `Description ${round}`])
    }
  })
})
