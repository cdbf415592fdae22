// A claim that waits in the database: its lease has been running meanwhile.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { makeActivity } from '../../src/activity/activity.ts'
import { makeClaim, type Claim } from '../../src/delivery/claim.ts'
import type { ClaimedDelivery } from '../../src/delivery/claimed.ts'
import { makeHandover, type NewDelivery } from '../../src/delivery/handover.ts'
import { release } from '../../src/delivery/settle.ts'
import { putBackRows, type Mailbox } from '../../src/delivery/sql.ts'
import { makeWakeups } from '../../src/delivery/wake.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { NO_SIBLINGS } from '../../src/kernel/shared-places.ts'
import { Stop } from '../../src/kernel/stop.ts'
import type { Store } from '../../src/store/db.ts'
import { interest, poll, publish } from '../events/tools.ts'
import { asleep } from '../support/asleep.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite, type TestAgent } from '../support/service.ts'

const policy = { visibilityTimeoutMs: 30_000, maxAttempts: 3, pushRetryS: [5] }

const deliveryTo = ({ tenantId, recipientId }: Mailbox, at: number): NewDelivery => ({
  tenant_id: tenantId,
  recipient_id: recipientId,
  id: 'dlv_late',
  event_id: 'late',
  priority: 0,
  enrichment: 'none',
  matched: '[]',
  created_at: at,
  envelope: '{"id":"late"}',
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  let agent: TestAgent
  beforeEach(async () => {
    agent = await tenant.agent()
    await interest(service, agent, { event_type: agent.id })
    await publish(service, agent.token, { type: agent.id })
  })

  const claimWith = (store: Store, clock: Clock, handover = makeHandover(() => policy)): Claim =>
    makeClaim({
      store,
      clock,
      wakeups: makeWakeups(service.store),
      handover,
      policyOf: () => policy,
      enrich: async () => new Map(),
      activity: makeActivity(service.store, service.clock),
      siblings: NO_SIBLINGS,
      log: makeLogger('silent'),
    })

  /** A claim whose first transaction takes `ms`. */
  function lateClaim(ms: number): Claim {
    let late = 0
    const clock: Clock = { ...service.clock, now: () => service.clock.now() + late }
    const store: Store = {
      ...service.store,
      tx: (work, options) => service.store.tx(work, options).finally(() => (late = late === 0 ? ms : late)),
    }
    return claimWith(store, clock)
  }

  const mailbox = () => ({ tenantId: tenant.id, recipientId: agent.id })
  const attempts = (claimed: readonly ClaimedDelivery[]): number[] =>
    claimed.map(({ json }) => JSON.parse(json as string).attempt_count)

  test('[DLV-4] [SSE-4] a lease is put back or ended by its number, and no later one with it', async () => {
    const { id } = (await poll(service, agent.token))[0]!
    const putBack = (lease: number) => service.store.tx((tx) => putBackRows(tx, mailbox(), lease, [id]))
    const activity = makeActivity(service.store, service.clock)
    const end = (lease: number) =>
      service.store.tx((tx) => release(tx, activity, mailbox(), [{ id, lease }], service.clock.now(), policy))
    const attempted = async (): Promise<unknown[]> => {
      const sql = 'select attempts, first_attempt_at from deliveries where tenant_id = ? and id = ?'
      return Object.values((await service.store.rows<object>(sql, [tenant.id, id]))[0]!)
    }
    assert.equal(await putBack(1), 1)
    assert.deepEqual(await attempted(), [0, null])
    await poll(service, agent.token)
    assert.deepEqual([await putBack(1), await end(1)], [0, 0])
    assert.deepEqual(await attempted(), [1, service.clock.now()])
    assert.equal(await end(2), 1)
  })

  test('[DLV-4] what is handed out has half of its lease left, or it is put back and that is no attempt', async () => {
    assert.deepEqual(attempts(await lateClaim(15_001)(mailbox(), 10)), [])
    assert.deepEqual(attempts(await lateClaim(15_000)(mailbox(), 10)), [1])
    assert.deepEqual(await poll(service, agent.token), [])
  })

  test('[DLV-4] a poll that waits claims again', async () => {
    const claimed = await lateClaim(20_000).waiting(mailbox(), 10, 60_000, new Stop(), async () => {})
    assert.deepEqual(attempts(claimed), [1])
    assert.equal(claimed[0]!.until, service.clock.now() + 20_000 + policy.visibilityTimeoutMs)
  })

  test('[DLV-4] [DLV-7] a poll to which something was handed too late goes on waiting', async () => {
    const other = { tenantId: tenant.id, recipientId: (await tenant.agent()).id }
    const handover = makeHandover(() => policy)
    const { clock } = service
    const claim = claimWith(service.store, clock, handover)
    const started = clock.elapsed()
    const waiting = await asleep(clock, async () => {
      const claimed = await claim.waiting(other, 10, 20_000, new Stop(), async () => {})
      return { claimed, ms: clock.elapsed() - started }
    })
    const begun = clock.now() - 20_000
    const { leased, settle } = handover.take([deliveryTo(other, begun)], begun, () => false)
    assert.equal(leased.length, 1)
    settle(true)
    while (!waiting.hasEnded()) await clock.advance(1_000)
    const { claimed, ms } = await waiting.result
    assert.deepEqual(claimed, [])
    assert.ok(ms >= 20_000, `${ms} ms`)
  })

  test('[DLV-4] pushes have half of their own lease left', async () => {
    const many = (ms: number) => lateClaim(ms).many([{ mailbox: mailbox(), limit: 10 }], 60_000, async () => true)
    const [late] = await many(30_001)
    assert.deepEqual(attempts(late!.deliveries), [])
    const [inTime] = await many(30_000)
    assert.deepEqual(attempts(inTime!.deliveries), [1])
  })

  test('[SAFE-19] of what was claimed for pushes, a delivery whose event has lost its payload is left out', async () => {
    const kept = (await publish(service, agent.token, { type: agent.id })).body.event_id
    await service.store.tx((tx) =>
      tx.run('update events set envelope = null where tenant_id = ? and id <> ?', [tenant.id, kept]),
    )
    const mailbox = { tenantId: tenant.id, recipientId: agent.id }
    const claim = claimWith(service.store, service.clock)
    const [served] = await claim.many([{ mailbox, limit: 10 }], 30_000, async () => true)
    assert.deepEqual(
      served!.deliveries.map(({ json }) => JSON.parse(json).event_id),
      [kept],
    )
  })
})
