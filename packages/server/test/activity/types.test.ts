// The list of a tenant's event types.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayNumber } from '../../src/activity/event-types-sql.ts'
import { makeEventTypes } from '../../src/activity/event-types.ts'
import { onBothEngines } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { heldStore } from '../support/held-store.ts'
import { serviceForSuite } from '../support/service.ts'
import { interest, publish } from '../events/tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine, { RETENTION_DAYS: '2' })

  const types = async (token: string, query = '') =>
    (await service.call<{ types: Record<string, unknown>[]; total: number }>(`GET /v1/events/types${query}`, { token }))
      .body

  test('[CON-16] types are listed with their count, last time and number of listeners, the latest first', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const reader = await tenant.agent({ scopes: ['memory:read'] })
    await interest(service, agent, { event_type: 'shop.*' })
    await interest(service, agent, { event_type: 'shop.order' })
    await interest(service, await tenant.agent(), { event_type: '*', filter_expression: 'false' })
    for (let i = 0; i < 3; i++) await publish(service, agent.token, { type: 'shop.order' })
    await publish(service, agent.token, { type: 'shop.order', id: 'twice' })
    await publish(service, agent.token, { type: 'shop.order', id: 'twice' })
    const early = new Date(service.clock.now()).toISOString()
    await service.clock.advance(1_000)
    await publish(service, agent.token, { type: 'mail.sent' })
    const late = new Date(service.clock.now()).toISOString()
    assert.deepEqual(await types(reader.token), {
      types: [
        { type: 'mail.sent', count: 1, last_at: late, listeners: 1 },
        { type: 'shop.order', count: 4, last_at: early, listeners: 2 },
      ],
      total: 2,
    })
    assert.deepEqual(
      (await types(reader.token, '?offset=1&limit=1')).types.map(({ type }) => type),
      ['shop.order'],
    )
    assert.deepEqual(await types((await service.tenant()).admin), { types: [], total: 0 })
    // An event may still have the id `types`, although a path of the API has the same name.
    assert.equal((await publish(service, agent.token, { id: 'types' })).status, 202)
  })

  test('[CON-16] counts that are flushed late belong to the day on which the events came', async () => {
    const tenant = await service.tenant()
    const clock = fakeClock()
    const counted = makeEventTypes(service.store, clock)
    counted.count(tenant.id, 'late')
    const day = dayNumber(clock.now())
    await clock.jump(2 * 86_400_000)
    await counted.flush()
    const rows = await service.store.rows('select type, day from event_types where tenant_id = ?', [tenant.id])
    assert.deepEqual(rows, [{ type: 'late', day }])
  })

  test('[CON-16] types past the retention time are no longer counted', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    await publish(service, agent.token, { type: 'old' })
    await service.app.runOnce.flushActivity()
    await service.clock.jump(2 * 86_400_000)
    const token = await tenant.token(tenant.adminKey)
    await publish(service, await tenant.token(agent.key), { type: 'new' })
    assert.deepEqual(
      (await types(token)).types.map(({ type }) => type),
      ['new', 'old'],
    )
    await service.clock.jump(86_400_000)
    await service.app.runOnce.retain()
    assert.deepEqual(
      (await types(await tenant.token(tenant.adminKey))).types.map(({ type }) => type),
      ['new'],
    )
    const rows = await service.store.rows('select 1 from event_types where tenant_id = ?', [tenant.id])
    assert.equal(rows.length, 1)
  })

  test('[CON-16] of a tenant that uses a new type for every event a thousand types are counted', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    for (let batch = 0; batch < 11; batch++)
      await service.call('POST /v1/events', {
        token: agent.token,
        raw: JSON.stringify(
          Array.from({ length: 100 }, (_, n) => ({
            specversion: '1.0',
            source: '/s',
            id: `${batch}-${n}`,
            type: `t.${batch}.${n}`,
          })),
        ),
        headers: { 'content-type': 'application/cloudevents-batch+json' },
      })
    assert.equal((await types(tenant.admin)).total, 1_000)
  })

  test('[RACE-12] a list waits for counts that were being flushed when it was requested', async () => {
    const { id: tenantId } = await service.tenant()
    const held = heldStore(service.store)
    const counting = makeEventTypes(held.store, service.clock)
    counting.count(tenantId, 'shop.order')
    const written = counting.flush()
    await held.untilWaiting(1)
    let isOver = false
    const asked = counting.flush().then(() => (isOver = true))
    for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate)
    assert.equal(isOver, false)
    held.begin('first')
    await Promise.all([written, asked])
  })
})
