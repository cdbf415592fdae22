// What nodes that share a store tell each other of the requests that they have counted.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { makeRateWindows, type RateWindows, type Subject } from '../../src/limits/rate-windows.ts'
import { syncCounts } from '../../src/limits/sync-counts.ts'
import { onBothEngines } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { serviceForSuite } from '../support/service.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  let clock: ReturnType<typeof fakeClock>
  let subject: Subject
  let one: RateWindows
  let other: RateWindows
  beforeEach(async () => {
    clock = fakeClock()
    subject = { tenantId: (await service.tenant()).id, name: 'agt_1', limit: 100 }
    one = makeRateWindows(60, clock, true)
    other = makeRateWindows(60, clock, true)
  })

  function count(windows: RateWindows, times: number): void {
    for (let i = 0; i < times; i++) windows.count(windows.windowOf(subject))
  }
  const standing = (windows: RateWindows) => {
    const { total, unsyncedTotal } = windows.windowOf(subject)
    return { total, unsyncedTotal }
  }

  test('[RATE-7] a node that wrote its counts has none left to write, and knows those of all', async () => {
    count(one, 3)
    assert.equal(await syncCounts(service.store, one), true)
    assert.deepEqual(standing(one), { total: 3, unsyncedTotal: 0 })
    await clock.advance(30_000)
    count(other, 1)
    await syncCounts(service.store, other)
    assert.deepEqual(standing(other), { total: 4, unsyncedTotal: 0 })
    count(one, 1)
    await syncCounts(service.store, one)
    assert.deepEqual(standing(one), { total: 5, unsyncedTotal: 0 })
    // The first three have left the window by now; each node has what came later.
    await clock.advance(45_000)
    count(one, 1)
    await syncCounts(service.store, one)
    assert.deepEqual(standing(one), { total: 3, unsyncedTotal: 0 })
  })

  test('[RATE-7] what could not be written still counts, with what came meanwhile, and is written later', async () => {
    count(one, 2)
    const away = {
      ...service.store,
      async tx(): Promise<never> {
        count(one, 1)
        throw new Error('the store is away')
      },
    }
    assert.equal(await syncCounts(away, one), false)
    assert.deepEqual(standing(one), { total: 3, unsyncedTotal: 3 })
    await syncCounts(service.store, one)
    count(other, 1)
    await syncCounts(service.store, other)
    assert.deepEqual([standing(one), standing(other).total], [{ total: 3, unsyncedTotal: 0 }, 4])
  })

  test('[RATE-1] a window with counts that were not written is not forgotten, however long it was idle', async () => {
    count(one, 1)
    count(other, 1)
    await syncCounts(service.store, other)
    await clock.advance(600_000)
    one.forgetIdle()
    other.forgetIdle()
    assert.deepEqual([[...one.all()].length, [...other.all()].length], [1, 0])
    // One that was forgotten is made anew, and is written.
    count(other, 1)
    await syncCounts(service.store, other)
    assert.deepEqual(standing(other), { total: 1, unsyncedTotal: 0 })
  })
})
