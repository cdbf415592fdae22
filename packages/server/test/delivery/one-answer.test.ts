// Two requests settle a delivery at the same moment: one of them wins, and every response agrees with it.
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { acknowledge } from '../../src/delivery/settle.ts'
import { makeActivity } from '../../src/activity/activity.ts'
import { sweepLapsed } from '../../src/delivery/lapse.ts'
import { makeWakeups } from '../../src/delivery/wake.ts'
import { makeLeaseChanges } from '../../src/delivery/lease-changes.ts'
import { onBothEngines } from '../support/engines.ts'
import { overOrWaiting } from '../support/over-or-waiting.ts'
import { serviceForSuite, tenantForSuite, type TestAgent } from '../support/service.ts'
import { ids, interest, poll, publish } from '../events/tools.ts'

const POLICY = { visibilityTimeoutMs: 30_000, maxAttempts: 1, pushRetryS: [1] }

onBothEngines((engine) => {
  describe('one answer wins', () => {
    const service = serviceForSuite(engine, { VISIBILITY_TIMEOUT_S: '30', MAX_ATTEMPTS: '1' })
    const tenant = tenantForSuite(service)
    let agent: TestAgent
    beforeEach(async () => {
      agent = await tenant.agent()
      await interest(service, agent, { event_type: agent.id })
    })

    const post = (verb: string, body: Record<string, unknown>) =>
      service.call(`POST /v1/delivery/${verb}`, { token: agent.token, body })
    const stateOf = async (eventId: string): Promise<string> =>
      (await service.call(`GET /v1/events/${eventId}`, { token: agent.token })).body.deliveries[0].state

    test('[POL-5] of a concurrent acknowledgement, dead-lettering and sweep one settles the delivery', async () => {
      const events: string[] = []
      for (let i = 0; i < 40; i++) events.push((await publish(service, agent.token, { type: agent.id })).body.event_id)
      const leased = await poll(service, agent.token)
      assert.equal(leased.length, events.length)
      const results = await Promise.all(
        leased.map(async ({ id, event_id }, i) => {
          if (i === 20) service.clock.moveNow(30_000)
          const [acked, nacked] = await Promise.all([
            post('ack', { delivery_ids: [id] }),
            post('nack', { delivery_ids: [id], dead_letter: true, reason: 'mine' }),
            ...(i % 5 === 0 ? [service.app.runOnce.sweepLapsed()] : []),
          ] as const)
          return { event_id, acked: acked.body.acknowledged as number, nacked: nacked.body.nacked as number }
        }),
      )
      const list = await service.call('GET /v1/delivery/dlq?limit=200', { token: agent.token })
      const reasons = new Map<string, string>(
        list.body.dlq_items.map((item: { event_id: string; dlq_reason: string }) => [item.event_id, item.dlq_reason]),
      )
      for (const { event_id, acked, nacked } of results) {
        assert.ok(acked + nacked <= 1, 'two requests were told that they decided')
        const expected = acked ? undefined : nacked ? 'mine' : 'Not acknowledged after 1 attempt over 30 s'
        assert.equal(reasons.get(event_id), expected)
        assert.equal(await stateOf(event_id), acked ? 'acknowledged' : 'dead_lettered')
      }
    })

    // With one writer the sweep would begin after the transaction.
    if (engine.name === 'postgres')
      test('[POL-5] a sweep waits for no delivery that another transaction holds, and handles the others', async () => {
        for (let i = 0; i < 2; i++) await publish(service, agent.token, { type: agent.id })
        const [held, free] = ids(await poll(service, agent.token))
        await service.store.tx(async (tx) => {
          await tx.run('update deliveries set priority = priority where tenant_id = ? and id = ?', [tenant.id, held!])
          // The clock stays, or the sweep of the service would take part.
          const later = service.clock.now() + 30_000
          const activity = makeActivity(service.store, service.clock)
          const sweeping = sweepLapsed(
            { store: service.store, activity, wakeups: makeWakeups(service.store), policyOf: () => POLICY },
            later,
          )
          await overOrWaiting(service.store, sweeping)
          const dead = await service.store.rows<{ id: string }>(
            "select id from deliveries where tenant_id = ? and recipient_id = ? and state = 'dead_lettered'",
            [tenant.id, agent.id],
          )
          assert.deepEqual(dead, [{ id: free }])
        })
      })

    test('[POL-5] receipt and queue show no dead letter while its acknowledgement is being committed', async () => {
      const { body } = await publish(service, agent.token, { type: agent.id })
      const delivery_ids = ids(await poll(service, agent.token))
      // The acknowledgement came in time but is not committed yet when the lease runs out.
      const committing = Promise.withResolvers<void>()
      const begun = Promise.withResolvers<void>()
      const mailbox = { tenantId: tenant.id, recipientId: agent.id }
      const acknowledging = service.store.tx(async (tx) => {
        const acknowledged = await acknowledge(
          tx,
          { leaseChanges: makeLeaseChanges(), activity: makeActivity(service.store, service.clock) },
          mailbox,
          delivery_ids,
          service.clock.now(),
        )
        begun.resolve()
        await committing.promise
        return acknowledged
      })
      await begun.promise
      service.clock.moveNow(30_000)
      const receipt = stateOf(body.event_id)
      const queue = service.call(`GET /v1/agents/${agent.id}/queue`, { token: agent.token })
      let told = 0
      for (const answer of [receipt, queue]) void answer.finally(() => told++)
      for (let i = 0; i < 3_000 && told < 2; i++) await new Promise(setImmediate)
      committing.resolve()
      assert.equal(await acknowledging, 1)
      assert.equal(await receipt, 'acknowledged')
      assert.deepEqual([(await queue).body.dead_lettered, (await queue).body.leased], [0, 0])
    })
  })
})
