// When a failed push is retried: as the environment or the agent says, and not at all while the breaker is open.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConfigError, readConfig } from '../../src/config.ts'
import { makeOpenSecret, pushTarget } from '../../src/outbound/push-secret.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { overOrWaiting } from '../support/over-or-waiting.ts'
import { startService, type Service, type TestTenant } from '../support/service.ts'
import { outboundCalls, startReceiver, until, type Told } from './tools.ts'

const MINUTE = 60_000

test('[POL-6] PUSH_RETRY_S takes 1 to 16 waits of 1 s to a day', () => {
  assert.deepEqual(readConfig({}).pushRetryS, [5, 60, 600, 3600])
  assert.deepEqual(readConfig({ PUSH_RETRY_S: '1, 86400' }).pushRetryS, [1, 86_400])
  for (const wrong of ['0', '86401', '5,', ',', '1.5', '-1', 'soon', '1e3', Array(17).fill(1).join(',')])
    assert.throws(() => readConfig({ PUSH_RETRY_S: wrong }), ConfigError, wrong)
})

/** Lets a long time pass in steps, and waits for the pushes under way after each. */
async function passQuickly(service: Service, ms: number, step = 30_000): Promise<void> {
  for (let passed = 0; passed < ms; passed += step) {
    await service.clock.jump(step)
    // Deliveries that became due are found before more time passes.
    await service.app.runOnce.push()
    // Their outcomes are written too: a lease that lapses before that costs an attempt, and the last attempt the
    // delivery. Writing an outcome wakes the next claim, so pushes are over only when idle several times in a row.
    let quiet = 0
    await until(async () => {
      await service.clock.rest()
      const leased = await service.store.rows("select id from deliveries where state = 'leased' and due_at > ?", [
        service.clock.now(),
      ])
      const isIdle = leased.length === 0 && service.gauge('sensorium_push_under_way') === 0
      quiet = isIdle ? quiet + 1 : 0
      return quiet === 3
    }, 'pushes')
  }
}

onBothEngines((engine) => {
  describe('the push schedule', () => {
    async function start(t: { after(done: () => Promise<void>): void }, env: Record<string, string> = {}) {
      const service = await startService(engine, { PUSH_ALLOW_PRIVATE: 'on', ...env })
      const receiver = await startReceiver()
      t.after(async () => {
        await receiver.stop()
        await service.stop()
      })
      return { service, receiver, calls: outboundCalls(service), tenant: await service.tenant() }
    }

    /** Lets an endpoint answer 25 events like this for half an hour, then 204; returns what was seen at that moment. */
    async function downForHalfAnHour(t: { after(done: () => Promise<void>): void }, told: Told) {
      const { service, receiver, calls, tenant } = await start(t)
      const agent = await calls.pushed(tenant, receiver.url)
      receiver.answer = () => told
      for (let i = 0; i < 25; i++) await calls.publish(agent)
      await passQuickly(service, 30 * MINUTE)
      const requests = receiver.all.length
      const waiting = await calls.rows(agent)
      assert.equal(waiting.length, 25)
      assert.ok(waiting.every(({ state }) => state !== 'dead_lettered'))
      receiver.answer = () => 204
      // The longest wait is 72 minutes.
      for (let minutes = 0; minutes < 75; minutes++) await passQuickly(service, MINUTE, MINUTE)
      const rows = await until(async () => {
        await passQuickly(service, MINUTE, MINUTE)
        const found = await calls.rows(agent)
        return found.every(({ state }) => state === 'acknowledged') && found
      }, 'the last acknowledgement')
      assert.equal(rows.length, 25)
      return { requests, waiting }
    }

    test('[POL-7] an endpoint that is down for 30 minutes loses nothing', async (t) => {
      const { requests, waiting } = await downForHalfAnHour(t, { status: 503 })
      // Ten failures opened the breaker; since then one delivery a minute was tried.
      assert.ok(requests <= 10 + 30, `${requests} requests`)
      assert.ok(
        waiting.some(({ attempts }) => attempts === 0),
        'what waits behind an open breaker spends no attempt',
      )
    })

    for (const status of [503, 429])
      test(`[POL-7] [PUSH-8] nor does one that says ${status} and to come back in a second`, async (t) => {
        const { waiting } = await downForHalfAnHour(t, { status, headers: { 'retry-after': '1' } })
        assert.ok(
          waiting.some(({ attempts }) => attempts > 1),
          'it was tried again',
        )
      })

    test('[POL-6] an agent may have a schedule of its own, from its registration or later', async (t) => {
      const { service, receiver, calls, tenant } = await start(t, { PUSH_RETRY_S: '1000' })
      const { call } = service
      const body = { name: 'Own', delivery_mode: 'push', client_type: 'other' }
      const made = await call('POST /v1/agents', {
        token: tenant.admin,
        body: { ...body, retry_schedule_seconds: [7] },
      })
      assert.deepEqual([made.status, made.body.retry_schedule_seconds], [201, [7]])
      const plain = await call('POST /v1/agents', { token: tenant.admin, body })
      assert.equal(plain.body.retry_schedule_seconds, null)

      const agent = await calls.pushed(tenant, receiver.url)
      const patch = (retry_schedule_seconds: unknown) =>
        call(`PATCH /v1/agents/${agent.id}`, { token: tenant.admin, body: { retry_schedule_seconds } })
      receiver.answer = () => 500
      const waits = async (): Promise<number> => {
        const id = await calls.publish(agent)
        const row = await until(async () =>
          (await calls.rows(agent)).find((row) => row.event_id === id && row.state === 'waiting'),
        )
        return row.due_at! - service.clock.now()
      }
      for (const [schedule, seconds] of [
        [[100, 200], 100],
        [null, 1000],
      ] as const) {
        const changed = await patch(schedule)
        assert.deepEqual([changed.status, changed.body.retry_schedule_seconds], [200, schedule])
        const wait = await waits()
        assert.ok(wait >= seconds * 800 && wait <= seconds * 1200, `${wait} for ${JSON.stringify(schedule)}`)
      }
    })

    test('[PUSH-15] an agent does not change between being read and the claim for it', async (t) => {
      const { service, receiver, calls, tenant } = await start(t)
      const { store, secrets, clock } = service
      const agent = await calls.pushed(tenant, receiver.url)
      // The first push creates the secret, which is not tested here.
      await calls.publish(agent)
      await receiver.next()
      const mailbox = { tenantId: tenant.id, recipientId: agent.id }
      const body = { delivery_endpoint: `${receiver.url}/moved` }
      let isChanged = false
      const changed = await store.tx(async (tx) => {
        const target = await pushTarget(tx, secrets, makeOpenSecret(secrets), mailbox, clock.now())
        assert.equal(target?.endpoint, receiver.url)
        const changing = service
          .call(`PATCH /v1/agents/${agent.id}`, { token: tenant.admin, body })
          .finally(() => (isChanged = true))
        await overOrWaiting(store, changing)
        assert.equal(isChanged, false, 'the change waits for the claim')
        return { changing }
      })
      assert.equal((await changed.changing).status, 200)
      await calls.publish(agent)
      assert.equal((await receiver.next()).path, '/inbox/moved')
    })

    test('[POL-6] an invalid schedule is refused, and nothing is changed', async (t) => {
      const { service, tenant } = await start(t)
      const agent = await tenant.agent()
      for (const wrong of [[], [0], [86_401], [1.5], ['5'], 5, '5', {}, [null], Array(17).fill(1)]) {
        const reply = await service.call(`PATCH /v1/agents/${agent.id}`, {
          token: tenant.admin,
          body: { retry_schedule_seconds: wrong },
        })
        assertError(reply, 'validation_failed')
        assert.match(reply.body.error.details.field, /^retry_schedule_seconds/)
      }
      await isNull(service, tenant, agent.id)
    })

    const isNull = async (service: Service, tenant: TestTenant, id: string): Promise<void> => {
      const { body } = await service.call(`GET /v1/agents/${id}`, { token: tenant.admin })
      assert.equal(body.retry_schedule_seconds, null)
    }
  })
})
