// Looks of a live view, with the clock of a real machine.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeActivity } from '../../src/activity/activity.ts'
import { watchTenant, type LiveLook } from '../../src/live/watch-tenant.ts'
import { onBothEngines } from '../support/engines.ts'
import { startService } from '../support/service.ts'
import { outboundCalls } from '../outbound/tools.ts'

onBothEngines((engine) => {
  test('[CON-2] a look is for whole milliseconds: the elapsed time of a real machine has fractions', async (t) => {
    const service = await startService(engine)
    t.after(() => service.stop())
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    let reads = 0
    const clock = { ...service.clock, elapsed: () => service.clock.elapsed() + ++reads / 7 }
    const activity = makeActivity(service.store, service.clock)
    const watch = await watchTenant({ store: service.store, clock, activity }, tenant.id)
    await outboundCalls(service).publish(agent, 'com.example.seen')
    const { events } = await watch.look()
    assert.deepEqual(
      events.map(({ type }) => type),
      ['com.example.seen'],
    )
    await watch.look()
  })

  test('[CON-2] what was accepted before the watch began is not new, however long its beginning takes', async (t) => {
    const service = await startService(engine)
    t.after(() => service.stop())
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const { store, clock } = service
    await outboundCalls(service).publish(agent, 'com.example.earlier')
    clock.moveNow(1_500)
    const activity = { ...makeActivity(store, clock), flushEverywhere: async () => clock.moveNow(1_000) }
    const watch = await watchTenant({ store, clock, activity }, tenant.id)
    assert.deepEqual((await watch.look()).events, [])
  })

  test('[CON-2] an event is shown once, however long a look takes and whatever pace the clock has', async (t) => {
    const service = await startService(engine)
    t.after(() => service.stop())
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const { publish } = outboundCalls(service)
    const typesOf = ({ events }: LiveLook): string[] => events.map(({ type }) => type)
    await publish(agent, 'com.example.earlier')
    service.clock.moveNow(2_001)
    let takes = 0
    const rows: typeof service.store.rows = async (sql, values) => {
      const found = await service.store.rows(sql, values)
      if (sql.includes('from events')) service.clock.moveNow(takes)
      return found as never
    }
    const store = { ...service.store, rows }
    // A clock that was ahead is slower than the time that has elapsed.
    let gained = 0
    const clock = { ...service.clock, elapsed: () => service.clock.elapsed() + gained++ }
    const watch = await watchTenant({ store, clock, activity: makeActivity(store, clock) }, tenant.id)
    assert.deepEqual(typesOf(await watch.look()), [])
    await publish(agent, 'com.example.seen')
    assert.deepEqual(typesOf(await watch.look()), ['com.example.seen'])
    service.clock.moveNow(1_500)
    takes = 3_000
    assert.deepEqual(typesOf(await watch.look()), [])
    takes = 0
    assert.deepEqual(typesOf(await watch.look()), [])
  })
})
