// Waiting: the system's clock, the clock of the tests, and the loop that waits on either.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import fc from 'fast-check'
import { iso, isoOrNull, systemClock, type Clock } from '../../src/kernel/clock.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { startLoop } from '../../src/kernel/loop.ts'
import { fakeClock } from '../support/fake-clock.ts'

const silent = makeLogger('silent')
const clocks: [string, () => Clock][] = [
  ['the system clock', () => systemClock],
  ['the fake clock', fakeClock],
]

for (const [name, make] of clocks) {
  test(`${name}: an aborted sleep ends at once, before it began or in the middle, and never rejects`, async () => {
    const clock = make()
    await clock.sleep(3_600_000, AbortSignal.abort())
    const stopping = new AbortController()
    const sleeping = clock.sleep(3_600_000, stopping.signal)
    stopping.abort()
    await sleeping
  })
}

test('the system clock wakes by itself and leaves no listener behind', async () => {
  const { signal } = new AbortController()
  const sleeping = systemClock.sleep(1, signal)
  assert.equal(getEventListeners(signal, 'abort').length, 1)
  await sleeping
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('the fake clock wakes sleepers in order, each at its own time', async () => {
  const clock = fakeClock()
  const start = clock.now()
  const woken: [string, number][] = []
  for (const [name, ms] of [
    ['late', 300],
    ['early', 100],
    ['middle', 200],
  ] as const) {
    void clock.sleep(ms).then(() => woken.push([name, clock.now() - start]))
  }
  await clock.advance(250)
  assert.deepEqual(woken, [
    ['early', 100],
    ['middle', 200],
  ])
  assert.equal(clock.sleepers(), 1)
  assert.equal(clock.now() - start, 250)
})

test('[HTTP-21] times go out in ISO 8601', () => {
  assert.equal(iso(0), '1970-01-01T00:00:00.000Z')
  assert.deepEqual([isoOrNull(null), isoOrNull(0)], [null, '1970-01-01T00:00:00.000Z'])
})

test('[HTTP-21] and exactly as Date writes them, before 1970 and after 9999 too', () => {
  fc.assert(
    fc.property(fc.oneof(fc.integer({ min: -1e12, max: 4e12 }), fc.integer({ min: -8.64e15, max: 8.64e15 })), (ms) => {
      assert.equal(iso(ms), new Date(ms).toISOString())
      assert.equal(iso(ms + 1 > 8.64e15 ? ms : ms + 1), new Date(ms + 1 > 8.64e15 ? ms : ms + 1).toISOString())
    }),
    { numRuns: 2000 },
  )
  assert.throws(() => iso(NaN), RangeError)
})

test('a loop runs after every wait, and not before the first', async () => {
  const clock = fakeClock()
  let runs = 0
  const loop = startLoop('count', 1000, clock, silent, async () => void runs++)
  await clock.advance(999)
  assert.equal(runs, 0)
  await clock.advance(1)
  assert.equal(runs, 1)
  await clock.advance(5000)
  assert.equal(runs, 6)
  await loop.stop()
  await clock.advance(5000)
  assert.equal(runs, 6)
})

test('a loop survives a run that fails, and says so', async () => {
  const clock = fakeClock()
  let runs = 0
  const warned: unknown[] = []
  const log = { ...silent, warn: (...args: unknown[]) => void warned.push(args) } as typeof silent
  const loop = startLoop('fail', 1000, clock, log, async () => {
    runs++
    throw new Error('once more')
  })
  await clock.advance(3000)
  assert.equal(runs, 3)
  assert.equal(warned.length, 3)
  await loop.stop()
})

test('stopping a loop waits for the run that is under way', async () => {
  const clock = fakeClock()
  const work = Promise.withResolvers<void>()
  let finished = false
  const loop = startLoop('slow', 1000, clock, silent, async () => {
    await work.promise
    finished = true
  })
  await clock.advance(1000)
  const stopped = loop.stop().then(() => finished)
  work.resolve()
  assert.equal(await stopped, true)
})
