// Activity of a tenant by the minute.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeActivity, minuteOf } from '../../src/activity/activity.ts'
import { readMinutes } from '../../src/activity/sql.ts'
import type { Store } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { serviceForSuite } from '../support/service.ts'
import { ack, ids, interest, poll, publish } from '../events/tools.ts'
import { setSettings } from '../tenants/tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  /** Returns what the metrics of the node count, of all tenants together. */
  async function counted(): Promise<number[]> {
    const { text } = await service.call('GET /metrics')
    return ['events', 'deliveries', 'acknowledgements', 'delivery_failures', 'dead_letters'].map((name) =>
      Number(new RegExp(`^sensorium_${name}_total (\\d+)$`, 'm').exec(text)![1]),
    )
  }

  test('[CON-14] [HTTP-25] every requested minute is listed, oldest first, with its counts', async () => {
    const before = await counted()
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    await interest(service, agent)
    const stats = async (query = '') =>
      (await service.call(`GET /v1/stats${query}`, { token: tenant.admin })).body.minutes
    await publish(service, agent.token)
    await publish(service, agent.token)
    const [one, two] = ids(await poll(service, agent.token))
    await ack(service, agent.token, [one!])
    await service.call('POST /v1/delivery/nack', {
      token: agent.token,
      body: { delivery_ids: [two], dead_letter: true },
    })
    assert.deepEqual(
      (await counted()).map((count, i) => count - before[i]!),
      [2, 2, 1, 1, 1],
    )
    const zeros = { events: 0, deliveries: 0, acknowledgements: 0, failures: 0, dead_letters: 0 }
    const busy = { events: 2, deliveries: 2, acknowledgements: 1, failures: 1, dead_letters: 1 }
    const at = (ms: number): string => new Date(Math.floor(ms / 60_000) * 60_000).toISOString()
    const now = service.clock.now()
    assert.deepEqual(await stats('?minutes=2'), [
      { at: at(now - 60_000), ...zeros },
      { at: at(now), ...busy },
    ])
    await service.clock.jump(60_000)
    await publish(service, agent.token, { type: 'nobody.wants.it' })
    assert.deepEqual(await stats('?minutes=2'), [
      { at: at(now), ...busy },
      { at: at(now + 60_000), ...zeros, events: 1 },
    ])
    assert.equal((await stats()).length, 60)
    const other = await service.tenant()
    const theirs = await service.call('GET /v1/stats?minutes=1440', { token: other.admin })
    assert.equal(theirs.body.minutes.length, 1_440)
    assert.ok(theirs.body.minutes.every(({ events }: { events: number }) => events === 0))
    for (const minutes of ['0', '1441', 'x'])
      assertError(await service.call(`GET /v1/stats?minutes=${minutes}`, { token: tenant.admin }), 'validation_failed')
  })

  test('[CON-14] counts that are flushed late belong to the minute in which they happened', async () => {
    const tenant = await service.tenant()
    const clock = fakeClock()
    const activity = makeActivity(service.store, clock)
    activity.count(tenant.id, 'events', 3)
    await clock.jump(60_000)
    activity.count(tenant.id, 'events', 1)
    await activity.flush()
    const first = minuteOf(clock.now()) - 1
    const rows = await readMinutes(service.store, tenant.id, first)
    assert.deepEqual(
      rows.map(({ minute, events }) => [minute, events]),
      [
        [first, 3],
        [first + 1, 1],
      ],
    )
  })

  test('[CON-14] counts whose flush failed keep their minute too', async () => {
    const tenant = await service.tenant()
    const clock = fakeClock()
    let isAway = true
    const tx: Store['tx'] = (work, options) =>
      isAway ? Promise.reject(new Error('away')) : service.store.tx(work, options)
    const activity = makeActivity({ ...service.store, tx }, clock)
    activity.count(tenant.id, 'events', 3)
    await clock.jump(60_000)
    await assert.rejects(activity.flush())
    isAway = false
    await activity.flush()
    const first = minuteOf(clock.now()) - 1
    assert.deepEqual(
      (await readMinutes(service.store, tenant.id, first)).map(({ minute, events }) => [minute, events]),
      [[first, 3]],
    )
  })

  test('[CON-14] a lease that runs out is a failure, the last one too', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    await interest(service, agent)
    await setSettings(service, tenant, { max_attempts: 2 })
    await publish(service, agent.token)
    for (let i = 0; i < 2; i++) {
      await poll(service, agent.token)
      await service.clock.advance(30_000)
    }
    assert.equal((await service.call('GET /v1/delivery/dlq', { token: agent.token })).body.total, 1)
    const { minutes } = (await service.call('GET /v1/stats?minutes=5', { token: tenant.admin })).body
    const sum = (what: string): number =>
      minutes.reduce((total: number, counts: Record<string, number>) => total + counts[what]!, 0)
    assert.deepEqual([sum('failures'), sum('dead_letters')], [2, 1])
  })

  test('[CON-14] counts are flushed in the background, and kept for a day', async () => {
    const rows = async (): Promise<number> =>
      (await service.store.rows<{ n: number }>('select count(*) as n from activity_minutes'))[0]!.n
    const tenant = await service.tenant()
    await publish(service, (await tenant.agent()).token)
    await service.app.runOnce.flushActivity()
    const before = await rows()
    assert.ok(before > 0)
    await service.clock.jump(23 * 3_600_000)
    await service.app.runOnce.pruneActivity()
    assert.equal(await rows(), before)
    await service.clock.jump(2 * 3_600_000)
    await service.app.runOnce.pruneActivity()
    assert.equal(await rows(), 0)
  })
})
