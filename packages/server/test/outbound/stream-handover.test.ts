// A stream that waits is handed new deliveries by the transaction that publishes them.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import type { Claim } from '../../src/delivery/claim.ts'
import type { ClaimedDelivery } from '../../src/delivery/claimed.ts'
import { openStream } from '../../src/outbound/stream.ts'
import { onBothEngines } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { serviceForSuite, type TestAgent } from '../support/service.ts'
import { MAILBOX, openReader, outboundCalls, type Reader } from './tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const calls = outboundCalls(service)
  let agent: TestAgent
  let reader: Reader
  /** Claims that the service has made. */
  let claims = 0
  beforeEach(async () => {
    agent = await (await service.tenant()).agent()
    await calls.interest(agent)
  })
  afterEach(async () => {
    reader.close()
    await reader.ended
  })

  /** Opens a stream that has taken all that was due, and counts the claims from then on. */
  async function waitingStream(query = ''): Promise<() => void> {
    reader = await openReader(service.url, agent.token, query)
    await calls.publish(agent)
    await calls.ack(agent, [(await reader.next()).id])
    await service.clock.advance(1)
    claims = 0
    const before = service.store.tx
    service.store.tx = (work, options) => {
      if (options?.mayBeLost) claims++
      return before(work, options)
    }
    return () => void (service.store.tx = before)
  }

  test('[SSE-10] it gets what a wait has ended for, whoever writes that down', async () => {
    const restore = await waitingStream()
    restore()
    const id = await calls.publish(agent)
    const { id: delivery } = await reader.next()
    const body = { delivery_ids: [delivery], retry_after_seconds: 60 }
    await service.call('POST /v1/delivery/nack', { token: agent.token, body })
    await service.clock.advance(1)
    // The sweep has nothing left to do when it comes.
    service.clock.set(61_000)
    const receipt = await service.call(`GET /v1/events/${id}`, { token: agent.token })
    assert.equal(receipt.status, 200)
    const again = await reader.next()
    assert.deepEqual([again.id, again.attempt_count], [delivery, 2])
  })

  test('[HND-11] it gets what is published without a claim, and holds it like any other', async () => {
    const restore = await waitingStream()
    for (let i = 0; i < 3; i++) {
      const id = await calls.publish(agent)
      const delivery = await reader.next()
      assert.deepEqual([delivery.event_id, delivery.attempt_count], [id, 1])
    }
    restore()
    assert.equal(claims, 0)
    const leased = (await calls.rows(agent)).filter(({ state }) => state === 'leased')
    assert.deepEqual(
      leased.map(({ attempts }) => attempts),
      [1, 1, 1],
    )
    // A lease that lapses is found, and the next attempt is the second.
    await service.clock.advance(31_000)
    assert.equal((await reader.next()).attempt_count, 2)
  })

  test('[HND-11] it gets as many as it has room for, and the others as room is made', async () => {
    const restore = await waitingStream('?max_in_flight=2')
    restore()
    const batch = Array.from({ length: 5 }, (_, i) => ({ specversion: '1.0', type: 't', source: '/s', id: `of-${i}` }))
    await service.call('POST /v1/events', {
      token: agent.token,
      raw: JSON.stringify(batch),
      headers: { 'content-type': 'application/cloudevents-batch+json' },
    })
    const seen: string[] = []
    for (let i = 0; i < 5; i++) {
      const { id, event_id } = await reader.next()
      seen.push(event_id)
      await service.clock.advance(1)
      const leased = (await calls.rows(agent)).filter(({ state }) => state === 'leased')
      assert.ok(leased.length <= 2, `${leased.length} leased`)
      await calls.ack(agent, [id])
    }
    assert.deepEqual(
      seen.sort(),
      batch.map(({ id }) => id),
    )
  })

  test('[HND-11] two streams of one mailbox take turns', async () => {
    const restore = await waitingStream()
    restore()
    const other = await openReader(service.url, agent.token)
    await other.comment()
    await service.clock.advance(1)
    for (let i = 0; i < 4; i++) await calls.publish(agent)
    const both = await Promise.all([reader.next(), reader.next(), other.next(), other.next()])
    assert.equal(new Set(both.map(({ id }) => id)).size, 4)
    other.close()
    await other.ended
  })
})

test('[HND-11] a stream that ends while something is handed to it gives that back', async () => {
  const handed = Promise.withResolvers<ClaimedDelivery[]>()
  let offers = 0
  const offer = () => ({ end: () => (offers++ === 0 ? handed.promise : null) })
  const written: string[] = []
  const stream = openStream(
    MAILBOX,
    10,
    { write: (text: string) => written.push(text) > 0, end() {}, destroy() {} },
    {
      claim: Object.assign(async () => [], { offer }) as unknown as Claim,
      clock: fakeClock(),
      longInTurn: (_who, run) => run(),
      filled() {},
      failed: (error) => assert.fail(error as Error),
    },
  )
  stream.pump()
  await new Promise(setImmediate)
  const before = written.length
  const closed = stream.close()
  handed.resolve([{ id: 'dlv_1', lease: 1, until: 30_000, json: '{}' }])
  await closed
  assert.deepEqual(
    stream.held().map(({ id }) => id),
    ['dlv_1'],
  )
  assert.equal(written.length, before, 'nothing is written to a reader that is gone')
})
