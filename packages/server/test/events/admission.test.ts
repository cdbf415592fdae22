// Admission of publishes: limits on the work that waits, on how long it takes, and on the share of each sender.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeAdmission, workOf, type Admitted } from '../../src/events/admission.ts'
import { Failure } from '../../src/kernel/failure.ts'
import { makeQuotas } from '../../src/tenants/quotas.ts'
import { makeSettingsCache } from '../../src/tenants/settings.ts'
import { onBothEngines } from '../support/engines.ts'
import { heldStore } from '../support/held-store.ts'
import { startService } from '../support/service.ts'
import { prepareEvent } from '../../src/events/envelope.ts'
import { makePublish } from '../../src/events/publish.ts'
import { makeHandover } from '../../src/delivery/handover.ts'
import { makeWakeups } from '../../src/delivery/wake.ts'
import { makeRouter } from '../../src/routing/router.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import type { Store } from '../../src/store/db.ts'
import { event } from './tools.ts'

const isRefused = (error: unknown): boolean => {
  assert.ok(error instanceof Failure)
  assert.equal(error.code, 'service_unavailable')
  assert.ok(Number(error.headers['retry-after']) >= 1)
  return true
}

describe('admission', () => {
  let passed = 0

  test('[RTE-14] counts deliveries to make, not events: a few events with many recipients fill it', () => {
    const admission = makeAdmission(() => passed, 1)
    let entered = 0
    assert.throws(() => {
      for (; entered < 10_000; entered++) admission.enter('ten', 'agt', 1, 300).revise(workOf(1, 300, 300, 0))
    }, isRefused)
    assert.ok(entered < 1_000, String(entered))
    const light = makeAdmission(() => passed, 1)
    for (let i = 0; i < 5_000; i++) light.enter('ten', 'agt', 1, 300).revise(workOf(1, 1, 300, 0))
  })

  test('[RTE-14] refuses a flooding sender, but neither other tenants nor other senders of its tenant', () => {
    const admission = makeAdmission(() => passed, 1)
    const places: Admitted[] = []
    const flood = () => admission.enter('loud', 'agt', 1, 300)
    assert.throws(() => {
      for (;;) {
        const place = flood()
        place.revise(workOf(1, 300, 300, 0))
        places.push(place)
      }
    }, isRefused)
    admission.enter('quiet', 'agt', 1, 300).leave()
    admission.enter('loud', 'other', 1, 300).leave()
    assert.throws(flood, isRefused)
    // Finished work makes room again, and in the end none is counted.
    for (const place of places) place.leave()
    assert.ok(Math.abs(admission.work) < 1)
    flood().leave()
  })

  test('[RTE-14] refuses everybody while work that was begun earlier does not end', () => {
    const admission = makeAdmission(() => passed, 1)
    const ended = admission.begin(1, new Set(['other']))
    admission.enter('ten', 'agt', 1, 300).leave()
    passed += 5_000
    assert.throws(() => admission.enter('ten', 'agt', 1, 300), isRefused)
    ended()
    admission.enter('ten', 'agt', 1, 300).leave()
  })

  test('[RTE-14] [SAFE-38] with several lanes, refuses whom a slow group keeps from beginning, and nobody else', () => {
    const admission = makeAdmission(() => passed, 2)
    const enter = (tenantId: string): void => admission.enter(tenantId, 'agt', 1, 300).leave()
    const slow = [admission.begin(1, new Set(['heavy'])), admission.begin(1, new Set(['heavy']))]
    passed += 5_000
    enter('quiet') // it has a lane beside the two
    assert.throws(() => enter('heavy'), isRefused)
    const beside = admission.begin(1, new Set(['quiet']))
    enter('quiet')
    passed += 5_000
    for (const tenantId of ['quiet', 'heavy', 'third']) assert.throws(() => enter(tenantId), isRefused)
    beside()
    slow[0]!()
    for (const tenantId of ['quiet', 'heavy', 'third']) enter(tenantId)
  })

  test('[RTE-14] bounds the bytes of all tenants together', () => {
    const admission = makeAdmission(() => passed, 1)
    assert.throws(() => {
      for (let i = 0; i < 100; i++) admission.enter(`ten_${i}`, 'agt', 1, 1_000_000)
    }, isRefused)
  })

  test('[RTE-14] takes a submission of any size beside little else, and others beside it, but not many such', () => {
    const admission = makeAdmission(() => passed, 1)
    const little = admission.enter('quiet', 'agt', 1, 300)
    const first = admission.enter('first', 'agt', 10, 640_000_000)
    little.leave()
    const second = admission.enter('second', 'agt', 10, 66_000_000)
    assert.throws(() => admission.enter('third', 'agt', 10, 66_000_000), isRefused)
    second.leave()
    for (let i = 0; i < 30; i++) admission.enter(`ten_${i}`, 'agt', 1, 1_000_000)
    assert.throws(() => admission.enter('third', 'agt', 10, 66_000_000), isRefused)
    first.leave()
    admission.enter('third', 'agt', 10, 66_000_000)
  })
})

function submitTo(store: Store, clock: Clock) {
  const publish = makePublish({
    store,
    clock,
    router: makeRouter(store, () => {}),
    wakeups: makeWakeups(store),
    handover: makeHandover(() => ({ visibilityTimeoutMs: 30_000, maxAttempts: 5, pushRetryS: [5] })),
    makeId: idMaker(clock.now),
    quotas: makeQuotas(store, clock, makeSettingsCache(store).of),
    added() {},
  })
  return (tenantId: string, id: string, isClientGone?: () => boolean) => {
    const envelope = event({ id })
    const events = [prepareEvent(envelope, JSON.stringify(envelope))]
    return publish({ tenantId, senderId: 'agt_1', events, ...(isClientGone ? { isClientGone } : {}) })
  }
}

onBothEngines((engine) => {
  if (engine.name === 'postgres')
    test('[SAFE-38] a tenant with nothing under way does not wait for the lanes of a flood', {
      timeout: 60_000,
    }, async (t) => {
      const service = await startService(engine)
      t.after(() => service.stop())
      const { store, untilWaiting, begin, beginAll } = heldStore(service.store)
      const submit = submitTo(store, service.clock)
      const [loud, quiet] = [await service.tenant(), await service.tenant()]
      const floods: Promise<unknown>[] = []
      for (let lane = 1; lane <= store.writers; lane++) {
        floods.push(submit(loud.id, `loud ${lane}`))
        await untilWaiting(lane)
      }
      floods.push(submit(loud.id, 'behind them'))
      const one = submit(quiet.id, 'one')
      await untilWaiting(store.writers + 1)
      begin('last')
      assert.equal((await one)[0]!.status, 'accepted')
      await beginAll(Promise.all(floods))
    })

  test('[RTE-14] an event that has waited for more than four seconds is not published', async (t) => {
    const service = await startService(engine)
    t.after(() => service.stop())
    const { store, untilWaiting, beginAll } = heldStore(service.store)
    const submit = submitTo(store, service.clock)
    const tenant = await service.tenant()
    const begun: Promise<unknown>[] = []
    for (let lane = 1; lane <= store.writers; lane++) {
      begun.push(submit(tenant.id, `lane ${lane}`))
      await untilWaiting(lane)
    }
    const late = submit(tenant.id, 'late')
    await service.clock.advance(1)
    const inTime = submit(tenant.id, 'in time')
    await service.clock.advance(4_000)
    const over = Promise.allSettled([late, inTime, ...begun])
    await beginAll(over)
    assert.deepEqual(
      (await over).map(({ status }) => status),
      ['rejected', 'fulfilled', ...begun.map(() => 'fulfilled')],
    )
  })

  test('[RTE-14] an event whose client has disconnected is not published', async (t) => {
    const service = await startService(engine)
    t.after(() => service.stop())
    const tenant = await service.tenant()
    const { store, clock } = service
    const submit = submitTo(store, clock)
    const [gone, there] = await Promise.allSettled([
      submit(tenant.id, 'gone', () => true),
      submit(tenant.id, 'there', () => false),
    ])
    assert.equal(gone!.status, 'rejected')
    assert.equal(there!.status, 'fulfilled')
    const ids = (await store.rows<{ id: string }>('select id from events where tenant_id = ?', [tenant.id])).map(
      ({ id }) => id,
    )
    assert.deepEqual(ids, ['there'])
  })
})
