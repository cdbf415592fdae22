// A stream holds leases that other requests end or change meanwhile.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { Claim } from '../../src/delivery/claim.ts'
import type { ClaimedDelivery } from '../../src/delivery/claimed.ts'
import { giveBack } from '../../src/delivery/settle.ts'
import type { Mailbox } from '../../src/delivery/sql.ts'
import { makeMetrics } from '../../src/http/metrics.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeHeldLeases } from '../../src/outbound/held-leases.ts'
import { inGroups } from '../../src/outbound/refresh-streams.ts'
import { openStream } from '../../src/outbound/stream.ts'
import { makeParts, type Parts } from '../../src/parts.ts'
import type { Store, Value } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { startService, type Service, type TestAgent } from '../support/service.ts'
import { MAILBOX, outboundCalls, until } from './tools.ts'

onBothEngines((engine) => {
  describe('the leases of a stream', () => {
    let service: Service
    let calls: ReturnType<typeof outboundCalls>
    let agent: TestAgent
    let mailbox: Mailbox
    beforeEach(async () => {
      service = await startService(engine)
      calls = outboundCalls(service)
      const tenant = await service.tenant()
      agent = await tenant.agent()
      mailbox = { tenantId: tenant.id, recipientId: agent.id }
      await calls.interest(agent)
    })
    afterEach(() => service.stop())

    function partsOn(store: Store): Parts {
      const { config, secrets, clock } = service
      return makeParts({ config, store, secrets, clock, log: makeLogger('silent'), metrics: makeMetrics() })
    }

    /** Opens a stream with at most two deliveries in flight, and collects what it writes. */
    async function open(parts: Parts) {
      const written: string[] = []
      const sink = { write: (text: string) => written.push(text) > 0, end: () => {}, destroy: () => {} }
      const place = await parts.streams.admit(mailbox, 2)
      return { written, stream: place.open(sink, agent.token) }
    }

    const stands = async () => (await calls.rows(agent)).map(({ state, attempts }) => [state, attempts])

    test('[RACE-3] a stream keeps track of deliveries that it claims while it checks its leases', async () => {
      const { store } = service
      const [asked, shown] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const parts = partsOn({
        ...store,
        async rows<R>(sql: string, values?: readonly Value[]) {
          const rows = await store.rows<R>(sql, values)
          if (!sql.startsWith('select id, leases, due_at')) return rows
          asked.resolve()
          await shown.promise
          return rows
        },
      })
      await calls.publish(agent)
      const { written } = await open(parts)
      await until(async () => written.length === 1)
      parts.leaseChanges.extended(agent.id)
      await asked.promise
      await calls.publish(agent)
      parts.wakeups.wake([agent.id])
      await until(async () => written.length === 2)
      await calls.publish(agent)
      shown.resolve()
      await new Promise(setImmediate)
      await parts.streams.close()
      const both = [
        ['ready', 1],
        ['ready', 1],
      ]
      assert.deepEqual(await stands(), [...both, ['ready', 0]], 'both go back, and a third one was never taken')
    })

    test('[RACE-3] a stream that claims a delivery again after it was given back holds the new lease', async () => {
      const parts = partsOn(service.store)
      await calls.publish(agent)
      const { written } = await open(parts)
      await until(async () => written.length === 1)
      const [delivery] = await calls.rows(agent)
      // The delivery is given back in the store, but the stream is not notified yet.
      const effects: (() => void)[] = []
      await service.store.tx((tx) =>
        giveBack(
          { ...tx, afterCommit: (effect) => void effects.push(effect) },
          parts,
          mailbox,
          { delivery_ids: [delivery!.id] },
          service.clock.now(),
          parts.policyOf(mailbox.tenantId),
        ),
      )
      parts.wakeups.wake([agent.id])
      await until(async () => written.length === 2)
      for (const effect of effects) effect()
      await parts.streams.close()
      assert.deepEqual(await stands(), [['ready', 2]])
    })

    test('[SSE-8] the leases of all streams of a tenant are read with one query', async () => {
      const { store, clock } = service
      const asked: number[] = []
      const parts = partsOn({
        ...store,
        rows<R>(sql: string, values?: readonly Value[]) {
          if (sql.startsWith('select id, leases, due_at')) asked.push(clock.elapsed())
          return store.rows<R>(sql, values)
        },
      })
      for (let i = 0; i < 8; i++) await calls.publish(agent)
      const streams = [await open(parts), await open(parts), await open(parts), await open(parts)]
      const count = (): number =>
        streams.flatMap(({ written }) => written).filter((text) => text.startsWith('event: delivery')).length
      await until(async () => count() === 8)
      // Every lease lapses in this time; on a store that nodes share, full streams also look once a second.
      await clock.advance(31_000)
      await until(async () => count() === 16)
      assert.ok(asked.length > 0)
      assert.equal(new Set(asked).size, asked.length, 'two queries at the same time')
      await parts.streams.close()
    })
  })
})

test('[SSE-8] groups hold about 500 leases of one tenant each, and tenants take turns', () => {
  const streams = (tenantId: string, count: number, leases: number) =>
    Array.from({ length: count }, () => ({
      mailbox: { tenantId, recipientId: 'agt' },
      held: () => Array.from({ length: leases }, (_, i) => ({ id: `dlv_${i}`, lease: 1, until: 0 })),
    }))
  const groups = inGroups([...streams('a', 12, 100), ...streams('b', 2, 1), ...streams('c', 600, 1)])
  assert.deepEqual(
    groups.map((group) => [group[0]!.mailbox.tenantId, group.length]),
    [
      ['a', 5],
      ['b', 2],
      ['c', 500],
      ['a', 5],
      ['c', 100],
      ['a', 2],
    ],
  )
})

for (const [what, isLong] of [
  ['its reader was behind', false],
  ['it waited for its turn to be read', true],
] as const)
  test(`[SSE-3] a delivery that was settled while ${what} is not written`, async () => {
    const deliveries = ['one', 'two', 'three'].map((id): ClaimedDelivery => {
      const lease = { id, lease: 1, until: 30_000 }
      return isLong ? { ...lease, json: async () => `"${id}"` } : { ...lease, json: `"${id}"` }
    })
    const claims = [deliveries]
    const written: string[] = []
    const sink = { write: (text: string) => written.push(text) > (isLong ? 0 : 1), end() {}, destroy() {} }
    const turn = Promise.withResolvers<void>()
    const stream = openStream(MAILBOX, 10, sink, {
      claim: Object.assign(async () => claims.shift() ?? [], {
        offer: () => ({ end: () => null }),
      }) as unknown as Claim,
      clock: fakeClock(),
      longInTurn: async (_who, run) => (await turn.promise, run()),
      filled() {},
      failed: (error) => assert.fail(error as Error),
    })
    stream.pump()
    await until(() => (isLong ? stream.held().length === 3 : written.length === 1))
    stream.settled(isLong ? ['one'] : ['two'])
    turn.resolve()
    stream.drained()
    await until(() => stream.isIdle())
    assert.deepEqual(
      written.map((text) => /^id: (.*)$/m.exec(text)![1]),
      isLong ? ['two', 'three'] : ['one', 'three'],
    )
  })

/** Opens a stream that claims what is given, and collects what it writes and how much it claims at once. */
function streamOf(batches: (ClaimedDelivery[] | Promise<ClaimedDelivery[]>)[], max: number, isBehind = false) {
  const seen = { written: 0, limits: [] as number[], filled: 0, failed: 0, offered() {} }
  const sink = { write: () => (seen.written++, !isBehind), end() {}, destroy() {} }
  const claim = async (_mailbox: Mailbox, limit: number) => {
    seen.limits.push(limit)
    return batches.shift() ?? []
  }
  const offer = () => {
    seen.offered()
    return { end: () => null }
  }
  const stream = openStream(MAILBOX, max, sink, {
    claim: Object.assign(claim, { offer }) as unknown as Claim,
    clock: fakeClock(),
    longInTurn: (_who, run) => run(),
    filled: () => void seen.filled++,
    failed: () => void seen.failed++,
  })
  stream.pump()
  return { stream, seen }
}
const claimed = (count: number, json: ClaimedDelivery['json'], name = 'dlv'): ClaimedDelivery[] =>
  Array.from({ length: count }, (_, i) => ({ id: `${name}_${i}`, lease: 1, until: 30_000, json }) as ClaimedDelivery)

test('[SSE-7] a reader that falls behind at every delivery is written all of them', async () => {
  const { stream, seen } = streamOf([claimed(3, '{}')], 10, true)
  for (let count = 1; count <= 3; count++) {
    await until(() => seen.written === count)
    stream.pump()
    await new Promise(setImmediate)
    assert.equal(seen.limits.length, 1, 'nothing is claimed that the reader does not take')
    stream.drained()
  }
})

test('[RACE-3] what is known of a lease changes no other lease', () => {
  const leases = makeHeldLeases()
  leases.add([
    { id: 'a', lease: 2, until: 30_000 },
    { id: 'b', lease: 1, until: 40_000 },
  ])
  // The delivery was claimed again while the store was asked about its lease before.
  leases.refresh([{ id: 'a', lease: 1 }], new Map())
  assert.equal(leases.lapsesAt(), 30_000)
  // The delivery has another holder.
  leases.refresh([{ id: 'a', lease: 2 }], new Map([['a', { id: 'a', leases: 3, due_at: 90_000 }]]))
  assert.deepEqual([leases.has('a'), leases.lapsesAt()], [false, 40_000])
  assert.equal(leases.settled(['b', 'of another stream']), true)
})

test('[SSE-3] a delivery that is gone when its turn to be read comes leaves its place', async () => {
  const { stream } = streamOf([claimed(1, async () => undefined)], 1)
  await until(() => stream.isIdle())
  assert.deepEqual(stream.held(), [])
})

test('[SSE-4] a stream that is closed while it claims has closed when it holds what was claimed', async () => {
  const claiming = Promise.withResolvers<ClaimedDelivery[]>()
  const { stream } = streamOf([claiming.promise], 10)
  const closed = stream.close().then(() => stream.held().length)
  await new Promise(setImmediate)
  claiming.resolve(claimed(2, '{}'))
  assert.equal(await closed, 2)
})

test('[SSE-3] room that is made after a claim that failed is claimed for', async () => {
  const { stream, seen } = streamOf([Promise.reject(new Error('the store is away'))], 10)
  await until(() => seen.failed === 1)
  stream.drained()
  await until(() => stream.isIdle())
  assert.equal(seen.limits.length, 2)
})

test('[SSE-3] what arrives in the moment in which a stream comes to rest is claimed', async () => {
  const { stream, seen } = streamOf([], 10)
  seen.offered = () => {
    seen.offered = () => {}
    queueMicrotask(stream.pump)
  }
  await until(() => stream.isIdle())
  assert.equal(seen.limits.length, 2)
})

test('a stream claims as many deliveries at once as have some 64 KiB together, by the last ones', async () => {
  const short = streamOf([claimed(4, '{}', 'a'), claimed(9, '{}', 'b')], 60)
  await until(() => short.stream.isIdle())
  assert.deepEqual(short.seen.limits, [4, 9, 47])
  const long = streamOf([claimed(4, 'x'.repeat(200_000))], 60)
  await until(() => long.stream.isIdle())
  assert.deepEqual(long.seen.limits, [4, 1])
})

test('[SSE-3] a stream that stays full, whatever arrives, is full since one moment', async () => {
  const { stream, seen } = streamOf([claimed(2, '{}')], 2)
  await until(() => stream.isFull())
  for (let i = 0; i < 3; i++) {
    stream.pump()
    await new Promise(setImmediate)
  }
  assert.equal(seen.filled, 1)
})
