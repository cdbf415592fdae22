// A machine's clock is set: back by an hour under a running node, or ahead of the clock that the nodes share.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { agreeOnTime } from '../../src/store/follow-clock.ts'
import { openStore } from '../../src/store/open.ts'
import { readSetting, writeSetting } from '../../src/store/setting.ts'
import { asleep } from '../support/asleep.ts'
import { onBothEngines, postgres, POSTGRES_URL, sqlite } from '../support/engines.ts'
import { fakeClock, realClock, START } from '../support/fake-clock.ts'
import { startService, type Service } from '../support/service.ts'
import { eventIds, ids, interest, poll, publish } from '../events/tools.ts'
import { clockSuite } from './clock-suite.ts'

const HOUR = 3_600_000

onBothEngines((engine) => {
  describe('a clock that is set back by an hour', () => {
    const suite = clockSuite(engine)

    test('[POL-2] a long poll of 5 s ends after 5 s', async () => {
      const { clock } = suite.service
      const { result, hasEnded } = await asleep(clock, () => suite.poll('wait=5'))
      clock.set(-HOUR)
      await clock.advance(4_999)
      assert.equal(hasEnded(), false)
      await clock.advance(1)
      assert.deepEqual(await result, [])
    })

    test('[POL-2] a lease lapses when its time has passed', async () => {
      const { clock } = suite.service
      const id = await suite.send()
      assert.deepEqual(eventIds(await suite.poll()), [id])
      clock.set(-HOUR)
      assert.deepEqual(await suite.poll(), [])
      await clock.advance(31_000)
      assert.deepEqual(eventIds(await suite.poll()), [id])
    })

    test('[POL-2] a delivery given back for a minute is due after a minute', async () => {
      const { service, agent } = suite
      const id = await suite.send()
      const body = { delivery_ids: ids(await suite.poll()), retry_after_seconds: 60 }
      await service.call('POST /v1/delivery/nack', { token: agent.token, body })
      service.clock.set(-HOUR)
      await service.clock.advance(62_000)
      assert.deepEqual(eventIds(await suite.poll()), [id])
    })
  })
})

/** Asserts that the delivery of this event stays leased for 30 s and no longer, and stops the service. */
async function assertLeasedFor30s(service: Service, key: string, eventId: string): Promise<void> {
  try {
    const exchanged = await service.call('POST /v1/auth/token', { body: { api_key: key } })
    const token = exchanged.body.access_token
    assert.deepEqual(await poll(service, token), [])
    await service.clock.advance(30_000)
    assert.deepEqual(eventIds(await poll(service, token)), [eventId])
  } finally {
    await service.stop()
  }
}

test('[POL-2] a clock that is set back while the service is down: a lease lasts as long as it was promised', async () => {
  const first = await startService(sqlite, { VISIBILITY_TIMEOUT_S: '30' })
  const tenant = await first.tenant()
  const agent = await tenant.agent()
  await interest(first, agent)
  const leased = (await publish(first, agent.token)).body.event_id
  assert.deepEqual(eventIds(await poll(first, agent.token)), [leased])
  await first.clock.advance(10_000) // the time is noted
  await assertLeasedFor30s(await first.restart({}, fakeClock(START - HOUR)), agent.key, leased)
})

test('[POL-2] a step ahead that is taken back while the service is down prolongs no lease', async () => {
  const first = await startService(sqlite, { VISIBILITY_TIMEOUT_S: '30' })
  first.clock.holdSteps()
  const agent = await (await first.tenant()).agent()
  await interest(first, agent)
  const leased = (await publish(first, agent.token)).body.event_id
  first.clock.set(HOUR / 2)
  await first.app.runOnce.moveWithClock()
  assert.equal(first.clock.now(), START + HOUR / 2)
  assert.deepEqual(eventIds(await poll(first, agent.token)), [leased])
  await assertLeasedFor30s(await first.restart({}, fakeClock(START)), agent.key, leased)
})

if (POSTGRES_URL) {
  test('[POL-3] a database whose clock was ahead for a moment: nodes agree, whether they saw it or not', async (t) => {
    const saw = await startService(postgres, { VISIBILITY_TIMEOUT_S: '900' }, realClock())
    t.after(() => saw.stop())
    const missed = await saw.another({}, realClock())
    t.after(() => missed.stop())
    // What it measured in that moment, and went by. The next measurement is right again.
    const wrong = saw.clock.now() + HOUR
    saw.clock.align(wrong, saw.clock.elapsed(), 0)
    assert.ok(saw.clock.now() >= wrong)
    await saw.app.runOnce.followClock()
    await missed.app.runOnce.followClock()
    const begun = realClock()
    await (await openStore(saw.config, begun)).store.close()
    for (const clock of [missed.clock, begun]) {
      const apart = clock.now() - saw.clock.now()
      assert.ok(Math.abs(apart) < 1_000, `${apart} ms apart`)
    }
    const agent = await (await missed.tenant()).agent()
    await interest(saw, agent)
    const { body } = await publish(missed, agent.token)
    assert.deepEqual(eventIds(await poll(missed, agent.token)), [body.event_id])
    assert.deepEqual(await poll(saw, agent.token), [], 'it is leased')
  })

  test('[POL-3] a database whose clock was behind for a while: nodes are right again when it is', async (t) => {
    const service = await startService(postgres, {}, realClock())
    t.after(() => service.stop())
    const { clock, store } = service
    clock.align(clock.now() - HOUR, clock.elapsed(), 0)
    await agreeOnTime(store, clock) // it stays an hour ahead, and notes that
    await service.app.runOnce.followClock()
    assert.ok(Math.abs(clock.now() - (await store.serverTime())!) < 1_000)
  })

  test('[POL-3] a note that is old, or of more than a day, moves no node that starts', async (t) => {
    const service = await startService(postgres, {}, realClock())
    t.after(() => service.stop())
    const now = (await service.store.serverTime())!
    for (const note of [`${HOUR} ${now - 24 * HOUR}`, `${25 * HOUR} ${now + 25 * HOUR}`]) {
      await service.store.tx((tx) => writeSetting(tx, 'ahead', note))
      const begun = realClock()
      await (await openStore(service.config, begun)).store.close()
      assert.equal(begun.ahead(), 0, note)
      assert.equal(await readSetting(service.store, 'ahead'), '0')
    }
  })

  test('[POL-3] a node whose clock is an hour ahead takes nothing that another holds', async () => {
    const service = await startService(postgres, { VISIBILITY_TIMEOUT_S: '900' }, realClock())
    const ahead = await service.another({}, realClock(HOUR))
    try {
      const tenant = await service.tenant()
      const agent = await tenant.agent()
      await interest(service, agent)
      const { body } = await publish(service, agent.token)
      assert.deepEqual(eventIds(await poll(service, agent.token)), [body.event_id])
      assert.deepEqual(await poll(ahead, agent.token), [], 'it is leased')

      // Leases and tokens of the node that is ahead do not last an hour longer.
      await publish(ahead, agent.token)
      const [later] = await poll(ahead, agent.token)
      const tokens = await ahead.call('POST /v1/auth/token', { body: { api_key: agent.key } })
      const lasts = Date.parse(tokens.body.expires_at) - Date.now()
      // The database's clock is read over a connection: on a busy machine it is some milliseconds off.
      assert.ok(lasts > 0 && lasts <= HOUR + 60_000, `a token for ${lasts} ms`)
      const lease = await service.store.rows<{ due_at: number }>(
        'select due_at from deliveries where tenant_id = ? and id = ?',
        [tenant.id, later!.id],
      )
      assert.ok(lease[0]!.due_at <= Date.now() + 960_000)
    } finally {
      await ahead.stop()
      await service.stop()
    }
  })
}
