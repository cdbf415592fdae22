// The same request on two nodes while it takes more than one transaction.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { operations } from '@sensorium/contract'
import { lockAgent } from '../../src/agents/sql.ts'
import type { Principal } from '../../src/auth/principal.ts'
import { resultOf } from '../../src/operations/response.ts'
import { publish } from '../events/tools.ts'
import { sleptOut } from '../support/asleep.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { overOrWaiting } from '../support/over-or-waiting.ts'
import { startService, type Reply, type Service, type TestAgent, type TestTenant } from '../support/service.ts'
import { turnsUntil } from '../support/turns-until.ts'
import { assertReplay, keptUnder } from './idempotency-tools.ts'

onBothEngines((engine) => {
  // Two nodes need a store that they can share.
  if (engine.name !== 'postgres') return

  describe('an interest with a backfill, under a key', () => {
    let service: Service
    let other: Service
    let tenant: TestTenant
    let agent: TestAgent
    before(async () => {
      service = await startService(engine)
      other = await service.another()
    })
    after(async () => {
      await other.stop()
      await service.stop()
    })
    beforeEach(async () => {
      tenant = await service.tenant()
      agent = await tenant.agent()
      assert.equal((await publish(service, agent.token)).status, 202)
    })

    const create = (node: Service, key: string): Promise<Reply> =>
      node.call(`POST /v1/agents/${agent.id}/interests`, {
        token: agent.token,
        body: { event_type: 'com.test.*', priority: 0, enrichment_depth: 'none', backfill: 10 },
        headers: { 'idempotency-key': key },
      })

    /** Begins the request on both nodes: when the second comes, the first has made the interest, not the backfill. */
    async function onBoth(key: string): Promise<[Reply, Reply]> {
      const { store, clock } = service
      let replies!: [Promise<Reply>, Promise<Reply>]
      await store.tx(async (tx) => {
        // The backfill waits for this lock.
        await lockAgent(tx, tenant.id, agent.id)
        const first = create(service, key)
        await overOrWaiting(store, first)
        const others = clock.sleepers()
        let isOver = false
        const second = create(other, key).finally(() => (isOver = true))
        replies = [first, second]
        await turnsUntil(() => isOver || clock.sleepers() > others)
      })
      const first = await replies[0]
      await clock.advance(1_000)
      return [first, await replies[1]]
    }

    test('[NODE-2] [RACE-10] the second request waits for the response to the first', async () => {
      const [first, second] = await onBoth('both')
      assert.equal(first.status, 201, first.text)
      assertReplay(first, second)
      const listed = await service.call(`GET /v1/agents/${agent.id}/interests`, { token: agent.token })
      assert.equal(listed.body.interests.length, 1)
      const queue = await service.call(`GET /v1/agents/${agent.id}/queue`, { token: agent.token })
      assert.equal(queue.body.pending, 1)
    })

    /** Leaves the record as a node does that is between the two transactions. */
    async function underWay(key: string): Promise<void> {
      assert.equal((await create(service, key)).status, 201)
      await service.store.tx((tx) =>
        tx.run('update idempotency set status = 503, body = ? where idempotency_key = ?', ['{}', key]),
      )
    }

    test('[RACE-10] a repeated request does not wait for ever, and another body is refused at once', async () => {
      await underWay('long')
      const changed = await other.call(`POST /v1/agents/${agent.id}/interests`, {
        token: agent.token,
        body: { event_type: 'other.*', priority: 0, enrichment_depth: 'none' },
        headers: { 'idempotency-key': 'long' },
      })
      assertError(changed, 'conflict')
      assertError(await sleptOut(service.clock, () => create(other, 'long')), 'service_unavailable')
      assert.equal((await keptUnder(service, 'long'))[0]!.status, 503)
    })

    test('[RACE-10] a request that a lost node had begun blocks its key for half a minute at most', async () => {
      await underWay('gone')
      await service.clock.jump(31_000)
      assertError(await create(other, 'gone'), 'business_rule_violation', { rule: 'interest_conflict' })
      assert.equal((await keptUnder(service, 'gone'))[0]!.status, 422)
    })

    test('[RACE-10] a node that stood still does not delete the interest that another one has completed', async () => {
      const { store, clock } = service
      let stalled!: Promise<Reply>
      let taken!: Promise<Reply>
      await store.tx(async (tx) => {
        // Both backfills wait for this lock.
        await lockAgent(tx, tenant.id, agent.id)
        stalled = create(service, 'stalled')
        await overOrWaiting(store, stalled)
        await other.store.tx((db) =>
          db.run("update idempotency set created_at = ? where idempotency_key = 'stalled'", [clock.now() - 31_000]),
        )
        taken = create(other, 'stalled')
        await overOrWaiting(store, taken, 2)
      })
      await clock.advance(1_000)
      const replies = await Promise.all([stalled, taken])
      assert.deepEqual(
        replies.map(({ status, body }) => [status, body.id]),
        Array.from({ length: 2 }, () => [201, replies[0].body.id]),
      )
      const listed = await service.call(`GET /v1/agents/${agent.id}/interests`, { token: agent.token })
      assert.deepEqual(
        listed.body.interests.map(({ id }: { id: string }) => id),
        [replies[0].body.id],
      )
      const queue = await service.call(`GET /v1/agents/${agent.id}/queue`, { token: agent.token })
      assert.equal(queue.body.pending, 1)
    })

    test('[NODE-2] [RACE-10] an import is carried out once, and another one under its key is refused at once', async () => {
      const caller: Principal = {
        kind: 'agent',
        id: agent.id,
        tenantId: tenant.id,
        keyId: agent.keyId,
        scopes: new Set(['memory:write']),
        teamId: null,
      }
      const lines = (title: string): string =>
        Array.from({ length: 40 }, (_, n) =>
          JSON.stringify({ type: 'semantic', scope: 'agent', title: `${title} ${n}`, content: 'x' }),
        ).join('\n')
      const importOn = async (node: Service, body: string, requireStanding = async (): Promise<void> => {}) => {
        const options = { idempotencyKey: 'imported', requireStanding }
        const { perform } = node.app.operations
        return resultOf<typeof operations.importMemories>(
          await perform(caller, operations.importMemories, { body }, options),
        )
      }
      // The first node has written a part when the requests come to the second.
      const atSecondStep = Promise.withResolvers<void>()
      const goOn = Promise.withResolvers<void>()
      let steps = 0
      const first = importOn(service, lines('first'), async () => {
        if (++steps === 2) atSecondStep.resolve()
        if (steps === 2) await goOn.promise
      })
      await atSecondStep.promise
      await assert.rejects(importOn(other, lines('another')), { code: 'conflict' })
      const others = service.clock.sleepers()
      let isOver = false
      const second = importOn(other, lines('first')).finally(() => (isOver = true))
      await turnsUntil(() => isOver || service.clock.sleepers() > others)
      goOn.resolve()
      assert.partialDeepStrictEqual(await first, { created: 40, skipped: 0, failed: 0 })
      await service.clock.advance(1_000)
      assert.deepEqual(await second, await first)
    })
  })
})
