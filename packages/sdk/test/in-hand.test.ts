// Deliveries that arrive again while a worker has them in hand, and which events it remembers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Delivery } from '../src/contract.ts'
import type { DeliveryCalls } from '../src/deliveries.ts'
import { makeInHand, type InHandParts } from '../src/in-hand.ts'
import { makeRecentIds } from '../src/recent-ids.ts'

const DELIVERY = { id: 'dlv_1', event_id: 'e', attempt_count: 1 } as Delivery

function inHandWith(parts: Pick<InHandParts, 'handle' | 'leaseSeconds'> & Partial<InHandParts>) {
  const extended: string[] = []
  const deliveries = { extend: async (ids: string[]) => extended.push(...ids) } as unknown as DeliveryCalls
  const report = (error: unknown): void => assert.fail(error as Error)
  return { extended, inHand: makeInHand({ deliveries, concurrency: 1, isStopping: () => false, report, ...parts }) }
}

test('[SDK-10] a delivery that arrives again while it is given back is handled again, one that arrived before is not', async () => {
  const attempts: number[] = []
  const { inHand } = inHandWith({
    leaseSeconds: 30,
    async handle({ attempt_count }) {
      attempts.push(attempt_count)
      await Promise.resolve()
      if (attempt_count === 1) inHand.start({ ...DELIVERY, attempt_count: 2 })
      return async () => {
        if (attempt_count === 1) inHand.start({ ...DELIVERY, attempt_count: 3 })
        if (attempt_count === 3) inHand.start({ ...DELIVERY, attempt_count: 4 })
      }
    },
  })
  inHand.start(DELIVERY)
  await inHand.finish()
  inHand.close()
  assert.deepEqual(attempts, [1, 3, 4])
})

test('[SDK-11] the new lease of a delivery that arrives again is extended before the shortest one can have ended', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const now = t.mock.method(performance, 'now', () => 0)
  const handled = Promise.withResolvers<void>()
  const { inHand, extended } = inHandWith({
    leaseSeconds: undefined,
    handle: () => handled.promise.then(() => async () => {}),
  })
  const pass = (ms: number): void => {
    now.mock.mockImplementation(() => ms)
    t.mock.timers.tick(334)
  }
  inHand.start(DELIVERY)
  pass(334)
  pass(668)
  assert.equal(extended.length, 1)
  // At once: the stream that brought it may be cut like the one before.
  inHand.start(DELIVERY)
  assert.equal(extended.length, 2)
  pass(1_002)
  pass(1_336)
  assert.equal(extended.length, 2)
  handled.resolve()
  await inHand.finish()
  inHand.close()
})

for (const isStopping of [false, true])
  test(`[SDK-11] what waits and was extended outlives its stream: ${isStopping ? 'it is given back by a stop' : 'it is handled'}`, async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const now = t.mock.method(performance, 'now', () => 0)
    const first = Promise.withResolvers<void>()
    const handled: string[] = []
    let stopping = false
    const { inHand, extended } = inHandWith({
      leaseSeconds: 30,
      isStopping: () => stopping,
      async handle({ id }) {
        handled.push(id)
        if (id === 'dlv_1') await first.promise
        return async () => {}
      },
    })
    inHand.startInTurn(DELIVERY)
    inHand.startInTurn({ ...DELIVERY, id: 'dlv_2' })
    now.mock.mockImplementation(() => 10_000)
    t.mock.timers.tick(10_000)
    inHand.startInTurn({ ...DELIVERY, id: 'dlv_3' })
    stopping = isStopping
    inHand.forgetWaiting()
    first.resolve()
    await inHand.finish()
    inHand.close()
    // The service gives the third back by itself.
    assert.deepEqual(handled, ['dlv_1', 'dlv_2'])
    assert.deepEqual(extended, ['dlv_1', 'dlv_2', 'dlv_2'])
  })

test('[SDK-12] the events that were handled last are remembered', () => {
  const recent = makeRecentIds(2)
  for (const id of ['one', 'two', 'one', 'three']) recent.add(id)
  assert.deepEqual(
    ['one', 'two', 'three'].map((id) => recent.has(id)),
    [true, false, true],
  )
})
