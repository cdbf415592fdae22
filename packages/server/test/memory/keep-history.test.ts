// The history of a memory: its versions, and restoring one.
import assert from 'node:assert/strict'
import { before, beforeEach, test } from 'node:test'
import type { Memory, MemoryVersion } from '@sensorium/contract'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { agentForSuite, serviceForSuite, tenantForSuite, type TestAgent } from '../support/service.ts'
import { dropUpTo } from '../../src/memory/versions.ts'
import { memoryCalls, orgAdmin, type Actor } from './tools.ts'

test('[KEP-2] the newest hundred versions are kept, up to a mebibyte, and the last change of any size', () => {
  const rows = (count: number, bytes: number) =>
    Array.from({ length: count }, (_, i) => ({ version: count + 1 - i, bytes }))
  assert.equal(dropUpTo(rows(100, 10)), 0)
  assert.equal(dropUpTo(rows(101, 10)), 2)
  assert.equal(dropUpTo(rows(4, 524_288)), 3)
  assert.equal(dropUpTo(rows(1, 9_000_000)), 0)
  assert.equal(dropUpTo(rows(2, 9_000_000)), 2)
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const agent = agentForSuite(tenant)
  let other: TestAgent
  let admin: Actor
  const calls = memoryCalls(service)
  before(async () => {
    other = await tenant.agent()
    admin = await orgAdmin(service, tenant)
  })

  let memory: Memory
  beforeEach(async () => {
    memory = await calls.make(agent, { title: 'First', content: 'One', metadata: { a: 1 }, confidence: 0.5 })
    await service.clock.advance(1000)
  })
  const now = () => new Date(service.clock.now()).toISOString()
  const history = (by: Actor, id = memory.id) =>
    service.call<{ versions: MemoryVersion[] }>(`GET /v1/memories/${id}/history`, { token: by.token })
  const versions = async (by: Actor = agent): Promise<MemoryVersion[]> => {
    const reply = await history(by)
    assert.equal(reply.status, 200, reply.text)
    return reply.body.versions
  }
  const restore = (by: Actor, version: unknown, id = memory.id) =>
    service.call<Memory>(`POST /v1/memories/${id}/restore`, { token: by.token, body: { version } })
  const rows = () => service.store.rows('select version from memory_versions where memory_id = ?', [memory.id])

  test('[KEP-1] each change is a version with who, when and what, newest first; a new memory has one', async () => {
    const [only, ...rest] = await versions()
    assert.deepEqual(rest, [])
    assert.deepEqual(await rows(), [])
    assert.equal(only!.version, 1)
    assert.equal(only!.changed_at, memory.created_at)
    assert.equal(only!.changed_by, agent.id)
    assert.equal(only!.fields['title'], 'First')
    assert.deepEqual(only!.fields['metadata'], { a: 1 })
    const first = now()
    await calls.patch(agent, memory.id, { title: 'Second', confidence: 0.75 })
    await calls.patch(agent, memory.id, { title: 'Second' })
    await service.clock.advance(1000)
    const second = now()
    await calls.patch(admin, memory.id, { title: 'Third', expires_at: '2040-01-01T00:00:00.000Z' })
    const all = await versions()
    assert.deepEqual(all.slice(0, 2), [
      {
        version: 3,
        changed_at: second,
        changed_by: admin.id,
        fields: { title: 'Third', expires_at: '2040-01-01T00:00:00.000Z' },
      },
      { version: 2, changed_at: first, changed_by: agent.id, fields: { title: 'Second', confidence: 0.75 } },
    ])
    assert.deepEqual(all[2], only)
    assert.deepEqual(Object.keys(only!.fields).sort(), [
      ...['confidence', 'content', 'expires_at', 'freshness_date', 'importance', 'metadata', 'project_id', 'scope'],
      ...['source_event_id', 'source_id', 'source_type', 'source_url', 'team_id', 'title', 'type'],
    ])
  })

  test('[KEP-1] a promotion is a version; others see those since they see the memory', async () => {
    assertError(await history(other), 'not_found')
    assertError(await history(agent, 'mem_nothing'), 'not_found')
    await calls.patch(agent, memory.id, { content: 'The password was taken out' })
    await calls.promote(agent, memory.id, { scope: 'institutional' })
    assert.deepEqual((await versions(agent))[0]!.fields, { scope: 'institutional' })
    for (const whole of [agent, admin]) assert.equal((await versions(whole)).length, 3)
    const [promoted, ...before] = await versions(other)
    assert.deepEqual(before, [])
    assert.deepEqual([promoted!.version, promoted!.fields['content']], [3, 'The password was taken out'])
    await calls.patch(agent, memory.id, { title: 'Second' })
    assert.deepEqual(
      (await versions(other)).map(({ version }) => version),
      [4, 3],
    )
    await calls.forget(agent, memory.id)
    assertError(await history(agent), 'not_found')
    const elsewhere = await service.tenant()
    assertError(await history(await orgAdmin(service, elsewhere)), 'not_found')
  })

  test('[KEP-2] a hundred versions are listed, and the oldest of them shows everything', async () => {
    const change = (i: number) => calls.patch(agent, memory.id, { title: `Title ${i}` })
    for (let i = 2; i <= 101; i++) await change(i)
    // Every change is kept still, but the memory as it was created is one version too many.
    assert.equal((await versions()).at(-1)!.version, 2)
    for (let i = 102; i <= 104; i++) await change(i)
    const all = await versions()
    assert.equal(all.length, 100)
    assert.deepEqual(
      all.map(({ version }) => version),
      Array.from({ length: 100 }, (_, i) => 104 - i),
    )
    assert.equal(all.at(-1)!.fields['title'], 'Title 5')
    assert.equal(all.at(-1)!.fields['content'], 'One')
    assert.deepEqual(all.at(-2)!.fields, { title: 'Title 6' })
    assert.equal((await rows()).length, 100)
    assertError(await restore(agent, 4), 'not_found')
    assert.equal((await restore(agent, 5)).body.title, 'Title 5')
  })

  test('[KEP-2] replaced texts are bounded in bytes', async () => {
    const metadata = (i: number) => ({ i, long: 'x'.repeat(300_000) })
    for (let i = 2; i <= 7; i++) await calls.patch(agent, memory.id, { metadata: metadata(i) })
    const all = await versions()
    assert.deepEqual(
      all.map(({ version }) => version),
      [7, 6, 5],
    )
    assert.deepEqual(all.at(-1)!.fields['metadata'], metadata(5))
    // A change that leaves the metadata as it is replaces next to nothing.
    for (let i = 1; i <= 4; i++) await calls.patch(agent, memory.id, { confidence: i / 8 })
    assert.equal((await versions()).length, all.length + 4)
  })

  test('[KEP-3] an older version is restored as the newest one; its visibility stays', async () => {
    await calls.patch(agent, memory.id, { title: 'Second', content: 'Two', metadata: { b: 2 } })
    await calls.promote(agent, memory.id, { scope: 'team', team_id: 'blue' })
    await service.clock.advance(1000)
    const back = await restore(agent, 1)
    assert.equal(back.status, 200, back.text)
    const expected = { ...memory, scope: 'team', team_id: 'blue', updated_at: now() }
    assert.deepEqual(back.body, expected)
    assert.deepEqual((await versions())[0], {
      version: 4,
      changed_at: now(),
      changed_by: agent.id,
      fields: { title: 'First', content: 'One', metadata: { a: 1 } },
    })
    const found = await service.call<{ results: { memory: Memory }[] }>('POST /v1/memories/search', {
      token: agent.token,
      body: { query: 'Second Two', limit: 1 },
    })
    assert.equal(
      found.body.results.some(({ memory: { title } }) => title === 'Second'),
      false,
    )
    // Restoring again changes nothing.
    assert.deepEqual((await restore(admin, 1)).body, expected)
    assert.equal((await versions()).length, 4)
  })

  test('[KEP-3] a restore needs the owner or an org-admin, and a version that exists', async () => {
    await calls.promote(agent, memory.id, { scope: 'institutional' })
    assertError(await restore(other, 1), 'business_rule_violation')
    const details = assertError(await restore(agent, 7), 'not_found')
    assert.deepEqual(details, { resource_type: 'memory_version', resource_id: '7' })
    for (const wrong of [0, 'one', 1.5, null]) assertError(await restore(agent, wrong), 'validation_failed')
    await calls.patch(agent, memory.id, { title: 'Second' })
    assert.equal((await restore(admin, 1)).body.title, 'First')
    assert.equal((await versions())[0]!.changed_by, admin.id)
  })

  test('[KEP-3] an expiry that has passed meanwhile is not restored', async () => {
    const soon = new Date(service.clock.now() + 60_000).toISOString()
    await calls.patch(agent, memory.id, { expires_at: soon })
    await calls.patch(agent, memory.id, { expires_at: null, title: 'Later' })
    assert.equal((await restore(agent, 2)).body.expires_at, soon)
    await restore(agent, 1)
    await service.clock.advance(60_000)
    const back = (await restore(agent, 2)).body
    assert.equal(back.expires_at, null)
    assert.equal(back.title, 'First')
    const later = new Date(service.clock.now() + 60_000).toISOString()
    await calls.patch(agent, memory.id, { expires_at: later, title: 'Last' })
    const again = (await restore(agent, 2)).body
    assert.deepEqual([again.title, again.expires_at], ['First', later], 'the present expiry stays')
  })

  test('[KEP-4] metadata keeps its text, also when it is large; a change that is refused leaves no version', async () => {
    const text = '{ "exact": 12345678901234567890.10, "same": 1e2 }'
    const patch = (metadata: string) =>
      service.call(`PATCH /v1/memories/${memory.id}`, {
        token: agent.token,
        headers: { 'content-type': 'application/json' },
        raw: `{"metadata":${metadata}}`,
      })
    assert.equal((await patch(text)).status, 200)
    await calls.patch(agent, memory.id, { metadata: {} })
    assert.ok((await history(agent)).text.includes(`"metadata":${text}`))
    assert.ok((await restore(agent, 2)).text.includes(`"metadata":${text}`))
    const before = await versions()
    assertError(
      await calls.patch(agent, memory.id, { title: 'x', expires_at: '2001-01-01T00:00:00Z' }),
      'validation_failed',
    )
    assert.deepEqual(await versions(), before)
    // Over a mebibyte the response is produced while it is read.
    assert.equal((await patch(`{"long":"${'y'.repeat(900_000)}"}`)).status, 200)
    assert.equal((await patch(`{"long":"${'z'.repeat(900_000)}"}`)).status, 200)
    const long = await history(agent)
    assert.equal(long.status, 200)
    assert.equal((long.body.versions[0]!.fields['metadata'] as { long: string }).long.length, 900_000)
  })
})
