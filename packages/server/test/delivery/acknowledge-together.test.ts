// Acknowledgements that arrive together.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeActivity } from '../../src/activity/activity.ts'
import { makeAcknowledge } from '../../src/delivery/acknowledge-together.ts'
import { makeLeaseChanges } from '../../src/delivery/lease-changes.ts'
import { ids, interest, poll, publish } from '../events/tools.ts'
import { onBothEngines } from '../support/engines.ts'
import { heldStore } from '../support/held-store.ts'
import { serviceForSuite, type TestAgent } from '../support/service.ts'

onBothEngines((engine) => {
  describe('acknowledging together', () => {
    const service = serviceForSuite(engine)

    const acknowledge = async (agent: TestAgent, delivery_ids: string[], idempotencyKey?: string): Promise<number> =>
      (
        await service.call('POST /v1/delivery/ack', {
          token: agent.token,
          body: { delivery_ids },
          ...(idempotencyKey ? { headers: { 'idempotency-key': idempotencyKey } } : {}),
        })
      ).body.acknowledged as number

    test("[HND-7] each counts its own, a delivery counts once, and no agent settles another's deliveries", async () => {
      const [tenant, other] = [await service.tenant(), await service.tenant()]
      const agents = await Promise.all([tenant.agent(), tenant.agent(), tenant.agent(), other.agent()])
      const mailboxes: string[][] = []
      for (const agent of agents) {
        await interest(service, agent, { event_type: agent.id })
        for (let i = 0; i < 4; i++) await publish(service, agent.token, { type: agent.id })
        mailboxes.push(ids(await poll(service, agent.token)))
      }
      const [a, b, c, d] = agents as [TestAgent, TestAgent, TestAgent, TestAgent]
      const [as, bs, cs, ds] = mailboxes as [string[], string[], string[], string[]]
      const counts = await Promise.all([
        acknowledge(a, [as[0]!]),
        acknowledge(a, [as[0]!, as[1]!]),
        acknowledge(b, [bs[0]!, bs[1]!, as[2]!, 'dlv_nothing']),
        acknowledge(c, [bs[2]!, ds[0]!]),
        acknowledge(c, cs, 'once'),
        acknowledge(c, cs, 'once'),
        acknowledge(d, ds),
      ])
      assert.equal(counts[0]! + counts[1]!, 2, 'a delivery that two name is counted once')
      assert.deepEqual(counts.slice(2), [2, 0, 4, 4, 4])
      assert.deepEqual(
        await Promise.all([acknowledge(a, as), acknowledge(b, bs), acknowledge(c, cs), acknowledge(d, ds)]),
        [2, 2, 0, 0],
      )
    })

    test('[SAFE-38] [SAFE-39] an acknowledgement of another tenant waits only for the part of a flood under way', {
      timeout: 60_000,
    }, async () => {
      const { store, untilWaiting, begin, beginAll } = heldStore(service.store)
      const tools = { leaseChanges: makeLeaseChanges(), activity: makeActivity(service.store, service.clock) }
      const together = makeAcknowledge(store, tools, service.clock.now)
      const hundred = Array.from({ length: 100 }, (_, i) => `dlv_${i}`)
      const ask = (tenantId: string) => together({ tenantId, recipientId: 'agt_1' }, hundred)
      // A group takes ten of these: every lane has a group under way, and as many wait behind them.
      const floods = Array.from({ length: 20 * store.writers + 30 }, () => ask('ten_loud'))
      await untilWaiting(store.writers)
      const quiet = ask('ten_quiet')
      if (store.isShared) {
        await untilWaiting(store.writers + 1)
        begin('last')
      } else {
        begin('first')
        await untilWaiting(1)
        begin('first')
      }
      assert.equal(await quiet, 0)
      await beginAll(Promise.all(floods))
    })
  })
})
