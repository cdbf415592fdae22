// Slow handlers, and deliveries that come again while they run or later.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, RetryAfter } from '@sensorium/client'
import { onBothEngines } from '../../server/test/support/engines.ts'
import { serviceForSuite, tenantForSuite } from '../../server/test/support/service.ts'
import { turnsUntil } from '../../server/test/support/turns-until.ts'
import { counter, listenerOf } from './listener.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const listener = listenerOf(service, tenant)

  test('[SDK-11] the lease of a slow handler is extended while it runs', async () => {
    const { agent, client } = await listener('d.slow')
    const begun = counter(1)
    let letGo!: () => void
    const held = new Promise<void>((resolve) => (letGo = resolve))
    let extended!: () => void
    const wasExtended = new Promise<void>((resolve) => (extended = resolve))
    const watching: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (String(input).endsWith('/extend')) extended()
      return response
    }
    const watched = createClient({ url: service.url, apiKey: agent.key, fetch: watching })
    const worker = watched.worker({
      leaseSeconds: 1,
      async handle() {
        begun.hit()
        await held
      },
    })
    await client.publish({ type: 'd.slow', id: 'd-slow' })
    await begun.reached
    await wasExtended
    assert.equal((await client.agents.queue(agent.id)).leased, 1)
    letGo()
    await worker.stop()
    assert.equal((await client.events.get('d-slow')).deliveries[0]!.attempts, 1)
  })

  test('[SDK-11] a slow handler keeps its delivery through cuts of its stream', async () => {
    const { agent, client } = await listener('i.cut')
    let cut = new AbortController()
    let opened = Promise.withResolvers<void>()
    const extended = Promise.withResolvers<void>()
    const watching: typeof fetch = async (input, init) => {
      if (String(input).includes('/stream')) {
        cut = new AbortController()
        const response = await fetch(input, { ...init, signal: AbortSignal.any([cut.signal, init!.signal!]) })
        opened.resolve()
        return response
      }
      // As with a clock that runs, some time has passed since the lease began.
      if (String(input).endsWith('/extend')) await service.clock.jump(1_000)
      const response = await fetch(input, init)
      if (String(input).endsWith('/extend')) extended.resolve()
      return response
    }
    const held = Promise.withResolvers<void>()
    const attempts: number[] = []
    const worker = createClient({ url: service.url, apiKey: agent.key, fetch: watching }).worker({
      mode: 'sse',
      onError: () => {},
      async handle({ delivery }) {
        attempts.push(delivery.attempt_count)
        await held.promise
      },
    })
    await opened.promise
    await client.publish({ type: 'i.cut', id: 'i-1' })
    await extended.promise
    for (let cuts = 0; cuts < 5; cuts++) {
      opened = Promise.withResolvers()
      cut.abort()
      await opened.promise
    }
    // A stream brings what is due when it opens, and so before what is published afterwards.
    await client.publish({ type: 'i.cut', id: 'i-2' })
    await turnsUntil(() => attempts.length > 1)
    held.resolve()
    await worker.stop()
    assert.deepEqual(attempts, [1, 1])
    const [delivery] = (await client.events.get('i-1')).deliveries
    assert.deepEqual([delivery!.state, delivery!.attempts], ['acknowledged', 1])
  })

  test('[SDK-12] an event that was already handled and comes again is only acknowledged', async () => {
    const { agent, client } = await listener('e.again')
    let lost = true
    let acknowledged!: () => void
    const twice = new Promise<void>((resolve) => (acknowledged = resolve))
    const flaky: typeof fetch = async (input, init) => {
      if (!String(input).endsWith('/ack')) return fetch(input, init)
      if (lost) {
        lost = false
        // The acknowledgement never arrives, and the lease lapses.
        await service.clock.jump(31_000)
        return Response.json({ error: { code: 'conflict', message: 'x', details: {} } }, { status: 409 })
      }
      const response = await fetch(input, init)
      acknowledged()
      return response
    }
    const handled: string[] = []
    const worker = createClient({ url: service.url, apiKey: agent.key, fetch: flaky }).worker({
      onError: () => {},
      handle: ({ event }) => handled.push(event.id),
    })
    await client.publish({ type: 'e.again', id: 'e-1' })
    await twice
    await worker.stop()
    assert.deepEqual(handled, ['e-1'])
    assert.deepEqual(
      (await client.events.get('e-1')).deliveries.map(({ state, attempts }) => [state, attempts]),
      [['acknowledged', 2]],
    )
  })

  test('[SDK-10] a delivery that came again while its handler ran is not handled again when it is given back', async () => {
    const { agent, client } = await listener('f.again')
    let cameAgain = false
    const polledAfterwards = Promise.withResolvers<void>()
    const givenBack = Promise.withResolvers<void>()
    const watching: typeof fetch = async (input, init) => {
      const { pathname } = new URL(String(input))
      if (pathname.endsWith('/poll') && cameAgain) polledAfterwards.resolve()
      const response = await fetch(input, init)
      if (pathname.endsWith('/poll') && (await response.clone().text()).includes('"attempt_count":2')) cameAgain = true
      if (pathname.endsWith('/nack')) givenBack.resolve()
      return response
    }
    const begun = Promise.withResolvers<void>()
    const next = Promise.withResolvers<void>()
    const handled: string[] = []
    const worker = createClient({ url: service.url, apiKey: agent.key, fetch: watching }).worker({
      onError: () => {},
      async handle({ event }) {
        handled.push(event.id)
        if (event.id === 'f-next') return next.resolve()
        begun.resolve()
        await polledAfterwards.promise
        throw new RetryAfter(600)
      },
    })
    await client.publish({ type: 'f.again', id: 'f-1' })
    await begun.promise
    await service.clock.jump(31_000)
    await givenBack.promise
    await client.publish({ type: 'f.again', id: 'f-next' })
    await next.promise
    await worker.stop()
    assert.deepEqual(handled, ['f-1', 'f-next'])
    const [delivery] = (await client.events.get('f-1')).deliveries
    assert.deepEqual([delivery!.state, delivery!.attempts], ['pending', 2])
  })
})
