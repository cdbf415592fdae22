// An explanation lists the same in the same order on every node, in whatever order the node learned of subscriptions.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { explainEvent, type Explanation } from '../../src/events/explain.ts'
import { sortSteps } from '../../src/kernel/sort-steps.ts'
import { atOnce, nextTurn } from '../../src/kernel/step-turns.ts'
import { makeRouter } from '../../src/routing/router.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite } from '../support/service.ts'
import { event, interest } from './tools.ts'

test('[REC-5] a long list is sorted in steps as it would be at once', () => {
  const lists = fc.tuple(fc.array(fc.string(), { minLength: 1 }), fc.integer({ min: 1, max: 9_000 }))
  fc.assert(
    fc.property(lists, ([some, length]) => {
      const texts = Array.from({ length }, (_, i) => `${some[(i * i) % some.length]}${i % 7}`)
      assert.deepEqual(atOnce(sortSteps(texts)), texts.toSorted())
      // Those that compare as equal stay in their order.
      const byLength = (a: string, b: string): number => a.length - b.length
      assert.deepEqual(atOnce(sortSteps(texts, byLength)), texts.toSorted(byLength))
    }),
    { numRuns: 100 },
  )
  const steps = sortSteps(Array.from({ length: 20_000 }, (_, i) => `${(i * 7_919) % 20_000}`))
  let count = 1
  while (!steps.next().done) count++
  assert.ok(count >= 20, `${count} steps`)
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  test('[REC-5] [REC-6] recipients and reasons have the same order on every node, and matches come first', async () => {
    const tenant = await service.tenant()
    const [first, second, third] = [await tenant.agent(), await tenant.agent(), await tenant.agent()]
    const asked = { event: event({ type: 'x.y', data: { n: 1 } }), agent_id: first.id }
    const listen = async (agent: typeof first, event_type: string): Promise<string> => {
      const made = await interest(service, agent, { event_type })
      assert.equal(made.status, 201, made.text)
      return made.body.id
    }
    const post = async (path: string, body: object): Promise<string> => {
      const made = await service.call(`POST /v1/channels${path}`, { token: first.token, body })
      assert.equal(made.status, 201, made.text)
      return made.body.id
    }
    // This node learns one by one of later agents first, and of feeds before interests; a new node reads them by id.
    const explain = () => service.call<Explanation>('POST /v1/events/explain', { token: first.token, body: asked })
    const channel = await post('', { name: 'Room', type: 'open' })
    const feed = await post(`/${channel}/feeds`, { event_type_glob: 'x.*' })
    await explain()
    await listen(third, 'x.*')
    await explain()
    await listen(second, 'x.*')
    for (let i = 0; i < 195; i++) await listen(first, `z.${i}`)
    await service.clock.advance(60_000)
    for (let i = 0; i < 10; i++) await listen(first, `z.${i}.more`)
    await explain()
    const matching = [await listen(first, 'x.y'), await listen(first, '*.y'), feed]
    const { body: here } = await explain()
    const caller = {
      kind: 'agent' as const,
      id: first.id,
      tenantId: tenant.id,
      keyId: 'key_x',
      scopes: new Set(['send', 'channel:read']),
      teamId: null,
    }
    const router = makeRouter(service.store, () => {})
    const there = await explainEvent(service.store, router, caller, asked, async () => true, nextTurn)
    assert.deepEqual(here, there)
    assert.deepEqual(
      here.recipients.map(({ agent_id }) => agent_id),
      [first.id, second.id, third.id],
    )
    assert.deepEqual(
      here.recipients[0]!.via.map(({ id }) => id),
      matching,
    )
    const reasons = here.agent!.reasons.map(({ id }) => id)
    assert.equal(reasons.length, 200)
    assert.deepEqual(reasons.slice(0, 3), matching)
    assert.deepEqual(reasons.slice(3), reasons.slice(3).sort())
  })
})
