import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { fairQueue } from '../../src/kernel/fair-queue.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite } from '../support/service.ts'
import { event, interest, publish } from './tools.ts'
import { turnsUntil } from '../support/turns-until.ts'

describe('the fair queue', () => {
  test('[FAIR-3] loses nothing, keeps each sender’s order, and serves every tenant within one round', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('x', 'y')), { maxLength: 200 }),
        fc.integer({ min: 1, max: 10 }),
        (pushed, size) => {
          const queue = fairQueue<{ tenant: string; sender: string; n: number }>()
          pushed.forEach(([tenant, sender], n) => queue.push(tenant, sender, { tenant, sender, n }))
          assert.equal(queue.size, pushed.length)
          const left = new Map<string, number>()
          for (const [tenant] of pushed) left.set(tenant, (left.get(tenant) ?? 0) + 1)
          const taken: { tenant: string; sender: string; n: number }[] = []
          while (queue.size > 0) {
            let room = size
            const group = queue.take(() => --room === 0)
            assert.ok(group.length > 0 && group.length <= size)
            // No tenant gets a second place in a group while a waiting tenant has none.
            const waiting = [...left].filter(([, n]) => n > 0).map(([tenant]) => tenant)
            if (group.length >= waiting.length)
              assert.deepEqual(new Set(group.map((item) => item.tenant)), new Set(waiting))
            for (const item of group) left.set(item.tenant, left.get(item.tenant)! - 1)
            taken.push(...group)
          }
          assert.equal(taken.length, pushed.length)
          for (const mine of Map.groupBy(taken, (item) => `${item.tenant} ${item.sender}`).values()) {
            assert.deepEqual(
              mine.map((item) => item.n),
              mine.map((item) => item.n).toSorted((a, b) => a - b),
            )
          }
        },
      ),
    )
  })
})

onBothEngines((engine) => {
  describe('fairness', () => {
    const service = serviceForSuite(engine)

    test('[FAIR-1] [FAIR-3] a tenant’s flood does not hold up another tenant’s publish', async () => {
      const [loud, quiet] = [await (await service.tenant()).agent(), await (await service.tenant()).agent()]
      let answered = 0
      const batch = () =>
        service.call('POST /v1/events', {
          token: loud.token,
          raw: JSON.stringify(Array.from({ length: 100 }, () => event({ data: 'x'.repeat(200) }))),
          headers: { 'content-type': 'application/cloudevents-batch+json' },
        })
      const flood = Array.from({ length: 60 }, async () => {
        let reply = await batch()
        // On a slow machine a part of the flood is refused with 503 and retried.
        while (reply.status === 503) reply = await batch()
        assert.equal(reply.status, 200)
        answered++
      })
      // Once some of the flood has been answered, most of it waits in the queue.
      await turnsUntil(() => answered > 0)
      assert.equal((await publish(service, quiet.token)).status, 202)
      const before = answered
      await Promise.all(flood)
      assert.ok(before < 50, `the quiet tenant waited for ${before} of 60 batches`)
    })

    test('[RTE-6] [FAIR-1] a tenant with 400 costly filters does not hold up another tenant’s publish', async () => {
      const [loud, quiet] = [await (await service.tenant()).agent(), await (await service.tenant()).agent()]
      const costly = (i: number): string => `data.list.exists(a, data.list.exists(b, a + b == ${-1 - i}) && a > 10)`
      const make = (i: number) => interest(service, loud, { event_type: 'costly.*', filter_expression: costly(i) })
      for (let i = 0; i < 400; i += 50) {
        const made = await Promise.all(Array.from({ length: 50 }, (_, j) => make(i + j)))
        assert.ok(made.every(({ status }) => status === 201))
      }
      await interest(service, quiet, { event_type: 'costly.*', filter_expression: 'data.list.size() == 80' })
      const data = { list: Array.from({ length: 80 }, (_, i) => i) }
      let answered = 0
      const flood = Array.from({ length: 10 }, async () => {
        const raw = JSON.stringify(Array.from({ length: 5 }, () => event({ type: 'costly.x', data })))
        const headers = { 'content-type': 'application/cloudevents-batch+json' }
        await service.call('POST /v1/events', { token: loud.token, raw, headers })
        answered++
      })
      // This request was sent after the flood, so once it is answered the flood has arrived.
      assert.equal((await service.call('GET /v1/memories', { token: quiet.token })).status, 200)
      const reply = await publish(service, quiet.token, { type: 'costly.x', data })
      const before = answered
      await Promise.all(flood)
      assert.deepEqual([reply.status, reply.body.recipients], [202, 1])
      assert.ok(before < 10, `the quiet tenant waited for ${before} of 10 batches`)
    })
  })
})
