// Stream readers that do not read: what is buffered for them is bounded, and other streams go on.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeMetrics } from '../../src/http/metrics.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import type { OpenedStream } from '../../src/outbound/streams.ts'
import { makeParts, type Parts } from '../../src/parts.ts'
import { onBothEngines } from '../support/engines.ts'
import { startService, type Service, type TestAgent, type TestTenant } from '../support/service.ts'
import { outboundCalls, until } from './tools.ts'

onBothEngines((engine) => {
  let service: Service
  let tenant: TestTenant
  let parts: Parts
  before(async () => {
    service = await startService(engine, { VISIBILITY_TIMEOUT_S: '600' })
    tenant = await service.tenant()
    const { config, store, secrets, clock } = service
    parts = makeParts({ config, store, secrets, clock, log: makeLogger('silent'), metrics: makeMetrics() })
  })
  after(async () => {
    await parts.streams.close()
    await service.stop()
  })

  /** Opens a stream whose reader reads nothing until the test says so. */
  async function open(agent: TestAgent, written: string[]): Promise<OpenedStream> {
    const sink = {
      write: (text: string) => {
        written.push(text)
        return false
      },
      end: () => {},
      destroy: () => {},
    }
    const place = await parts.streams.admit({ tenantId: tenant.id, recipientId: agent.id }, 1)
    return place.open(sink, agent.token)
  }

  test('[LOAD-5] at most four long deliveries of an agent are unread by its readers, sixteen of a tenant', async () => {
    const calls = outboundCalls(service)
    const agents = await Promise.all(Array.from({ length: 5 }, () => tenant.agent()))
    for (const agent of agents) await calls.interest(agent)
    for (let i = 0; i < 6; i++) await calls.publish(agents[0]!, 'com.example.long', { text: 'x'.repeat(100_000) })

    const written: string[] = []
    const ofFirst = await Promise.all(Array.from({ length: 6 }, () => open(agents[0]!, written)))
    await until(async () => written.length === 4)
    const opened = await Promise.all(
      agents.slice(1).flatMap((agent) => Array.from({ length: 6 }, () => open(agent, written))),
    )
    await until(async () => written.length === 16)
    // By now any stream that may write more would have done so.
    for (let turns = 0; turns < 200; turns++) await new Promise(setImmediate)
    assert.equal(written.length, 16)

    // A delivery that is read makes room for another, and so does a reader that disconnects.
    for (const stream of ofFirst) stream.drained()
    await until(async () => written.length >= 18)
    for (const stream of ofFirst) stream.gone()
    await until(async () => written.length >= 20)
    // A reader that has read nothing for ten seconds no longer keeps others waiting.
    const before = written.length
    await service.clock.advance(10_000)
    await until(async () => written.length > before)
    for (const stream of opened) stream.gone()
  })
})
