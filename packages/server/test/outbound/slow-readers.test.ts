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

  test('[LOAD-11] long deliveries are written to a quick reader, and read for a push, one in a turn', async () => {
    const calls = outboundCalls(service)
    const agent = await tenant.agent()
    await calls.interest(agent)
    const publish = () => calls.publish(agent, 'com.example.long', { text: 'x'.repeat(100_000) })
    for (let i = 0; i < 3; i++) await publish()
    let turn = 0
    let ticking = setImmediate(function next() {
      turn++
      ticking = setImmediate(next)
    })
    const written: number[] = []
    const sink = {
      write: (text: string) => (text.length > 100_000 && written.push(turn), true),
      end() {},
      destroy() {},
    }
    const mailbox = { tenantId: tenant.id, recipientId: agent.id }
    const stream = (await parts.streams.admit(mailbox, 3)).open(sink, agent.token)
    await until(async () => written.length === 3)
    assert.equal(new Set(written).size, 3)
    stream.gone()

    for (let i = 0; i < 3; i++) await publish()
    const read: number[] = []
    const { lookUp, rows } = service.store
    const noted = <T>(sql: string, result: T): T => (sql.includes('d.enriched') && read.push(turn), result)
    service.store.lookUp = (sql, values) => noted(sql, lookUp(sql, values)) as never
    service.store.rows = (sql, values) => noted(sql, rows(sql, values)) as never
    const [served] = await parts.claim.many([{ mailbox, limit: 3 }], 1_000, async () => true)
    Object.assign(service.store, { lookUp, rows })
    clearImmediate(ticking)
    assert.equal(served!.deliveries.length, 3)
    assert.equal(new Set(read).size, 3)
  })
})
