// Changes that happen after a backfill has read history and before it writes its deliveries.
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { makeActivity } from '../../src/activity/activity.ts'
import { makeWakeups } from '../../src/delivery/wake.ts'
import { backfill } from '../../src/interests/backfill.ts'
import { interestIds, readInterests, type InterestRow } from '../../src/interests/sql.ts'
import type { Failure } from '../../src/kernel/failure.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { makeStepTurns } from '../../src/kernel/step-turns.ts'
import type { Store } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { heldStore } from '../support/held-store.ts'
import { overOrWaiting } from '../support/over-or-waiting.ts'
import { serviceForSuite, type TestAgent, type TestTenant } from '../support/service.ts'
import { eventIds, interest, poll, publish } from '../events/tools.ts'

const DAY = 86_400_000

onBothEngines((engine) => {
  describe('a backfill beside other changes', () => {
    const service = serviceForSuite(engine, { RETENTION_DAYS: '10' })
    let tenant: TestTenant
    let late: TestAgent
    let row: InterestRow
    // Two events that are past retention but not emptied yet, and an interest in them.
    beforeEach(async () => {
      tenant = await service.tenant()
      const sender = await tenant.agent()
      for (const id of ['old-1', 'old-2']) assert.equal((await publish(service, sender.token, { id })).status, 202)
      // Moving the clock instead would make retention run by itself.
      const long = service.clock.now() - 11 * DAY
      await service.store.tx((tx) => tx.run('update events set received_at = ? where tenant_id = ?', [long, tenant.id]))
      late = await tenant.agent()
      assert.equal((await interest(service, late)).status, 201)
      const { store } = service
      row = (await readInterests(store, tenant.id, await interestIds(store, tenant.id, late.id)))[0]!
    })

    const toolsOn = (store: Store) => ({
      store,
      makeId: idMaker(service.clock.now),
      wakeups: makeWakeups(service.store),
      activity: makeActivity(service.store, service.clock),
      backfillSteps: makeStepTurns(),
      now: service.clock.now,
    })

    test('[RACE-2] an event that retention empties after the backfill has read it is not delivered', async () => {
      const held = heldStore(service.store)
      const filling = backfill(toolsOn(held.store), row, 10, async () => {})
      await held.untilWaiting(1)
      await service.app.runOnce.retain()
      held.begin('first')
      await filling
      const left = await service.store.rows('select id from deliveries where tenant_id = ?', [tenant.id])
      assert.deepEqual(left, [], 'a delivery without an event')
    })

    test('[RACE-2] an event that is about to be delivered is not emptied', async () => {
      let retaining: Promise<unknown> | undefined
      await backfill(toolsOn(service.store), row, 10, async () => {
        retaining = service.app.runOnce.retain()
        await overOrWaiting(service.store, retaining)
      })
      await retaining
      assert.deepEqual(eventIds(await poll(service, late.token)), ['old-1', 'old-2'])
    })

    /** Runs `work` after the backfill has read history and before it writes its deliveries. */
    async function between(work: () => Promise<{ status: number }>, status: number): Promise<void> {
      const held = heldStore(service.store)
      const filling = backfill(toolsOn(held.store), row, 10, async () => {})
      await held.untilWaiting(1)
      assert.equal((await work()).status, status)
      held.begin('first')
      await filling
    }

    const delivered = () => service.store.rows('select id from deliveries where tenant_id = ?', [tenant.id])

    test('[RACE-14] an interest that is deleted meanwhile delivers nothing', async () => {
      const path = `/v1/agents/${late.id}/interests/${row.id}`
      await between(() => service.call(`DELETE ${path}`, { token: late.token }), 204)
      assert.deepEqual(await delivered(), [])
    })

    test('[RACE-14] an agent that is deactivated meanwhile is sent nothing', async () => {
      const path = `/v1/agents/${late.id}/deactivate`
      const filling = between(() => service.call(`POST ${path}`, { token: tenant.admin }), 200)
      await assert.rejects(filling, (error: Failure) => error.details['rule'] === 'agent_inactive')
      assert.deepEqual(await delivered(), [])
    })
  })
})
