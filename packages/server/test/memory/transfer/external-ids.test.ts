// Memories by the id that they have in another system.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Memory } from '@sensorium/contract'
import { onBothEngines } from '../../support/engines.ts'
import { assertError } from '../../support/expect.ts'
import { agentForSuite, serviceForSuite, tenantForSuite, type TestAgent } from '../../support/service.ts'
import { aMemory, ids, memoryCalls, type Actor } from '../tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const agent = agentForSuite(tenant)
  let other: TestAgent
  const calls = memoryCalls(service)
  before(async () => {
    other = await tenant.agent()
  })

  const put = (by: Actor, externalId: string, body: object = {}) =>
    service.call<Memory>(`PUT /v1/memories/by-external-id/${encodeURIComponent(externalId)}`, {
      token: by.token,
      body: { ...aMemory, ...body },
    })

  test('[KEP-5] an external id is unique for an owner; other owners may use the same', async () => {
    const memory = await calls.make(agent, { external_id: 'once' })
    assert.equal(memory.external_id, 'once')
    assert.equal((await calls.get(agent, memory.id)).body.external_id, 'once')
    assertError(await calls.post(agent, { external_id: 'once' }), 'conflict', { existing_resource_id: memory.id })
    assert.equal((await calls.make(other, { external_id: 'once' })).external_id, 'once')
    const none = await calls.make(agent)
    assert.equal('external_id' in none, false)
    for (const wrong of ['', ' ', 'x'.repeat(256), 7])
      assertError(await calls.post(agent, { external_id: wrong }), 'validation_failed', { field: 'external_id' })
    // An update does not change it.
    assert.equal((await calls.patch(agent, memory.id, { external_id: 'twice' })).body.external_id, 'once')
  })

  test('[KEP-5] a deleted or expired memory frees its external id', async () => {
    const deleted = await calls.make(agent, { external_id: 'gone' })
    await calls.forget(agent, deleted.id)
    const again = await calls.make(agent, { external_id: 'gone' })
    assert.notEqual(again.id, deleted.id)
    const expires_at = new Date(service.clock.now() + 1000).toISOString()
    const brief = await calls.make(agent, { external_id: 'brief', expires_at })
    await service.clock.advance(1001)
    const made = await put(agent, 'brief', { title: 'Now' })
    assert.equal(made.status, 201, made.text)
    assert.notEqual(made.body.id, brief.id)
    assert.deepEqual(ids((await calls.list(agent, { status: 'expired' })).memories), [brief.id])
  })

  test('[KEP-6] a put creates a memory, changes it, or leaves it as it is', async () => {
    const made = await put(agent, 'wiki/7 ü', { title: 'Pump', confidence: 0.4, metadata: { a: 1 } })
    assert.equal(made.status, 201, made.text)
    assert.equal(made.body.external_id, 'wiki/7 ü')
    await service.clock.advance(1000)
    const same = await put(agent, 'wiki/7 ü', { title: 'Pump', confidence: 0.4, metadata: { a: 1 } })
    assert.equal(same.status, 200)
    assert.deepEqual(same.body, made.body)
    const changed = await put(agent, 'wiki/7 ü', { title: 'Valve', type: 'entity', project_id: 'p' })
    assert.equal(changed.status, 200)
    const { updated_at, ...rest } = changed.body
    assert.equal(updated_at, new Date(service.clock.now()).toISOString())
    const { updated_at: _, ...before } = made.body
    // Fields that the body leaves out get the defaults of a new memory.
    assert.deepEqual(rest, {
      ...before,
      title: 'Valve',
      type: 'entity',
      project_id: 'p',
      confidence: 1,
      metadata: {},
    })
    assert.deepEqual(ids((await calls.list(agent, { search: 'valve' })).memories), [made.body.id])
    const { versions } = (
      await service.call<{ versions: { fields: object }[] }>(`GET /v1/memories/${made.body.id}/history`, {
        token: agent.token,
      })
    ).body
    assert.deepEqual(versions[0]!.fields, {
      title: 'Valve',
      type: 'entity',
      project_id: 'p',
      confidence: 1,
      metadata: {},
    })
  })

  test('[KEP-6] a put affects own memories only; body and path are checked; a scope only widens', async () => {
    const mine = (await put(agent, 'shared', { scope: 'institutional' })).body
    const theirs = await put(other, 'shared')
    assert.equal(theirs.status, 201)
    assert.notEqual(theirs.body.id, mine.id)
    assertError(await put(agent, 'shared', { scope: 'agent' }), 'business_rule_violation', {
      rule: 'scope_only_widens',
      memory_id: mine.id,
    })
    assert.equal((await put(other, 'shared', { scope: 'team', team_id: 'blue' })).body.team_id, 'blue')
    assertError(await put(agent, 'x'.repeat(256)), 'validation_failed', { field: 'external_id' })
    assertError(await put(agent, 'x', { external_id: 'y' }), 'validation_failed', { field: 'external_id' })
    assertError(await put(agent, 'x', { type: 'none' }), 'validation_failed', { field: 'type' })
    const reader = await tenant.agent({ scopes: ['memory:read'] })
    assertError(await put(reader, 'x'), 'insufficient_scope', { required_scope: 'memory:write' })
  })

  test('[KEP-6] of many concurrent puts one creates the memory, and none fails', async () => {
    const replies = await Promise.all(Array.from({ length: 8 }, (_, i) => put(agent, 'race', { title: `Title ${i}` })))
    assert.deepEqual(
      replies.map(({ status }) => status).sort(),
      [200, 200, 200, 200, 200, 200, 200, 201],
      replies.map(({ text }) => text).join('\n'),
    )
    assert.equal(new Set(replies.map(({ body }) => body.id)).size, 1)
  })
})
