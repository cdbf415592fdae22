// Changing, promoting and deleting a memory.
import assert from 'node:assert/strict'
import { before, beforeEach, test } from 'node:test'
import type { Memory } from '@sensorium/contract'
import { agentForSuite, serviceForSuite, tenantForSuite, type TestAgent } from '../support/service.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { compareAudience } from '../../src/memory/promote.ts'
import { ids, memoryCalls, orgAdmin, type Actor } from './tools.ts'

test('[MEM-21] [MEM-22] which promotions widen the scope', () => {
  const audience = (scope: 'agent' | 'team' | 'institutional', team_id: string | null = null) => ({ scope, team_id })
  assert.equal(compareAudience(audience('agent'), audience('team', 'a')), 'widens')
  assert.equal(compareAudience(audience('agent'), audience('institutional')), 'widens')
  assert.equal(compareAudience(audience('team', 'a'), audience('institutional')), 'widens')
  assert.equal(compareAudience(audience('team', 'a'), audience('team', 'a')), 'same')
  assert.equal(compareAudience(audience('institutional'), audience('institutional')), 'same')
  assert.equal(compareAudience(audience('team', 'a'), audience('team', 'b')), 'refused')
  assert.equal(compareAudience(audience('institutional'), audience('team', 'a')), 'refused')
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const agent = agentForSuite(tenant)
  let blue: TestAgent
  let admin: Actor
  const calls = memoryCalls(service)
  before(async () => {
    blue = await tenant.agent({ team: 'blue' })
    admin = await orgAdmin(service, tenant)
  })

  let memory: Memory
  beforeEach(async () => {
    memory = await calls.make(agent, { metadata: { a: 1, b: 2 }, freshness_date: '2029-01-01T00:00:00.000Z' })
    await service.clock.advance(1000)
  })
  const now = () => new Date(service.clock.now()).toISOString()
  const status = async (id: string) =>
    (
      await service.store.rows<{ status: string; texts: number | null }>(
        `select m.status, r.version as texts from memories m
           left join memory_recall r on r.tenant_id = m.tenant_id and r.memory_id = m.id where m.id = ?`,
        [id],
      )
    )[0]!

  test('[MEM-14] [MEM-15] each field changes, alone and with others; metadata is replaced', async () => {
    const changes = {
      title: 'Another',
      content: 'Else',
      confidence: 0.25,
      importance: 0,
      metadata: { c: 3 },
      expires_at: '2040-01-01T00:00:00.000Z',
      freshness_date: null,
    }
    let expected = memory
    for (const [name, value] of Object.entries(changes)) {
      await service.clock.advance(1_000)
      expected = { ...expected, [name]: value, updated_at: now() }
      const reply = await calls.patch(agent, memory.id, { [name]: value })
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(reply.body, expected)
    }
    assert.deepEqual((await calls.list(agent)).memories[0], expected)
    await service.clock.advance(1_000)
    const all = await calls.patch(agent, memory.id, { ...changes, title: 'T', metadata: {}, expires_at: null })
    assert.deepEqual(all.body, { ...expected, title: 'T', metadata: {}, expires_at: null, updated_at: now() })
  })

  test('[MEM-15] scope, type and unknown fields are ignored; an empty body changes nothing', async () => {
    for (const body of [
      {},
      {
        scope: 'institutional',
        type: 'entity',
        team_id: 'x',
        agent_id: blue.id,
        status: 'deleted',
        id: 'x',
        accessed_at: 1,
      },
      { title: memory.title },
    ]) {
      const reply = await calls.patch(agent, memory.id, body)
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(reply.body, memory)
    }
  })

  test('[MEM-3] [MEM-4] [MEM-5] [MEM-6] an update is checked like a creation, before anything else', async () => {
    const wrong: [string, unknown[]][] = [
      ['title', ['', ' ', null, 'a\u0000']],
      ['content', ['', 'x'.repeat(32_769), null]],
      ['confidence', [-1, 2, null, '1']],
      ['importance', [-1, 2, null]],
      ['metadata', [null, []]],
      ['expires_at', ['2029-01-01T00:00:00Z', now(), 'x']],
      ['freshness_date', ['x', 1]],
    ]
    for (const [field, values] of wrong) {
      for (const value of values) {
        assertError(await calls.patch(agent, memory.id, { [field]: value }), 'validation_failed', { field })
        assertError(await calls.patch(blue, memory.id, { [field]: value }), 'validation_failed', { field })
      }
    }
    const longest = '🙂'.repeat(32_768)
    assert.equal((await calls.patch(agent, memory.id, { content: longest })).body.content, longest)
  })

  test('[MEM-14] the text is indexed again with title and content only', async () => {
    const version = async (body: object) => {
      assert.equal((await calls.patch(agent, memory.id, body)).status, 200)
      return (await status(memory.id)).texts
    }
    const first = (await status(memory.id)).texts!
    assert.equal(await version({ confidence: 0 }), first)
    assert.equal(await version({ title: 'New' }), first + 1)
    assert.equal(await version({ title: 'New' }), first + 1)
    assert.equal(await version({ title: 'Newer', content: 'New too' }), first + 2)
  })

  test('[MEM-11] fetching moves accessed_at, each time; lists and changes do not', async () => {
    const at = now()
    assert.equal((await calls.get(agent, memory.id)).body.accessed_at, at)
    await service.clock.advance(5000)
    assert.equal((await calls.list(agent)).memories[0]!.accessed_at, at)
    assert.equal((await calls.list(agent, { search: 'title' })).memories[0]!.accessed_at, at)
    assert.equal((await calls.patch(agent, memory.id, { confidence: 0.1 })).body.accessed_at, at)
    const again = await calls.get(agent, memory.id)
    assert.deepEqual([again.body.accessed_at, again.body.updated_at], [now(), now()])
  })

  test('[MEM-16] [MEM-9] a caller that sees but does not own it is refused; others do not find it', async () => {
    const shared = await calls.make(agent, { scope: 'institutional' })
    const tries = (by: Actor, id: string) => [
      calls.patch(by, id, {}),
      calls.patch(by, id, { title: 'Mine' }),
      calls.forget(by, id),
      calls.promote(by, id, { scope: 'institutional' }),
    ]
    for (const reply of await Promise.all(tries(blue, shared.id)))
      assertError(reply, 'business_rule_violation', { rule: 'not_owner', memory_id: shared.id })
    for (const reply of await Promise.all(tries(blue, memory.id)))
      assertError(reply, 'not_found', { resource_type: 'memory', resource_id: memory.id })
    for (const id of ['mem_x', 'agt_01hv3k8z9q4m7t2x5c6w8r0s1d', 'mem_01hv3k8z9q4m7t2x5c6w8r0s1d', '%00', "'"]) {
      for (const reply of await Promise.all(tries(agent, id)))
        assertError(reply, 'not_found', { resource_type: 'memory' })
    }
    assert.deepEqual((await calls.get(agent, shared.id)).body, { ...shared, accessed_at: now() })
  })

  test('[MEM-10] an org-admin changes, promotes and deletes every memory of its tenant, and none of another', async () => {
    assert.equal((await calls.get(admin, memory.id)).status, 200)
    const changed = await calls.patch(admin, memory.id, { title: 'By the admin' })
    assert.deepEqual([changed.body.title, changed.body.agent_id], ['By the admin', agent.id])
    assert.equal((await calls.promote(admin, memory.id, { scope: 'team', team_id: 'blue' })).body.scope, 'team')
    const stranger = { token: (await service.tenant()).admin, id: '' }
    for (const reply of [
      await calls.get(stranger, memory.id),
      await calls.patch(stranger, memory.id, {}),
      await calls.forget(stranger, memory.id),
    ]) {
      assertError(reply, 'not_found', { resource_type: 'memory', resource_id: memory.id })
    }
    assert.equal((await calls.forget(admin, memory.id)).status, 204)
  })

  test('[MEM-17] a deleted memory is gone, and deleting again finds nothing', async () => {
    const { total } = await calls.list(agent)
    const reply = await calls.forget(agent, memory.id)
    assert.deepEqual([reply.status, reply.text], [204, ''])
    assert.equal((await status(memory.id)).status, 'deleted')
    for (const by of [agent, admin]) {
      for (const gone of [
        await calls.get(by, memory.id),
        await calls.patch(by, memory.id, {}),
        await calls.promote(by, memory.id, { scope: 'institutional' }),
        await calls.forget(by, memory.id),
      ]) {
        assertError(gone, 'not_found', { resource_type: 'memory', resource_id: memory.id })
      }
      assert.ok(!ids((await calls.list(by)).memories).includes(memory.id))
      assert.ok(!ids((await calls.list(by, { search: 'A title' })).memories).includes(memory.id))
    }
    assert.equal((await calls.list(agent)).total, total - 1)
  })

  test('[MEM-19] promoted memories are seen and found at once by agents that newly see them', async () => {
    const red = await tenant.agent({ team: 'red' })
    const word = `word-${memory.id}`
    await calls.patch(agent, memory.id, { content: `x ${word} y` })
    const { texts } = await status(memory.id)
    const seenBy = async () => {
      const seen = []
      for (const [name, by] of Object.entries({ agent, blue, red })) {
        const get = (await calls.get(by, memory.id)).status === 200
        const listed = ids((await calls.list(by)).memories).includes(memory.id)
        const found = (await calls.list(by, { search: word })).total === 1
        assert.deepEqual([get, listed, found], [get, get, get], name)
        if (get) seen.push(name)
      }
      return seen
    }
    assert.deepEqual(await seenBy(), ['agent'])
    await service.clock.advance(1000)
    const team = await calls.promote(agent, memory.id, { scope: 'team', team_id: 'blue' })
    assert.equal(team.status, 200, team.text)
    assert.deepEqual([team.body.scope, team.body.team_id, team.body.updated_at], ['team', 'blue', now()])
    assert.deepEqual(await seenBy(), ['agent', 'blue'])
    const all = await calls.promote(agent, memory.id, { scope: 'institutional' })
    assert.deepEqual([all.status, all.body.scope, all.body.team_id], [200, 'institutional', null])
    assert.deepEqual(await seenBy(), ['agent', 'blue', 'red'])
    assert.equal((await status(memory.id)).texts, texts, 'it is not indexed again')
  })

  test('[MEM-20] an inconsistent payload is 400', async () => {
    const refused: [string, object][] = [
      ['scope', { scope: 'agent' }],
      ['scope', {}],
      ['scope', { scope: 'tenant' }],
      ['scope', { scope: null }],
      ['team_id', { scope: 'team' }],
      ['team_id', { scope: 'team', team_id: null }],
      ['team_id', { scope: 'team', team_id: '' }],
      ['team_id', { scope: 'team', team_id: 1 }],
      ['team_id', { scope: 'institutional', team_id: 'blue' }],
    ]
    for (const [field, body] of refused) {
      assertError(await calls.promote(agent, memory.id, body), 'validation_failed', { field })
      assertError(await calls.promote(agent, 'mem_unknown', body), 'validation_failed', { field })
    }
    assert.equal((await calls.promote(agent, memory.id, { scope: 'institutional', team_id: null })).status, 200)
  })

  test('[MEM-21] promoting to the current scope is 200 and changes nothing', async () => {
    for (const body of [{ scope: 'team', team_id: 'blue' }, { scope: 'institutional' }]) {
      const { body: first } = await calls.promote(agent, memory.id, body)
      await service.clock.advance(1000)
      const again = await calls.promote(agent, memory.id, body)
      assert.equal(again.status, 200)
      assert.deepEqual(again.body, first)
    }
  })

  test('[MEM-22] [STO-17] a scope only widens, and a team is not exchanged', async () => {
    // The refusal quotes the team, which must not be taken for an error of the database.
    await calls.promote(agent, memory.id, { scope: 'team', team_id: 'timeout expired' })
    const refused = async (body: object) =>
      assertError(await calls.promote(agent, memory.id, body), 'business_rule_violation', {
        rule: 'scope_only_widens',
        memory_id: memory.id,
      })
    await refused({ scope: 'team', team_id: 'red' })
    await calls.promote(agent, memory.id, { scope: 'institutional' })
    await refused({ scope: 'team', team_id: 'timeout expired' })
    assert.equal((await calls.get(agent, memory.id)).body.scope, 'institutional')
  })

  test('[MEM-17] of two concurrent deletions one succeeds', async () => {
    const replies = await Promise.all(Array.from({ length: 8 }, () => calls.forget(agent, memory.id)))
    assert.deepEqual(replies.map((reply) => reply.status).sort(), [204, ...Array<number>(7).fill(404)])
  })

  test('[MEM-14] concurrent changes do not overwrite each other', async () => {
    const texts = (await status(memory.id)).texts!
    await Promise.all([
      calls.patch(agent, memory.id, { title: 'T' }),
      calls.patch(agent, memory.id, { content: 'C' }),
      calls.patch(agent, memory.id, { confidence: 0.5 }),
      calls.promote(agent, memory.id, { scope: 'institutional' }),
      calls.get(agent, memory.id),
    ])
    const { body } = await calls.get(agent, memory.id)
    assert.deepEqual([body.title, body.content, body.confidence, body.scope], ['T', 'C', 0.5, 'institutional'])
    assert.equal((await status(memory.id)).texts, texts + 2)
  })
})
