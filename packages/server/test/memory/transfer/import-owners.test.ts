// Lines of an import whose id, external id and owner name different memories: whose memory such a line becomes.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { Memory } from '@sensorium/contract'
import { onBothEngines } from '../../support/engines.ts'
import { serviceForSuite, type TestAgent, type TestTenant } from '../../support/service.ts'
import { aMemory, memoryCalls, orgAdmin, type Actor } from '../tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const calls = memoryCalls(service)
  let tenant: TestTenant
  let agent: TestAgent
  let other: TestAgent
  let admin: Actor
  beforeEach(async () => {
    tenant = await service.tenant()
    agent = await tenant.agent()
    other = await tenant.agent()
    admin = await orgAdmin(service, tenant)
  })

  /** Returns how many lines were created, updated, skipped and refused, and the refusals: line, code and holder. */
  async function imported(by: Actor, body: string | object[]) {
    const { counts, errors } = await calls.imported(by, body)
    const refused = errors.map(({ line, error }) => [line, error.code, error.details['existing_resource_id']])
    return refused.length > 0 ? [...counts, refused] : counts
  }
  const titles = async (by: Actor) => (await calls.list(by, { limit: '200' })).memories.map(({ title }) => title).sort()
  const erase = (id: string) => service.call(`DELETE /v1/memories/${id}?erase=true`, { token: admin.token })
  /** Asserts that a memory still says what it said, to the same readers, and never said anything else. */
  async function untouched(by: Actor, memory: Memory): Promise<void> {
    const { accessed_at: _, ...was } = memory
    assert.partialDeepStrictEqual((await calls.get(by, memory.id)).body, was)
    const history = await service.call(`GET /v1/memories/${memory.id}/history`, { token: by.token })
    assert.equal(history.body.versions.length, 1)
  }

  test('[KEP-9] one’s own export changes nothing, also where others use the same external id', async () => {
    const own = await calls.make(agent, { title: 'Private', external_id: 'doc' })
    const shared = await calls.make(other, { title: 'Shared', scope: 'institutional', external_id: 'doc' })
    const text = await calls.exported(agent)
    for (let i = 0; i < 3; i++) assert.deepEqual(await imported(agent, text), [0, 0, 2, 0])
    await untouched(agent, own)
    assert.equal((await calls.get(other, own.id)).status, 404)
    await untouched(other, shared)
    const all = await calls.exported(admin)
    await calls.make(admin, { title: 'Of the org-admin', external_id: 'doc' })
    assert.deepEqual(await imported(admin, all), [0, 0, 2, 0])
  })

  test('[KEP-9] a line is the live memory with its id, whatever else has its external id', async () => {
    const named = await calls.make(agent, { title: 'Named', external_id: 'doc' })
    const meant = await calls.make(agent, { title: 'Meant' })
    const line = { ...aMemory, id: meant.id, external_id: 'doc', title: 'New' }
    for (const agent_id of [agent.id, other.id, undefined]) {
      const isFirst = agent_id === agent.id
      assert.deepEqual(await imported(agent, [{ ...line, agent_id }]), isFirst ? [0, 1, 0, 0] : [0, 0, 1, 0])
      await untouched(agent, named)
    }
    assert.equal((await calls.get(agent, meant.id)).body.title, 'New')
    assert.equal((await calls.get(agent, meant.id)).body.external_id, undefined)
    // An org-admin restores a memory of an agent, and its own with the same external id stays.
    const its = await calls.make(admin, { title: 'Of the org-admin', external_id: 'doc' })
    const saved = await calls.exported(admin)
    await calls.patch(agent, named.id, { title: 'Spoiled' })
    assert.deepEqual(await imported(admin, saved), [0, 1, 2, 0])
    assert.equal((await calls.get(agent, named.id)).body.title, 'Named')
    await untouched(admin, its)
  })

  test('[KEP-9] another agent’s line never becomes one’s own memory, whether its memory is still there or not', async () => {
    const own = await calls.make(agent, { title: 'Private', external_id: 'doc' })
    const share = (title: string) => calls.make(other, { title, scope: 'institutional', external_id: 'doc' })
    const erased = await share('Erased')
    await erase(erased.id)
    const deleted = await share('Deleted')
    await calls.forget(other, deleted.id)
    const hidden = await calls.make(other, { title: 'Hidden', external_id: 'doc' })
    const lines = [erased, deleted, hidden, { ...aMemory, agent_id: other.id, external_id: 'doc' }]
    const refused = lines.map((_, i) => [i + 1, 'conflict', own.id])
    for (let i = 0; i < 2; i++) assert.deepEqual(await imported(agent, lines), [0, 0, 0, 4, refused])
    await untouched(agent, own)
    // Where the external id is free, the line becomes a memory of the caller, once; then other lines find it taken.
    await calls.forget(agent, own.id)
    assert.deepEqual(await imported(agent, [erased]), [1, 0, 0, 0])
    assert.deepEqual(await imported(agent, [erased]), [0, 0, 1, 0])
    assert.deepEqual(await titles(agent), ['Erased'])
  })

  test('[KEP-9] one’s own line whose memory is gone is the memory that has its external id now, or comes back', async () => {
    for (const by of [agent, admin]) {
      const gone = await calls.make(agent, { title: 'Gone', external_id: 'doc' })
      const its = await calls.make(admin, { title: 'Of the org-admin', external_id: 'doc' })
      await calls.forget(agent, gone.id)
      assert.deepEqual(await imported(by, [gone]), [0, 1, 0, 0])
      assert.equal((await calls.get(agent, gone.id)).body.title, 'Gone')
      await calls.forget(agent, gone.id)
      const next = await calls.make(agent, { title: 'Next', external_id: 'doc' })
      assert.deepEqual(await imported(by, [gone]), [0, 1, 0, 0])
      assert.deepEqual(await imported(by, [gone]), [0, 0, 1, 0])
      assert.equal((await calls.get(agent, next.id)).body.title, 'Gone')
      await erase(next.id)
      await erase(gone.id)
      // Nothing is left of it: the caller has a new one, or the external id is taken by one that was never this
      // agent's.
      const again = by === agent ? [1, 0, 0, 0] : [0, 0, 0, 1, [[1, 'conflict', its.id]]]
      assert.deepEqual(await imported(by, [gone]), again)
      await untouched(admin, its)
      for (const { id } of (await calls.list(admin)).memories) await erase(id)
    }
  })

  test('[KEP-9] lines of two owners with one external id are never one memory in another tenant', async () => {
    const first = await calls.make(agent, { title: 'First', external_id: 'doc', scope: 'institutional' })
    const second = await calls.make(other, { title: 'Second', external_id: 'doc', scope: 'institutional' })
    const text = await calls.exported(agent)
    const away = await service.tenant()
    for (const reader of [await away.agent(), await orgAdmin(service, away), await away.agent()]) {
      assert.equal((await imported(reader, text))[0], 1)
      const [copy] = (await calls.list(reader)).memories.filter(({ agent_id }) => agent_id === reader.id)
      assert.deepEqual(await imported(reader, text), [0, 0, 1, 1, [[2, 'conflict', copy!.id]]])
      // Each line alone, as in an import in pieces.
      assert.deepEqual(await imported(reader, [second]), [0, 0, 0, 1, [[1, 'conflict', copy!.id]]])
      assert.deepEqual(await imported(reader, [{ ...first, title: 'Newer' }]), [0, 1, 0, 0])
      assert.equal((await calls.get(reader, copy!.id)).body.title, 'Newer')
      // Without its external id the second is kept, and from then on recognised by its id.
      const { external_id: _, ...plain } = second
      assert.deepEqual(await imported(reader, [plain]), [1, 0, 0, 0])
      assert.deepEqual(await imported(reader, [second]), [0, 0, 1, 0])
    }
  })

  test('[KEP-9] an external id of another tenant upserts: of one owner, whatever the ids of its lines', async () => {
    const reader = await (await service.tenant()).agent()
    const own = await calls.make(reader, { title: 'Own', external_id: 'doc' })
    const old = await calls.make(agent, { title: 'Old', external_id: 'doc' })
    assert.deepEqual(await imported(reader, [old]), [0, 1, 0, 0])
    await calls.forget(agent, old.id)
    const next = await calls.make(agent, { title: 'Next', external_id: 'doc' })
    const foreign = await calls.make(other, { title: 'Foreign', external_id: 'doc' })
    assert.deepEqual(await imported(reader, [next, foreign]), [0, 1, 0, 1, [[2, 'conflict', own.id]]])
    assert.deepEqual(await imported(reader, [{ ...aMemory, external_id: 'doc', title: 'Put' }]), [0, 1, 0, 0])
    assert.deepEqual(await titles(reader), ['Put'])
    // Once the memory is deleted, its external id is free for the other owner's line.
    await calls.forget(reader, own.id)
    assert.deepEqual(await imported(reader, [foreign]), [1, 0, 0, 0])
    const [holder] = (await calls.list(reader)).memories
    assert.deepEqual(await imported(reader, [foreign, next]), [0, 0, 1, 1, [[2, 'conflict', holder!.id]]])
  })

  test('[KEP-9] a line whose external id has a wider memory is refused as a put is, if it says anything new', async () => {
    const wide = await calls.make(agent, { title: 'For all', scope: 'institutional', external_id: 'wide' })
    const red = await calls.make(agent, { title: 'For red', scope: 'team', team_id: 'red', external_id: 'red' })
    const lines = [
      { ...aMemory, title: 'Private', external_id: 'wide' },
      { ...aMemory, title: 'For blue', scope: 'team', team_id: 'blue', external_id: 'red' },
    ]
    const { body } = await calls.importLines(agent, lines)
    for (const [i, { external_id, ...line }] of lines.entries()) {
      const path = `PUT /v1/memories/by-external-id/${external_id}`
      const { code, message, details } = (await service.call(path, { token: agent.token, body: line })).body.error
      assert.equal(details.rule, 'scope_only_widens')
      assert.deepEqual(body.errors[i], { line: i + 1, error: { code, message, details } })
    }
    assert.equal(body.failed, 2)
    await untouched(other, wide)
    await untouched(agent, red)
    // What changes nothing is skipped, and a wider line is taken. The skipped one's id brings no later text either.
    const narrow = { ...aMemory, id: 'elsewhere', title: 'For all', external_id: 'wide' }
    assert.deepEqual(await imported(agent, [narrow]), [0, 0, 1, 0])
    assert.equal((await imported(agent, [{ ...narrow, title: 'Private' }]))[3], 1)
    await untouched(other, wide)
    const wider = { ...aMemory, title: 'For all', scope: 'institutional', external_id: 'red' }
    assert.deepEqual(await imported(agent, [wider]), [0, 1, 0, 0])
    assert.equal((await calls.get(other, red.id)).body.title, 'For all')
  })

  test('[KEP-9] a line of a memory that is gone never speaks through a wider one with its external id', async () => {
    const gone = await calls.make(agent, { title: 'Private', external_id: 'doc' })
    await calls.forget(agent, gone.id)
    const hour = new Date(service.clock.now() + 3_600_000).toISOString()
    const next = await calls.make(agent, {
      title: 'For all',
      scope: 'institutional',
      external_id: 'doc',
      expires_at: hour,
    })
    for (const by of [agent, admin]) assert.equal((await imported(by, [gone]))[3], 1)
    await untouched(other, next)
    // One past its expiry has given the external id up, whether a sweep has noticed or not.
    await service.clock.jump(3_600_001)
    const token = await tenant.token(agent.key)
    assert.deepEqual(await imported({ ...agent, token }, [{ ...aMemory, external_id: 'doc' }]), [1, 0, 0, 0])
    const [made] = (await calls.list({ ...agent, token })).memories
    assert.deepEqual([made!.scope, made!.id === next.id], ['agent', false])
  })

  test('[KEP-9] a memory that was imported or is named by its id stays promoted, and takes the line', async () => {
    const away = await (await service.tenant()).agent()
    const line = await calls.make(agent, { title: 'Old', external_id: 'doc' })
    assert.deepEqual(await imported(away, [line]), [1, 0, 0, 0])
    const [copy] = (await calls.list(away)).memories
    for (const [by, id] of [[agent, line.id] as const, [away, copy!.id] as const]) {
      assert.equal((await calls.promote(by, id, { scope: 'institutional' })).status, 200)
      assert.deepEqual(await imported(by, [{ ...line, title: 'New' }]), [0, 1, 0, 0])
      const { title, scope } = (await calls.get(by, id)).body
      assert.deepEqual([title, scope], ['New', 'institutional'])
    }
  })

  test('[KEP-9] a line becomes the memory that it became before, also if it names another owner now', async () => {
    const line = { ...aMemory, id: 'line', external_id: 'doc' }
    assert.deepEqual(await imported(agent, [line]), [1, 0, 0, 0])
    assert.deepEqual(await imported(agent, [{ ...line, agent_id: other.id, title: 'New' }]), [0, 1, 0, 0])
    assert.equal((await imported(agent, [{ ...line, agent_id: 'a third', title: 'Newer' }]))[3], 1)
  })

  test('[KEP-9] lines without an id that say the same under two external ids are two memories', async () => {
    const lines = ['a', 'b'].map((external_id) => ({ ...aMemory, external_id }))
    assert.deepEqual(await imported(agent, lines), [2, 0, 0, 0])
    assert.deepEqual(await imported(agent, lines), [0, 0, 2, 0])
  })
})
