// A waiting poll is handed new deliveries by the transaction that publishes them.
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { makeActivity } from '../../src/activity/activity.ts'
import { makeClaim } from '../../src/delivery/claim.ts'
import { makeHandover, type NewDelivery } from '../../src/delivery/handover.ts'
import { makeWakeups } from '../../src/delivery/wake.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { NO_SIBLINGS } from '../../src/kernel/shared-places.ts'
import { Stop } from '../../src/kernel/stop.ts'
import { eventIds, ids, interest, poll, publish, type DeliveryBody } from '../events/tools.ts'
import { asleep, type Asleep } from '../support/asleep.ts'
import { onBothEngines } from '../support/engines.ts'
import { heldStore } from '../support/held-store.ts'
import { rawConnection } from '../support/raw-http.ts'
import { serviceForSuite, tenantForSuite, type TestAgent } from '../support/service.ts'
import { turnsUntil } from '../support/turns-until.ts'

onBothEngines((engine) => {
  describe('handing over', () => {
    const service = serviceForSuite(engine, { VISIBILITY_TIMEOUT_S: '30', MAX_ATTEMPTS: '2' })
    const tenant = tenantForSuite(service)
    let agent: TestAgent
    beforeEach(async () => {
      agent = await tenant.agent()
      await interest(service, agent, { event_type: agent.id })
    })

    const send = async (fields: Record<string, unknown> = {}): Promise<string> =>
      (await publish(service, agent.token, { type: agent.id, ...fields })).body.event_id as string
    /** Begins a poll and resolves when it sleeps. */
    const sleeping = (query: string): Promise<Asleep<DeliveryBody[]>> =>
      asleep(service.clock, () => poll(service, agent.token, query))

    test('[HND-1] a delivery that is handed over has one attempt and a lease like any other', async () => {
      const { result } = await sleeping('wait=20')
      const id = await send()
      const [first] = await result
      assert.deepEqual([first!.event_id, first!.attempt_count], [id, 1])
      assert.deepEqual(await poll(service, agent.token), [])
      await service.clock.advance(31_000)
      const [second] = await poll(service, agent.token)
      assert.deepEqual([second!.id, second!.attempt_count], [first!.id, 2])
      await service.clock.advance(31_000)
      const { body } = await service.call('GET /v1/delivery/dlq', { token: agent.token })
      assert.equal(body.dlq_items[0].event_id, id)
    })

    test('[HND-1] a delivery that was handed over can be acknowledged and extended', async () => {
      const { result } = await sleeping('wait=20')
      await send()
      const delivery_ids = ids(await result)
      const call = (verb: string, body: object) =>
        service.call(`POST /v1/delivery/${verb}`, { token: agent.token, body: { delivery_ids, ...body } })
      assert.equal((await call('extend', { seconds: 60 })).body.extended, 1)
      await service.clock.advance(45_000)
      assert.equal((await call('ack', {})).body.acknowledged, 1)
      assert.deepEqual(await poll(service, agent.token), [])
    })

    test('[HND-2] of a batch the waiting poll gets up to its limit, and the next poll the rest', async () => {
      const { result } = await sleeping('wait=20&limit=2')
      const events = [1, 2, 3].map((n) => ({
        specversion: '1.0',
        type: agent.id,
        source: '/t',
        id: `${agent.id}.${n}`,
      }))
      const published = await service.call('POST /v1/events', {
        token: agent.token,
        body: events,
        headers: { 'content-type': 'application/cloudevents-batch+json' },
      })
      assert.equal(published.status, 200)
      assert.equal((await result).length, 2)
      const rest = await poll(service, agent.token)
      assert.equal(rest.length, 1)
      assert.deepEqual(
        [...eventIds(await result), ...eventIds(rest)].sort(),
        events.map(({ id }) => id),
      )
    })

    test('[HND-3] of several waiting polls one gets the delivery, and the others go on waiting', async () => {
      const polls = [await sleeping('wait=5'), await sleeping('wait=5'), await sleeping('wait=5')]
      const id = await send()
      const got = await Promise.race(polls.map(({ result }) => result))
      assert.deepEqual(eventIds(got), [id])
      // Only as long as the polls wait: after the lease the delivery would come again.
      await service.clock.advance(5_000)
      const all = await Promise.all(polls.map(({ result }) => result))
      assert.equal(all.flat().length, 1)
    })

    test('[HND-4] a poll whose client has disconnected is handed nothing', async () => {
      await service.clock.rest()
      const others = service.clock.sleepers()
      const connection = await rawConnection(service.url)
      connection.write(
        `GET /v1/delivery/poll?wait=20 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${agent.token}\r\n\r\n`,
      )
      await turnsUntil(() => service.clock.sleepers() > others)
      connection.socket.destroy()
      await turnsUntil(() => service.clock.sleepers() <= others)
      const id = await send()
      const [delivery] = await poll(service, agent.token)
      assert.deepEqual([delivery!.event_id, delivery!.attempt_count], [id, 1])
    })

    const claimForGone = async (): Promise<void> => {
      const { store, untilWaiting, beginAll } = heldStore(service.store)
      const { clock } = service
      const claim = makeClaim({
        store,
        clock,
        wakeups: makeWakeups(service.store),
        handover: makeHandover(() => policy),
        policyOf: () => policy,
        enrich: async () => new Map(),
        activity: makeActivity(service.store, clock),
        siblings: NO_SIBLINGS,
        log: makeLogger('silent'),
      })
      const gone = new Stop()
      const mailbox = { tenantId: tenant.id, recipientId: agent.id }
      const claimed = claim.waiting(mailbox, 10, 5_000, gone, async () => {})
      await untilWaiting(1)
      gone.stop()
      await beginAll(claimed)
      assert.deepEqual(await claimed, [])
    }

    test('[HND-4] a delivery claimed for a client that has gone is there for the next poll, unchanged', async () => {
      const id = await send()
      await claimForGone()
      const [delivery] = await poll(service, agent.token)
      assert.deepEqual([delivery!.event_id, delivery!.attempt_count], [id, 1])
    })

    test('[HND-4] so is one that was delivered before, and the lost claim is no attempt', async () => {
      const id = await send()
      await poll(service, agent.token)
      await service.clock.advance(policy.visibilityTimeoutMs + 1)
      await claimForGone()
      const [delivery] = await poll(service, agent.token)
      assert.deepEqual([delivery!.event_id, delivery!.attempt_count], [id, 2])
    })

    for (const end of ['revoked', 'expired'] as const)
      test(`[HND-4] a delivery handed to a poll whose key was ${end} is there for the next poll, unchanged`, async () => {
        const expires_at = new Date(service.clock.now() + 10_000).toISOString()
        const minted = await service.call(`POST /v1/agents/${agent.id}/keys`, {
          token: tenant.admin,
          body: { scopes: ['receive'], ...(end === 'expired' ? { expires_at } : {}) },
        })
        const exchanged = await service.call('POST /v1/auth/token', { body: { api_key: minted.body.key } })
        const token = exchanged.body.access_token
        const { result: waiting } = await asleep(service.clock, () =>
          service.call('GET /v1/delivery/poll?wait=20', { token }),
        )
        if (end === 'expired') await service.clock.advance(11_000)
        else await service.call(`DELETE /v1/agents/${agent.id}/keys/${minted.body.id}`, { token: tenant.admin })
        const id = await send()
        assert.equal((await waiting).status, 401)
        const [delivery] = await poll(service, agent.token)
        assert.deepEqual([delivery!.event_id, delivery!.attempt_count], [id, 1])
      })
  })
})

const policy = { visibilityTimeoutMs: 30_000, maxAttempts: 3, pushRetryS: [5] }
const mailbox = { tenantId: 'ten_1', recipientId: 'agt_1' }
const delivery = (id: string, priority: number): NewDelivery => ({
  tenant_id: 'ten_1',
  recipient_id: 'agt_1',
  id,
  event_id: `event ${id}`,
  priority,
  enrichment: 'none',
  matched: '',
  created_at: 0,
  envelope: '{}',
})

/** Tells for every agent that it is not paused. */
const nobody = (): boolean => false

test('[HND-2] the highest priority goes first, then the oldest', async () => {
  const handover = makeHandover(() => policy)
  const offer = handover.offer(mailbox, 2, () => {})
  const pending = handover.take([delivery('dlv_1', 0), delivery('dlv_3', 5), delivery('dlv_2', 5)], 0, nobody)
  assert.deepEqual(
    pending.leased.map(({ id }) => id),
    ['dlv_2', 'dlv_3'],
  )
  assert.deepEqual(
    pending.ready.map(({ id }) => id),
    ['dlv_1'],
  )
  pending.settle(true)
  assert.deepEqual(
    (await offer.end())!.rows.map(({ id }) => id),
    ['dlv_2', 'dlv_3'],
  )
})

test('[HND-5] a transaction that failed hands nothing over, and its polls look again', async () => {
  const handover = makeHandover(() => policy)
  let woken = 0
  const offer = handover.offer(mailbox, 2, () => void woken++)
  const pending = handover.take([delivery('dlv_1', 0)], 0, nobody)
  // Another transaction finds no poll: the poll is reserved for the first one until that has ended.
  assert.equal(handover.take([delivery('dlv_2', 0)], 0, nobody).leased.length, 0)
  pending.settle(false)
  assert.equal(await offer.end(), null)
  assert.equal(woken, 1)
})
