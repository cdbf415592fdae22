// Exports with `since`: copies that are brought up to date with them miss no relationship.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothEngines } from '../../support/engines.ts'
import { serviceForSuite } from '../../support/service.ts'
import { memoryCalls, type Actor } from '../tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  /** The relationships of an export, as their ends. */
  async function relationshipsSince(by: Actor, since: number): Promise<[source: string, target: string][]> {
    const path = `GET /v1/memories/export?since=${new Date(since).toISOString()}`
    const { text } = await service.call(path, { token: by.token })
    return text
      .split('\n')
      .filter((line) => line.includes('"source_memory_id"'))
      .map((line) => JSON.parse(line) as { source_memory_id: string; target_memory_id: string })
      .map(({ source_memory_id, target_memory_id }) => [source_memory_id, target_memory_id])
  }

  /** Some memories of one agent, each related to the next, and a time after that. */
  async function chain(many: number) {
    const tenant = await service.tenant()
    const [owner, other] = [await tenant.agent(), await tenant.agent()]
    const calls = memoryCalls(service)
    const ids: string[] = []
    for (let i = 0; i < many; i++)
      ids.push((await calls.make(owner, { scope: i === 1 ? 'agent' : 'institutional', title: `Number ${i}` })).id)
    for (let i = 1; i < many; i++) await calls.relate(owner, ids[i - 1]!, ids[i]!)
    await service.clock.advance(60_000)
    return { owner, other, calls, ids, since: service.clock.now() }
  }

  test('[KEP-32] an export since a time has the relationships of a memory that the caller has begun to see', async () => {
    const { owner, other, calls, ids, since } = await chain(5)
    assert.deepEqual(await relationshipsSince(other, since), [])
    await calls.promote(owner, ids[1]!, { scope: 'institutional' })
    assert.deepEqual(await relationshipsSince(other, since), [
      [ids[0], ids[1]],
      [ids[1], ids[2]],
    ])
  })

  test('[KEP-32] an export since a time has relationships that a merge has moved', async () => {
    const { owner, calls, ids, since } = await chain(6)
    const into = await calls.make(owner, { scope: 'institutional', title: 'Another' })
    await service.clock.advance(60_000)
    const later = service.clock.now()
    const merged = await service.call(`POST /v1/memories/${into.id}/merge`, {
      token: owner.token,
      body: { memory_ids: [ids[3]] },
    })
    assert.equal(merged.status, 200, merged.text)
    const moved = [
      [ids[2], into.id],
      [into.id, ids[4]],
    ]
    for (const time of [since, later]) assert.deepEqual((await relationshipsSince(owner, time)).sort(), moved.sort())
  })

  test('[KEP-32] an export since a time has relationships that an import has changed', async () => {
    const { owner, calls, ids, since } = await chain(4)
    const line = {
      source_memory_id: ids[2],
      target_memory_id: ids[3],
      relationship_type: 'supports',
      strength: 0.25,
    }
    for (const updated of [1, 0]) {
      const reply = await calls.importLines(owner, [line])
      assert.equal(reply.body.updated, updated, reply.text)
    }
    assert.deepEqual(await relationshipsSince(owner, since), [[ids[2], ids[3]]])
    assert.deepEqual(await relationshipsSince(owner, service.clock.now() + 1), [])
  })

  test('[KEP-32] an export since a time has memories imported since then, however old they are', async () => {
    const { owner, calls, since } = await chain(2)
    const old = { created_at: '2020-01-01T00:00:00Z', updated_at: '2020-02-02T00:00:00Z' }
    const line = { type: 'semantic', scope: 'agent', title: 'From elsewhere', content: 'x', ...old }
    const imported = await calls.importLines(owner, [line])
    assert.equal(imported.body.created, 1, imported.text)
    const titlesSince = async (time: number): Promise<string[]> => {
      const path = `GET /v1/memories/export?since=${new Date(time).toISOString()}`
      const { text } = await service.call(path, { token: owner.token })
      return text.split('\n').flatMap((json) => (json === '' ? [] : [(JSON.parse(json) as { title: string }).title]))
    }
    assert.deepEqual(await titlesSince(since), ['From elsewhere'])
    assert.deepEqual(await titlesSince(service.clock.now() + 1), [])
  })
})
