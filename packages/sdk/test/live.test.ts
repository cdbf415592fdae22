// What happens in a tenant, as the client yields it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '@sensorium/client'
import { onBothEngines } from '../../server/test/support/engines.ts'
import { serviceForSuite, tenantForSuite } from '../../server/test/support/service.ts'
import { turnsUntil } from '../../server/test/support/turns-until.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)

  test('[CON-7] live yields events and counts until it is aborted, across a stream that broke off', async () => {
    const agent = await tenant.agent()
    const opened: ReadableStreamDefaultReader[] = []
    let streams = 0
    // The first stream breaks off after its head.
    const flaky: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (!String(input).includes('/v1/live') || streams++ > 0) return response
      opened.push(response.body!.getReader())
      return new Response(new ReadableStream({ start: (controller) => controller.error(new Error('cut off')) }))
    }
    const client = createClient({ url: service.url, apiKey: tenant.adminKey, fetch: flaky })
    const stop = new AbortController()
    const errors: unknown[] = []
    const messages = client.live({ type: 'live.*' }, { signal: stop.signal, onError: (error) => errors.push(error) })
    let next = messages.next()
    // The client opens the second stream after a short wait on the machine's clock.
    await turnsUntil(() => streams >= 2)
    let kind: string | undefined
    for (let n = 0; kind !== 'event'; n++) {
      await service.call('POST /v1/events', {
        token: agent.token,
        body: { specversion: '1.0', type: 'live.x', source: '/s', id: `live-${n}` },
      })
      await service.clock.advance(1_000)
      const { value } = await next
      kind = value!.kind
      next = messages.next()
    }
    assert.equal(errors.length, 1)
    stop.abort()
    for (let last = await next; !last.done; last = await messages.next());
    for (const reader of opened) await reader.cancel().catch(() => {})
  })

  test('[CON-7] live is refused to an agent', async () => {
    const client = createClient({ url: service.url, apiKey: (await tenant.agent()).key })
    await assert.rejects(client.live().next(), { code: 'insufficient_scope' })
  })
})
