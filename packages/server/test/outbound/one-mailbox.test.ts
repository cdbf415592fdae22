// Poll, push and streams share one mailbox: switching between them in the middle of a flood loses nothing and counts
// each attempt once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Delivery } from '@sensorium/contract'
import { onBothEngines } from '../support/engines.ts'
import { startService } from '../support/service.ts'
import { openReader, outboundCalls, startReceiver, until, type Reader } from './tools.ts'

const EVENTS = 300

onBothEngines((engine) => {
  test('[SSE-5] [PUSH-1] [DLV-14] an agent switched between poll, push and sse in a flood accounts for every delivery', async (t) => {
    const service = await startService(engine, { PUSH_ALLOW_PRIVATE: 'on', MAX_ATTEMPTS: '100' })
    t.after(() => service.stop())
    const calls = outboundCalls(service)
    const tenant = await service.tenant()
    const sender = await tenant.agent()
    const agent = await tenant.agent({ mode: 'poll' })
    await calls.interest(agent)
    const receiver = await startReceiver()
    t.after(() => receiver.stop())

    const handedOut = new Map<string, { attempts: number[]; by: Set<string> }>()
    const settledAt = new Map<string, number>()
    function note({ id, attempt_count }: Delivery, by: string): void {
      const seen = handedOut.get(id) ?? { attempts: [], by: new Set() }
      handedOut.set(id, seen)
      assert.ok(
        !seen.attempts.includes(attempt_count),
        `attempt ${attempt_count} of ${id} was delivered twice, now by ${by}`,
      )
      seen.attempts.push(attempt_count)
      seen.by.add(by)
    }
    async function settle(deliveries: Delivery[]): Promise<void> {
      if (deliveries.length === 0) return
      assert.equal(
        await calls.ack(
          agent,
          deliveries.map((delivery) => delivery.id),
        ),
        deliveries.length,
      )
      for (const delivery of deliveries) settledAt.set(delivery.id, delivery.attempt_count)
    }

    let requests = 0
    receiver.answer = ({ delivery }) => {
      note(delivery, 'push')
      // Some fail, so that deliveries waiting for a retry are in the same mailbox.
      if (++requests % 7 === 0) return 500
      settledAt.set(delivery.id, delivery.attempt_count)
      return 200
    }
    const pollOnce = async (): Promise<number> => {
      const deliveries = await calls.poll(agent, 7)
      for (const delivery of deliveries) note(delivery, 'poll')
      await settle(deliveries)
      return deliveries.length
    }
    async function stream(count: number): Promise<void> {
      const reader: Reader = await openReader(service.url, agent.token, '?max_in_flight=5')
      for (let i = 0; i < count; i++) {
        const delivery = await reader.next()
        note(delivery, 'sse')
        // Every fourth is not acknowledged, so that the stream gives it back.
        if (i % 4 !== 3) await settle([delivery])
      }
      reader.close()
      await reader.ended
    }

    let published = 0
    const flood = (async () => {
      while (published < EVENTS) {
        await Promise.all(Array.from({ length: 5 }, () => calls.publish(sender)))
        published += 5
      }
    })()

    for (let round = 0; round < 4; round++) {
      await calls.setMode(tenant, agent, 'push', receiver.url)
      const target = receiver.all.length + 15
      await until(() => receiver.all.length >= target || published >= EVENTS, 'pushes')
      await calls.setMode(tenant, agent, 'sse')
      if (published < EVENTS) await stream(10)
      await calls.setMode(tenant, agent, 'poll')
      for (let polls = 0; polls < 5; polls++) await pollOnce()
    }
    await flood
    await calls.setMode(tenant, agent, 'push')
    // The rest is pushed; failed pushes wait for the clock.
    await until(async () => {
      await service.clock.advance(1_000)
      return (await calls.rows(agent)).every((row) => row.state === 'acknowledged')
    }, 'the end')

    const rows = await calls.rows(agent)
    assert.equal(rows.length, EVENTS)
    assert.equal(new Set(rows.map((row) => row.event_id)).size, EVENTS)
    for (const row of rows) {
      assert.equal(settledAt.get(row.id), row.attempts, `${row.id}: the attempt that was acknowledged is the last one`)
      const { attempts } = handedOut.get(row.id)!
      assert.equal(Math.max(...attempts), row.attempts)
    }
    for (const by of ['push', 'sse', 'poll'])
      assert.ok(
        [...handedOut.values()].some((seen) => seen.by.has(by)),
        by,
      )
    assert.ok(
      [...handedOut.values()].some((seen) => seen.by.size > 1),
      'some went from one way to another',
    )
  })
})
