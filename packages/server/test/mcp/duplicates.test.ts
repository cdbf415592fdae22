// Tools for memories that say the same, for events of before a subscription, and for giving back many deliveries.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TOOLS } from '../../src/mcp/make-mcp-server.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import { connectMcp, useTool } from './tools.ts'

const PUMP = { title: 'Pump 7 overheats', content: 'The coolant valve of pump 7 sticks when it is cold.' }
const ALIKE = { title: 'Pump 7 overheats', content: 'The coolant valve of pump 7 sticks when cold.' }
const UNLIKE = { title: 'Invoices', content: 'Customers in Norway pay within thirty days.' }

test('[MCP-52] a merge is announced as one that deletes, and the search before it as one that changes nothing', () => {
  const effectOf = (name: string) => {
    const { readOnly, idempotent, destructive } = TOOLS.find((tool) => tool.name === name)!
    return [readOnly, idempotent, destructive]
  }
  assert.deepEqual(effectOf('find_similar_memories'), [true, true, false])
  assert.deepEqual(effectOf('merge_memories'), [false, true, true])
})

interface Remembered {
  id: string
  similar?: { id: string; score: number }[]
}

onBothEngines((engine) => {
  const service = serviceForSuite(engine, { RATE_LIMIT_AGENT: '1000' })
  const tenant = tenantForSuite(service)

  test('[MCP-52] memories that say the same are found and merged, and a refusal says what to do', async () => {
    const [agent, colleague] = [await tenant.agent({ team: 'plant' }), await tenant.agent({ team: 'plant' })]
    const [client, theirs] = [
      await connectMcp(service.url, agent.token),
      await connectMcp(service.url, colleague.token),
    ]
    const remember = async (by: typeof client, memory: object) =>
      (await useTool<{ id: string }>(by, 'remember', memory)).result.id
    const kept = await remember(client, PUMP)
    await service.app.memory.embedding.idle()
    const { result: second } = await useTool<Remembered>(client, 'remember', ALIKE)
    const twin = second.id
    assert.deepEqual(
      second.similar?.map(({ id, score }) => [id, score > 0.92]),
      [[kept, true]],
    )
    const shared = await remember(client, { ...UNLIKE, scope: 'institutional' })
    const foreign = await remember(theirs, { ...UNLIKE, scope: 'institutional' })
    await service.app.memory.embedding.idle()
    type Found = { memories: { id: string; score: number; snippet: string }[] }
    const alike = await useTool<Found>(client, 'find_similar_memories', { memory_id: kept, limit: 1 })
    assert.deepEqual(
      alike.result.memories.map(({ id, snippet }) => [id, snippet]),
      [[twin, ALIKE.content]],
    )
    assert.ok(alike.result.memories[0]!.score > 0.92)
    const refused: [string, object, RegExp][] = [
      ['find_similar_memories', { memory_id: 'pump' }, /no such memory: ids of memories come from recall$/],
      [
        'merge_memories',
        { memory_id: kept, memory_ids: ['pump'] },
        /no such memory: ids of memories come from recall$/,
      ],
      ['merge_memories', { memory_id: kept, memory_ids: [foreign] }, /: leave out what is not yours; relate links/],
      ['merge_memories', { memory_id: kept, memory_ids: [shared] }, /: promote_memory gives one of yours a wider/],
    ]
    for (const [name, given, expected] of refused) {
      const { isError, result } = await useTool<{ error: { message: string } }>(client, name, given)
      assert.equal(isError, true, name)
      assert.match(result.error.message, expected, name)
    }
    const merged = await useTool<{ id: string; snippet: string }>(client, 'merge_memories', {
      memory_id: kept,
      memory_ids: [twin],
    })
    assert.deepEqual([merged.result.id, merged.result.snippet], [kept, PUMP.content])
    assert.equal((await useTool(client, 'get_memory', { memory_id: twin })).isError, true)
    await Promise.all([client.close(), theirs.close()])
  })

  test('[MCP-52] a subscription with a backfill brings the newest events of before it', async () => {
    const agent = await tenant.agent()
    const client = await connectMcp(service.url, agent.token)
    for (const n of [1, 2, 3])
      await useTool(client, 'publish_event', { type: 'past.x', id: `past-${engine.name}-${n}`, data: { n } })
    const refused = await useTool<{ error: { details: { field: string } } }>(client, 'subscribe', {
      event_type: 'past.*',
      backfill: 1001,
    })
    assert.equal(refused.result.error.details.field, 'backfill')
    await useTool(client, 'subscribe', { event_type: 'past.*', backfill: 2 })
    const box = await useTool<{ deliveries: { data: { n: number } }[] }>(client, 'check_mailbox')
    assert.deepEqual(
      box.result.deliveries.map(({ data }) => data.n),
      [2, 3],
    )
    await client.close()
  })

  test('[MCP-31] many deliveries are given back together, and one by one only to name those that were not', async () => {
    const agent = await tenant.agent()
    const client = await connectMcp(service.url, agent.token)
    await useTool(client, 'subscribe', { event_type: 'many.*' })
    for (let n = 0; n < 20; n++)
      await useTool(client, 'publish_event', { type: 'many.x', id: `many-${engine.name}-${n}` })
    const taken = async (): Promise<string[]> => {
      const box = await useTool<{ deliveries: { delivery_id: string }[] }>(client, 'check_mailbox', { limit: 20 })
      return box.result.deliveries.map(({ delivery_id }) => delivery_id)
    }
    const left = async (): Promise<number> => {
      const reply = await service.call(`GET /v1/agents/${agent.id}`, { token: agent.token })
      return Number(reply.headers.get('x-ratelimit-remaining'))
    }
    const ids = await taken()
    const before = await left()
    const back = await useTool(client, 'give_back', { delivery_ids: [...ids, ids[0]], reason: 'not yet' })
    assert.deepEqual(back.result, { given_back: 20 })
    // The message, the two calls of its tool, and the question itself.
    assert.equal(await left(), before - 4)
    const again = await taken()
    assert.deepEqual(again.toSorted(), ids.toSorted())
    const some = await useTool(client, 'give_back', { delivery_ids: [...again, 'dlv_x'], dead_letter: true })
    assert.deepEqual(some.result, { given_back: 20, not_given_back: ['dlv_x'] })
    await client.close()
  })
})
