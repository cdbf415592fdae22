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
  const calls: string[][] = []
  const deliveries = {
    async extend(ids: string[]) {
      calls.push(ids)
      return extended.push(...ids)
    },
  } as unknown as DeliveryCalls
  const report = (error: unknown): void => assert.fail(error as Error)
  const inHand = makeInHand({ deliveries, concurrency: 1, isStopping: () => false, report, ...parts })
  return { extended, calls, inHand }
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
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
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
  // Soon: the stream that brought it may be cut like the one before.
  inHand.start(DELIVERY)
  t.mock.timers.tick(5)
  await Promise.resolve()
  assert.equal(extended.length, 2)
  pass(1_002)
  pass(1_336)
  assert.equal(extended.length, 2)
  handled.resolve()
  await inHand.finish()
  inHand.close()
})

test('[SDK-11] the new leases of deliveries that arrive again together are extended by one call per hundred', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
  const handled = Promise.withResolvers<void>()
  const { inHand, calls } = inHandWith({
    leaseSeconds: 30,
    concurrency: 150,
    handle: () => handled.promise.then(() => async () => {}),
  })
  for (let n = 0; n < 300; n++) inHand.start({ ...DELIVERY, id: `dlv_${n % 150}` })
  t.mock.timers.tick(5)
  await Promise.resolve()
  assert.deepEqual(
    calls.map((ids) => ids.length),
    [100, 50],
  )
  handled.resolve()
  await inHand.finish()
  inHand.close()
})

test('[SDK-11] a stream is not needed while every handler has an extended lease, which no cut gives back', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const now = t.mock.method(performance, 'now', () => 0)
  const handled = Promise.withResolvers<void>()
  const { inHand, extended } = inHandWith({
    leaseSeconds: 30,
    concurrency: 2,
    handle: ({ id }) => (id === 'dlv_1' ? handled.promise : new Promise<void>(() => {})).then(() => async () => {}),
  })
  inHand.start(DELIVERY)
  inHand.start({ ...DELIVERY, id: 'dlv_2' })
  await inHand.needsStream()
  now.mock.mockImplementation(() => 10_000)
  t.mock.timers.tick(10_000)
  assert.deepEqual(extended, ['dlv_1', 'dlv_2'])
  let isNeeded = false
  const needed = inHand.needsStream().then(() => (isNeeded = true))
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(isNeeded, false)
  handled.resolve()
  await needed
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
