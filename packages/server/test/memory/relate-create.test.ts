// Relationships: created, refused, listed and deleted.
import assert from 'node:assert/strict'
import { before, beforeEach, test } from 'node:test'
import type { Memory } from '@sensorium/contract'
import type { Principal } from '../../src/auth/principal.ts'
import { eraseMemory } from '../../src/memory/erase.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { overOrWaiting } from '../support/over-or-waiting.ts'
import { agentForSuite, serviceForSuite, tenantForSuite, type TestAgent } from '../support/service.ts'
import { memoryCalls, orgAdmin, type Actor } from './tools.ts'

const NEVER = 'mem_01hv3k8z9q4m7t2x5c6w8r0s1d'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const agent = agentForSuite(tenant)
  let other: TestAgent
  let admin: Actor
  const calls = memoryCalls(service)
  let a: Memory
  let b: Memory
  before(async () => {
    other = await tenant.agent()
    admin = await orgAdmin(service, tenant)
  })
  beforeEach(async () => {
    a = await calls.make(agent, { scope: 'institutional', title: 'a' })
    b = await calls.make(agent, { title: 'b' })
  })

  test('[KEP-14] a relationship that is created while one end is erased does not remain', async () => {
    const tools = { now: service.clock.now, index: service.app.memory.index }
    const principal = { kind: 'org_admin', id: admin.id, tenantId: tenant.id, teamId: null } as Principal
    let made: Promise<{ status: number }> | undefined
    await service.store.tx(async (tx) => {
      await eraseMemory(tx, tools, principal, b.id)
      made = calls.relate(agent, a.id, b.id)
      await overOrWaiting(service.store, made)
    })
    assert.equal((await made!).status, 404)
    const left = await service.store.rows(
      'select id from memory_relationships where tenant_id = ? and target_memory_id = ?',
      [tenant.id, b.id],
    )
    assert.deepEqual(left, [])
  })

  test('[REL-1] [REL-3] a relationship is created with defaults, and with every field set', async () => {
    const { status, body } = await calls.relate(agent, a.id, b.id)
    assert.equal(status, 201)
    assert.match(body.id, /^rel_[0-9a-z]{26}$/)
    assert.deepEqual(body, {
      id: body.id,
      tenant_id: tenant.id,
      source_memory_id: a.id,
      target_memory_id: b.id,
      relationship_type: 'supports',
      strength: 1,
      metadata: null,
      created_at: new Date(service.clock.now()).toISOString(),
    })
    const full = await calls.relate(agent, a.id, b.id, {
      relationship_type: 'part_of',
      strength: 0,
      metadata: { 'a.b': [null] },
      tenant_id: 'x',
      id: 'x',
      colour: 1,
    })
    assert.partialDeepStrictEqual(full.body, {
      strength: 0,
      metadata: { 'a.b': [null] },
      tenant_id: tenant.id,
      relationship_type: 'part_of',
    })
    assert.ok(!('colour' in full.body))
    assert.deepEqual(
      (await calls.related(agent, a.id)).map((item) => item.relationship),
      [body, full.body],
    )
    assert.equal((await calls.relate(agent, b.id, a.id, { metadata: null })).body.metadata, null)
    assert.deepEqual(
      (await calls.relate(agent, b.id, a.id, { relationship_type: 'part_of', metadata: {} })).body.metadata,
      {},
    )
  })

  test('[REL-2] every type is accepted, and nothing else', async () => {
    for (const relationship_type of ['caused_by', 'related_to', 'contradicts', 'supports', 'derived_from', 'part_of']) {
      assert.equal((await calls.relate(agent, a.id, b.id, { relationship_type })).status, 201)
    }
    for (const relationship_type of ['causes', '', null, 1, undefined]) {
      assertError(await calls.relate(agent, a.id, b.id, { relationship_type }), 'validation_failed', {
        field: 'relationship_type',
      })
    }
  })

  test('[REL-3] a wrong strength, metadata or target is refused before anything is looked up', async () => {
    for (const strength of [-0.1, 1.1, '1', null])
      assertError(await calls.relate(agent, NEVER, b.id, { strength }), 'validation_failed', { field: 'strength' })
    for (const metadata of [[], 'x', 1])
      assertError(await calls.relate(agent, NEVER, b.id, { metadata }), 'validation_failed', { field: 'metadata' })
    for (const target of [undefined, null, 1, '']) {
      assertError(await calls.relate(agent, NEVER, target as string), 'validation_failed', {
        field: 'target_memory_id',
      })
    }
  })

  test('[REL-4] [ISO-2] the caller must see both ends', async () => {
    const missing = (reply: Awaited<ReturnType<typeof calls.relate>>, id: string) =>
      assertError(reply, 'not_found', { resource_type: 'memory', resource_id: id })
    const elsewhere = await calls.make(await (await service.tenant()).agent(), { scope: 'institutional' })
    for (const id of [NEVER, 'mem_x', elsewhere.id]) {
      missing(await calls.relate(agent, id, b.id), id)
      missing(await calls.relate(agent, a.id, id), id)
    }
    missing(await calls.relate(other, a.id, b.id), b.id)
    missing(await calls.relate(other, b.id, a.id), b.id)
    const mine = await calls.make(other)
    assert.equal((await calls.relate(other, a.id, mine.id)).status, 201, 'from a memory one only sees')
    await calls.forget(agent, b.id)
    missing(await calls.relate(agent, a.id, b.id), b.id)
  })

  test('[REL-5] the same relationship again is a conflict, another type or direction is not', async () => {
    const { body } = await calls.relate(agent, a.id, b.id, { strength: 0.5 })
    assertError(await calls.relate(agent, a.id, b.id, { strength: 0.9 }), 'conflict', { existing_resource_id: body.id })
    assert.equal((await calls.relate(agent, a.id, b.id, { relationship_type: 'related_to' })).status, 201)
    assert.equal((await calls.relate(agent, b.id, a.id)).status, 201)
    const racing = await Promise.all(
      Array.from({ length: 8 }, () => calls.relate(agent, a.id, b.id, { relationship_type: 'part_of' })),
    )
    assert.deepEqual(racing.map(({ status }) => status).sort(), [201, ...Array<number>(7).fill(409)])
    assert.equal((await calls.unrelate(agent, a.id, body.id)).status, 204)
    assert.equal((await calls.relate(agent, a.id, b.id)).status, 201)
  })

  test('[REL-6] a memory cannot be related to itself', async () => {
    assertError(await calls.relate(agent, a.id, a.id), 'business_rule_violation', {
      rule: 'self_relationship',
      memory_id: a.id,
    })
    assertError(await calls.relate(other, b.id, b.id), 'not_found')
  })

  test('[REL-7] [REL-13] the items of a list, with the allowed depths and directions', async () => {
    const c = await calls.make(agent, { title: 'c' })
    const d = await calls.make(agent, { title: 'd' })
    const e = await calls.make(agent, { title: 'e' })
    const ab = (await calls.relate(agent, a.id, b.id, { strength: 0.5 })).body
    const bc = (await calls.relate(agent, b.id, c.id, { strength: 0.5 })).body
    await calls.relate(agent, c.id, d.id)
    await calls.relate(agent, d.id, e.id)
    const items = await calls.related(agent, a.id, '?depth=2')
    assert.deepEqual(items, [
      { relationship: ab, memory: b, depth: 1, cumulative_strength: 0.5 },
      { relationship: bc, memory: c, depth: 2, cumulative_strength: 0.25 },
    ])
    const titles = async (id: string, query: string) =>
      (await calls.related(agent, id, query)).map(({ memory }) => memory.title).join('')
    for (const [query, reached] of [
      ['', 'b'],
      ['?depth=1', 'b'],
      ['?depth=0', 'b'],
      ['?depth=-7', 'b'],
      ['?depth=2', 'bc'],
      ['?depth=3', 'bcd'],
      ['?depth=4', 'bcd'],
      ['?depth=999', 'bcd'],
    ]) {
      assert.equal(await titles(a.id, query!), reached, query)
    }
    assert.equal(await titles(c.id, '?direction=out&depth=3'), 'de')
    assert.equal(await titles(c.id, '?direction=in&depth=3'), 'ba')
    assert.equal(await titles(c.id, '?direction=both&depth=1'), 'db')
    assert.equal(await titles(c.id, '?direction=both&depth=3'), 'dbea')
    for (const depth of ['1.5', 'x', '', '1e1', 'null', '%20']) {
      assertError(
        await service.call(`GET /v1/memories/${a.id}/relationships?depth=${depth}`, { token: agent.token }),
        'validation_failed',
        { field: 'depth' },
      )
    }
    for (const direction of ['OUT', '', 'sideways']) {
      assertError(
        await service.call(`GET /v1/memories/${a.id}/relationships?direction=${direction}`, { token: agent.token }),
        'validation_failed',
        { field: 'direction' },
      )
    }
    for (const id of [NEVER, 'x']) {
      assertError(await service.call(`GET /v1/memories/${id}/relationships`, { token: agent.token }), 'not_found', {
        resource_type: 'memory',
        resource_id: id,
      })
    }
    assertError(await service.call(`GET /v1/memories/${b.id}/relationships`, { token: other.token }), 'not_found', {
      resource_id: b.id,
    })
  })

  test('[REL-11] a deleted, expired or hidden memory ends every path, and promotion opens it', async () => {
    const c = await calls.make(agent, { scope: 'institutional', title: 'c' })
    await calls.relate(agent, a.id, b.id)
    await calls.relate(agent, b.id, c.id)
    const reached = async (by: Actor) =>
      (await calls.related(by, a.id, '?depth=3')).map(({ memory }) => memory.title).join('')
    assert.deepEqual([await reached(agent), await reached(other), await reached(admin)], ['bc', '', 'bc'])
    await calls.promote(agent, b.id, { scope: 'institutional' })
    assert.equal(await reached(other), 'bc')
    await calls.patch(agent, b.id, { expires_at: new Date(service.clock.now() + 1000).toISOString() })
    assert.equal(await reached(other), 'bc')
    await service.clock.advance(1000)
    assert.deepEqual([await reached(agent), await reached(admin)], ['', ''])
    const d = await calls.make(agent, { title: 'd' })
    await calls.relate(agent, a.id, d.id)
    await calls.relate(agent, d.id, c.id)
    assert.equal(await reached(agent), 'dc')
    await calls.forget(agent, d.id)
    assert.equal(await reached(agent), '')
  })

  test('[REL-14] its creator, the owner of its source and an org-admin may delete it; others may not', async () => {
    const mine = await calls.make(other, { scope: 'institutional' })
    const make = async (by: Actor, from: string, to: string) => (await calls.relate(by, from, to)).body.id
    const gone = async (by: Actor, from: string, id: string) => {
      const reply = await calls.unrelate(by, from, id)
      assert.deepEqual([reply.status, reply.text], [204, ''])
      assertError(await calls.unrelate(by, from, id), 'not_found', { resource_type: 'relationship', resource_id: id })
    }
    await gone(other, a.id, await make(other, a.id, mine.id)) // its creator
    await gone(agent, a.id, await make(other, a.id, mine.id)) // the owner of its source
    await gone(admin, a.id, await make(other, a.id, mine.id)) // an org-admin
    const seen = await make(agent, a.id, mine.id)
    assertError(await calls.unrelate(other, a.id, seen), 'business_rule_violation', {
      rule: 'not_owner',
      relationship_id: seen,
    })
    const hidden = await make(agent, a.id, b.id)
    assertError(await calls.unrelate(other, a.id, hidden), 'not_found', {
      resource_type: 'relationship',
      resource_id: hidden,
    })
    assertError(await calls.unrelate(agent, b.id, hidden), 'not_found', {
      resource_type: 'relationship',
      resource_id: hidden,
    })
    assertError(await calls.unrelate(other, b.id, hidden), 'not_found', { resource_type: 'memory', resource_id: b.id })
    for (const id of ['rel_x', 'rel_01hv3k8z9q4m7t2x5c6w8r0s1d', a.id])
      assertError(await calls.unrelate(agent, a.id, id), 'not_found', { resource_type: 'relationship' })
    await calls.forget(agent, b.id)
    await gone(agent, a.id, hidden) // its target is gone already
    const reader = await tenant.agent({ scopes: ['memory:read'] })
    assertError(await calls.unrelate(reader, a.id, seen), 'insufficient_scope', { required_scope: 'memory:write' })
    assertError(await calls.relate(reader, a.id, mine.id), 'insufficient_scope', { required_scope: 'memory:write' })
    assert.equal((await calls.related(reader, a.id)).length, 1)
  })

  test('[REL-15] [ISO-1] an org-admin relates all memories of its tenant, and none of another', async () => {
    const mine = await calls.make(other)
    const { body, status } = await calls.relate(admin, b.id, mine.id)
    assert.equal(status, 201)
    assert.deepEqual(
      (await calls.related(admin, b.id)).map((item) => item.memory.id),
      [mine.id],
    )
    assert.deepEqual(await calls.related(agent, b.id), [])
    const stranger = { token: (await service.tenant()).admin, id: '' }
    assertError(await calls.relate(stranger, b.id, mine.id), 'not_found', { resource_id: b.id })
    assertError(await calls.unrelate(stranger, b.id, body.id), 'not_found', { resource_id: b.id })
    assert.equal((await calls.unrelate(admin, b.id, body.id)).status, 204)
  })
})
