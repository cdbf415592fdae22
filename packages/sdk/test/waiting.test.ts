// Deliveries that a worker has read and not started: their leases are kept, or they are left alone.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createClient } from '@sensorium/client'
import { onBothEngines } from '../../server/test/support/engines.ts'
import { startService, type Service } from '../../server/test/support/service.ts'
import { delivery, streams } from './streams.ts'
import { turnsUntil } from '../../server/test/support/turns-until.ts'

const LEASE_S = 1

/** A worker with one handler, which holds on to the delivery `one` until `release` is called. */
function busyWorker(
  { client }: ReturnType<typeof streams>,
  lease: { leaseSeconds?: number } = { leaseSeconds: LEASE_S },
) {
  const held = Promise.withResolvers<void>()
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {})
  const begun: string[] = []
  const worker = client.worker({
    mode: 'sse',
    concurrency: 1,
    ...lease,
    onError: (error) => failed.reject(error),
    async handle({ event }) {
      begun.push(event.id)
      if (event.id === 'one') await held.promise
    },
  })
  return { worker, begun, release: held.resolve, failed: failed.promise }
}

test('[SDK-11] a delivery that waits for a handler keeps its lease', async () => {
  const service = streams([delivery('one')], [delivery('two')])
  const { worker, begun, release } = busyWorker(service)
  await service.hears('extend dlv_one,dlv_two')
  assert.deepEqual(begun, ['one'])
  release()
  await service.hears('ack dlv_two')
  await worker.stop()
  assert.deepEqual(begun, ['one', 'two'])
})

test('[SDK-11] a delivery that lost its lease while it waited is not handled', async () => {
  const service = streams([delivery('one')], [delivery('two')])
  service.lost.add('dlv_two')
  const { worker, begun, release } = busyWorker(service)
  await service.hears('extend dlv_one,dlv_two')
  release()
  await service.hears('extend dlv_two')
  await worker.stop()
  assert.deepEqual(begun, ['one'])
  assert.deepEqual(
    service.told.filter((call) => !call.startsWith('extend')),
    ['ack dlv_one'],
  )
})

test('[SDK-11] a delivery that waits when its stream ends is left to the next stream', async () => {
  const service = streams([delivery('one')], [delivery('two')], [delivery('three')])
  const { worker, begun, release } = busyWorker(service)
  await service.hears('extend dlv_one,dlv_three')
  release()
  await service.hears('ack dlv_three')
  await worker.stop()
  assert.deepEqual(begun, ['one', 'three'])
})

test('[SDK-11] a lease of half a day is extended by the hour, the most that the service extends one by', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const now = t.mock.method(performance, 'now', () => 0)
  const service = streams([delivery('one'), delivery('two')])
  const { worker, begun, release, failed } = busyWorker(service, { leaseSeconds: 43_200 })
  // The turn after the first has begun, the second waits: both are in one chunk of the stream.
  await turnsUntil(() => begun.length > 0)
  now.mock.mockImplementation(() => 1_200_000)
  t.mock.timers.tick(1_200_000)
  release()
  await Promise.race([service.hears('ack dlv_two'), failed]).finally(() => worker.stop())
  assert.ok(service.told.includes('extend dlv_one,dlv_two'))
})

test('[SDK-11] without leaseSeconds, the first extension comes before the shortest lease can have ended', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const now = t.mock.method(performance, 'now', () => 0)
  const service = streams([delivery('one'), delivery('two')])
  const { worker, begun, release } = busyWorker(service, {})
  await turnsUntil(() => begun.length > 0)
  for (const ms of [334, 668, 1_002, 9_999]) {
    now.mock.mockImplementation(() => ms)
    t.mock.timers.tick(334)
  }
  release()
  await service.hears('ack dlv_two')
  await worker.stop()
  // Once: from then on the lease is as long as the worker asked for. The second is extended again when its turn comes.
  assert.deepEqual(service.told, ['extend dlv_one,dlv_two', 'ack dlv_one', 'extend dlv_two', 'ack dlv_two'])
})

test('[SDK-11] a worker refuses a lease that is not a whole number of seconds', () => {
  const { client } = streams()
  for (const leaseSeconds of [0, -30, 0.5, Number.NaN, Number.POSITIVE_INFINITY, null as unknown as number])
    assert.throws(() => void client.worker({ leaseSeconds, handle: () => {} }).stop(), RangeError)
})

onBothEngines((engine) => {
  let service: Service
  before(async () => {
    service = await startService(engine)
  })
  after(() => service.stop())

  test('[SDK-13] what a stream brings while its worker stops keeps its lease until it is given back', async () => {
    const agent = await (await service.tenant()).agent()
    const extended = Promise.withResolvers<void>()
    const watching: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (String(input).endsWith('/extend') && JSON.parse(String(init!.body)).delivery_ids.length === 4)
        extended.resolve()
      return response
    }
    const client = createClient({ url: service.url, apiKey: agent.key, fetch: watching })
    await client.interests.create(agent.id, { event_type: 'late' })
    const begun = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const handled: string[] = []
    const worker = client.worker({
      mode: 'sse',
      concurrency: 4,
      leaseSeconds: 1,
      async handle({ event }) {
        handled.push(event.id)
        begun.resolve()
        await held.promise
      },
    })
    const late = ['late-1', 'late-2', 'late-3']
    await client.publish({ type: 'late', id: 'early' })
    await begun.promise
    const stopped = worker.stop()
    for (const id of late) await client.publish({ type: 'late', id })
    await extended.promise
    held.resolve()
    await stopped
    // A stream gives back its leases as soon as the service notices that it was closed.
    await turnsUntil(async () => (await client.agents.queue(agent.id)).leased === 0)
    assert.deepEqual(handled, ['early'])
    for (const id of late) {
      const [one] = (await client.events.get(id)).deliveries
      assert.deepEqual([one!.state, one!.attempts], ['pending', 1])
    }
  })
})
