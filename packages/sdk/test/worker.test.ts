// A worker against the real service: poll and stream.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { createClient, DeadLetter, RetryAfter, SensoriumError, type Work } from '@sensorium/client'
import { onBothEngines } from '../../server/test/support/engines.ts'
import { serviceForSuite, tenantForSuite } from '../../server/test/support/service.ts'
import { turnsUntil } from '../../server/test/support/turns-until.ts'
import { counter, listenerOf } from './listener.ts'

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)

  const listener = listenerOf(service, tenant)

  test('[SDK-10] a reason and a delay that the service would refuse are adjusted to what it accepts', async () => {
    const { client } = await listener('odd')
    const seen = counter(2)
    const errors: unknown[] = []
    const worker = client.worker<{ what: string }>({
      onError: (error) => errors.push(error),
      handle({ event }) {
        seen.hit()
        throw event.data.what === 'dead' ? new DeadLetter('no\0such') : new RetryAfter(1_000_000.5)
      },
    })
    for (const what of ['dead', 'later']) await client.publish({ type: 'odd', id: `odd-${what}`, data: { what } })
    await seen.reached
    await worker.stop()
    const [dead, later] = await Promise.all(
      ['dead', 'later'].map(async (what) => (await client.events.get(`odd-${what}`)).deliveries[0]!),
    )
    assert.deepEqual([dead!.state, dead!.dlq_reason, later!.state], ['dead_lettered', 'nosuch', 'pending'])
    assert.deepEqual(errors, [])
  })

  test('[SDK-13] a worker whose signal was aborted before it began stops at once', async () => {
    const { client } = await listener('never')
    await client.worker({ signal: AbortSignal.abort(), handle: () => {} }).stopped
  })

  test('[SDK-13] a delivery leaves no listener on the worker, and the worker none on its signal', async () => {
    const { client } = await listener('many')
    const left: number[] = []
    const seen = counter(5)
    const given = new AbortController()
    const worker = client.worker({
      concurrency: 1,
      signal: given.signal,
      handle({ signal }) {
        left.push(getEventListeners(signal, 'abort').length)
        seen.hit()
      },
    })
    for (let n = 0; n < 5; n++) await client.publish({ type: 'many' })
    await seen.reached
    await worker.stop()
    assert.deepEqual(left, [0, 0, 0, 0, 0])
    assert.equal(getEventListeners(given.signal, 'abort').length, 0)
  })

  for (const mode of ['poll', 'sse'] as const) {
    test(`[SDK-10] ${mode}: a handled delivery is acknowledged, a failed one given back with its reason`, async () => {
      const { agent, client } = await listener(`a.${mode}`)
      const errors: unknown[] = []
      const seen = counter(4)
      const failed = counter(1)
      const worker = client.worker<{ what: string }>({
        mode,
        onError(error) {
          errors.push(error)
          failed.hit()
        },
        handle({ event, delivery }) {
          seen.hit()
          if (event.data.what === 'dead') throw new DeadLetter('no such customer')
          if (event.data.what === 'later') throw new RetryAfter(600, 'the till is closed')
          if (event.data.what === 'once' && delivery.attempt_count === 1) throw new Error('stumbled')
        },
      })
      for (const what of ['dead', 'later', 'once'])
        await client.publish({ type: `a.${mode}`, id: `${mode}-${what}`, data: { what } })
      await failed.reached
      await turnsUntil(async () => (await client.agents.queue(agent.id)).leased === 0)
      await service.clock.jump(1_000)
      await seen.reached
      await worker.stop()
      await worker.stopped
      assert.deepEqual(errors.map(String), ['Error: stumbled'], 'what a handler decides is not reported')
      const states = await Promise.all(
        ['dead', 'later', 'once'].map(async (what) => (await client.events.get(`${mode}-${what}`)).deliveries[0]!),
      )
      assert.deepEqual(
        states.map(({ state, attempts }) => [state, attempts]),
        [
          ['dead_lettered', 1],
          ['pending', 1],
          ['acknowledged', 2],
        ],
      )
      assert.match(states[0]!.dlq_reason!, /no such customer/)
      // The delayed delivery is not due yet.
      assert.equal((await client.deliveries.poll()).count, 0)
      await service.clock.jump(601_000)
      // A sweep that runs at the same moment may hold the row for an instant; a poll skips locked rows.
      await turnsUntil(async () => (await client.deliveries.poll()).count > 0)
      assert.equal((await client.agents.queue(agent.id)).dead_lettered, 1)
    })

    test(`[SDK-14] ${mode}: an event that a handler publishes names its cause and continues the trace`, async () => {
      const { client } = await listener(`b.${mode}`)
      const seen = counter(1)
      const worker = client.worker({
        mode,
        async handle({ client: inside }) {
          await inside.publish({ type: 'b.reply', id: `${mode}-reply` })
          seen.hit()
        },
      })
      await client.publish({ type: `b.${mode}`, id: `${mode}-question`, traceparent: TRACE })
      await seen.reached
      await worker.stop()
      const { event } = await client.events.get(`${mode}-reply`)
      assert.deepEqual([event!['causationid'], event!['traceparent']], [`${mode}-question`, TRACE])
    })

    test(`[SDK-13] ${mode}: stopping finishes running handlers, and gives back what has no time left`, async () => {
      const { agent, client } = await listener(`c.${mode}`)
      const begun = counter(2)
      let letGo!: () => void
      const held = new Promise<void>((resolve) => (letGo = resolve))
      const handle = async ({ event }: Work): Promise<void> => {
        begun.hit()
        if (event.id.endsWith('slow')) await new Promise(() => {})
        await held
      }
      const worker = client.worker({ mode, handle, concurrency: 2 })
      for (const name of ['quick', 'slow', 'waiting'])
        await client.publish({ type: `c.${mode}`, id: `${mode}-${name}` })
      await begun.reached
      const stopped = worker.stop(50)
      letGo()
      await stopped
      // A stream gives back its leases as soon as the service notices that it was closed.
      await turnsUntil(async () => (await client.agents.queue(agent.id)).leased === 0)
      const state = async (name: string) => (await client.events.get(`${mode}-${name}`)).deliveries[0]!.state
      assert.deepEqual(
        [await state('quick'), await state('slow'), await state('waiting')],
        ['acknowledged', 'pending', 'pending'],
      )
    })

    test(`[SDK-13] ${mode}: each stop before a handler has finished costs one attempt`, async () => {
      const { agent, client } = await listener(`j.${mode}`)
      await client.publish({ type: `j.${mode}`, id: `${mode}-restarts` })
      const attempts: number[] = []
      for (let stops = 0; stops < 3; stops++) {
        const begun = counter(1)
        const worker = client.worker({
          mode,
          handle() {
            begun.hit()
            return new Promise(() => {})
          },
        })
        await begun.reached
        await worker.stop(0)
        await turnsUntil(async () => (await client.agents.queue(agent.id)).leased === 0)
        attempts.push((await client.events.get(`${mode}-restarts`)).deliveries[0]!.attempts)
        await service.clock.jump(1_000)
      }
      assert.deepEqual(attempts, [1, 2, 3])
    })

    test(`[SDK-3] ${mode}: a worker whose key lacks the scope says so and ends`, async () => {
      const agent = await tenant.agent({ scopes: ['send'] })
      const client = createClient({ url: service.url, apiKey: agent.key })
      const worker = client.worker({ mode, handle: () => {}, onError: () => {} })
      await assert.rejects(
        worker.stopped,
        (error) => error instanceof SensoriumError && error.code === 'insufficient_scope',
      )
    })
  }

  test('[SDK-40] a delivery whose handler keeps throwing rests longer after each attempt', async () => {
    const { agent, client } = await listener('g.failing')
    const rests: unknown[] = []
    let givenBack = Promise.withResolvers<void>()
    const watching: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (String(input).endsWith('/nack')) {
        rests.push((JSON.parse(init!.body as string) as { retry_after_seconds?: number }).retry_after_seconds)
        givenBack.resolve()
      }
      return response
    }
    const worker = createClient({ url: service.url, apiKey: agent.key, fetch: watching }).worker({
      onError: () => {},
      handle() {
        throw new Error('the ledger is down')
      },
    })
    await client.publish({ type: 'g.failing', id: 'g-1' })
    for (const rest of [1, 5, 30, 120, 0]) {
      await givenBack.promise
      givenBack = Promise.withResolvers()
      await service.clock.jump(rest * 1000)
    }
    await worker.stop()
    const [delivery] = (await client.events.get('g-1')).deliveries
    assert.deepEqual([delivery!.state, delivery!.attempts], ['dead_lettered', 5])
    assert.deepEqual(rests, [1, 5, 30, 120, 120])
  })

  test('[SDK-40] a delivery that a stopping worker gives back is due at once', async () => {
    const { client } = await listener('h.stopped')
    const begun = counter(1)
    const worker = client.worker({
      handle() {
        begun.hit()
        return new Promise(() => {})
      },
    })
    await client.publish({ type: 'h.stopped' })
    await begun.reached
    await worker.stop(0)
    assert.equal((await client.deliveries.poll()).count, 1)
  })
})
