// Waiting: the system's clock, the clock of the tests, and the loop that waits on either.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import fc from 'fast-check'
import { iso, isoOrNull, makeClock, systemClock, type Clock } from '../../src/kernel/clock.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeLoopHealth, startLoop } from '../../src/kernel/loop.ts'
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

const HOUR = 3_600_000

/** A clock on a machine whose wall clock and elapsed time the test sets. */
function machine(wall = 1_000_000): { clock: Clock; pass(ms: number): void; set(ms: number): void } {
  let passed = 0
  const clock = makeClock({ wall: () => wall, elapsed: () => passed, sleep: async () => {} })
  return {
    clock,
    pass(ms) {
      passed += ms
      wall += ms
    },
    set: (ms) => void (wall += ms),
  }
}

test('[POL-1] when the machine’s clock is set back the clock goes on, and the two agree in the end', () => {
  const { clock, pass, set } = machine()
  const start = clock.now()
  set(-HOUR)
  assert.equal(clock.now(), start)
  pass(30_000)
  assert.ok(clock.now() - start >= 29_000 && clock.now() - start <= 30_000)
  assert.equal(clock.elapsed(), 30_000)
  pass(48 * HOUR)
  assert.ok(clock.now() - start > 47 * HOUR)
  pass(4 * HOUR)
  assert.equal(clock.now(), start + 52 * HOUR + 30_000 - HOUR)
  set(HOUR)
  assert.equal(clock.now(), start + 52 * HOUR + 30_000)
})

test('[CLK-1] with holdSteps a step ahead is held back until it is adopted; otherwise it is not', () => {
  const { clock, pass, set } = machine()
  const start = clock.now()
  set(HOUR)
  assert.deepEqual([clock.now(), clock.heldStep()], [start + HOUR, 0])

  clock.holdSteps()
  set(900)
  assert.deepEqual([clock.now(), clock.heldStep()], [start + HOUR, 0], 'a small one is caught up with')
  pass(10_000)
  assert.equal(clock.now(), start + HOUR + 10_200)
  pass(35_000)
  assert.equal(clock.now(), start + HOUR + 45_900)
  set(HOUR)
  pass(10_000)
  assert.deepEqual([clock.now(), clock.heldStep()], [start + HOUR + 55_900, HOUR])
  pass(10_000)
  assert.deepEqual([clock.now(), clock.heldStep()], [start + HOUR + 65_900, HOUR], 'and time goes on meanwhile')
  assert.equal(clock.takeStep(), HOUR)
  assert.deepEqual([clock.now(), clock.heldStep()], [start + 2 * HOUR + 65_900, 0])
  assert.equal(clock.takeStep(), 0)

  set(HOUR)
  assert.equal(clock.heldStep(), HOUR)
  set(-HOUR)
  assert.deepEqual([clock.now(), clock.heldStep()], [start + 2 * HOUR + 65_900, 0], 'taken back before anybody saw it')
})

test('[CLK-1] a gain of more than a second at once is a step', () => {
  for (const [gain, held] of [
    [1_000, 0],
    [1_001, 1_001],
  ] as const) {
    const { clock, set } = machine()
    clock.holdSteps()
    const start = clock.now()
    set(gain)
    assert.deepEqual([clock.now(), clock.heldStep()], [start, held])
  }
})

test('[CLK-1] back and ahead again is no step, and neither is the first reading', () => {
  const { clock, pass, set } = machine()
  clock.holdSteps()
  assert.equal(clock.heldStep(), 0)
  const start = clock.now()
  set(-HOUR)
  pass(10_000)
  assert.ok(clock.now() >= start + 9_000)
  set(HOUR)
  assert.deepEqual([clock.now(), clock.heldStep()], [start + 9_800, 0], 'what it lost meanwhile is caught up with')
  pass(10_000)
  assert.deepEqual([clock.now(), clock.heldStep()], [start + 20_000, 0])
})

test('[CLK-1] [POL-3] a clock that follows another holds nothing back', () => {
  const { clock, set } = machine()
  clock.holdSteps()
  clock.now()
  set(HOUR)
  clock.align(10 * HOUR, clock.elapsed(), 5)
  assert.deepEqual([clock.now(), clock.heldStep()], [10 * HOUR, 0])
  clock.align(11 * HOUR, clock.elapsed(), 5)
  assert.deepEqual([clock.now(), clock.heldStep()], [11 * HOUR, 0])
})

test('[POL-1] whatever happens to the machine’s clock or the followed one, time never goes back', () => {
  const step = fc.record({
    pass: fc.integer({ min: 0, max: 100_000 }),
    set: fc.oneof(fc.constant(0), fc.integer({ min: -HOUR, max: HOUR })),
    align: fc.option(fc.integer({ min: -HOUR, max: HOUR })),
    catchUp: fc.option(fc.integer({ min: 0, max: HOUR })),
    take: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), fc.boolean(), fc.boolean(), (steps, follows, holds) => {
      const { clock, pass, set } = machine()
      if (follows) clock.align(5_000_000, 0, 0)
      if (holds) clock.holdSteps()
      let last = clock.now()
      for (const { pass: ms, set: by, align, catchUp, take } of steps) {
        pass(ms)
        set(by)
        if (take) clock.takeStep()
        if (follows && align !== null) clock.align(clock.now() + align, clock.elapsed(), 0)
        if (catchUp !== null) clock.catchUp(catchUp)
        const now = clock.now()
        assert.ok(now >= last && Number.isInteger(now))
        assert.ok(now >= last + Math.floor(ms * 0.97), 'and it goes on with what has passed')
        last = now
      }
    }),
  )
})

test('[POL-3] a clock that follows another adopts its time, and the machine’s clock no longer counts', () => {
  const { clock, pass, set } = machine(10 * HOUR)
  clock.now()
  clock.align(HOUR, clock.elapsed(), 5)
  assert.equal(clock.now(), HOUR)
  set(5 * HOUR)
  pass(1_000)
  assert.equal(clock.now(), HOUR + 1_000)
  clock.align(HOUR + 1_005, clock.elapsed(), 5)
  assert.equal(clock.now(), HOUR + 1_000, 'a difference that may be the measurement is left alone')
  clock.align(HOUR + 61_000, clock.elapsed(), 5)
  assert.equal(clock.now(), HOUR + 61_000)
})

test('[POL-3] a clock says how far it is ahead of the one it follows, and goes ahead as far as others are', () => {
  const { clock, pass } = machine()
  clock.catchUp(HOUR)
  assert.deepEqual([clock.now(), clock.ahead()], [1_000_000, 0], 'it follows none')
  clock.align(10 * HOUR, clock.elapsed(), 5)
  assert.deepEqual([clock.now(), clock.ahead()], [10 * HOUR, 0])
  clock.catchUp(HOUR)
  assert.deepEqual([clock.now(), clock.ahead()], [11 * HOUR, HOUR])
  clock.catchUp(1_000)
  assert.equal(clock.ahead(), HOUR, 'it is further ahead')
  pass(100_000)
  assert.equal(clock.ahead(), HOUR - 2_000, 'two of a hundred seconds are made up for')
  clock.align(9 * HOUR, clock.elapsed(), 5)
  assert.equal(clock.ahead(), 2 * HOUR + 98_000)
})

test('[HTTP-21] times are written in ISO 8601', () => {
  assert.equal(iso(0), '1970-01-01T00:00:00.000Z')
  assert.deepEqual([isoOrNull(null), isoOrNull(0)], [null, '1970-01-01T00:00:00.000Z'])
})

test('[HTTP-21] times are written exactly as Date writes them, before 1970 and after 9999 too', () => {
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
  const loop = startLoop('count', 1000, clock, makeLoopHealth(clock, silent), async () => void runs++)
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

test('a loop survives runs that fail, and does not say so every time', async () => {
  const clock = fakeClock()
  let runs = 0
  const warned: unknown[] = []
  const log = { ...silent, warn: (...args: unknown[]) => void warned.push(args) } as typeof silent
  const loop = startLoop('fail', 1000, clock, makeLoopHealth(clock, log), async () => {
    runs++
    throw new Error('once more')
  })
  await clock.advance(3000)
  assert.equal(runs, 3)
  assert.equal(warned.length, 1)
  await loop.stop()
})

test('stopping a loop waits for the run that is under way', async () => {
  const clock = fakeClock()
  const work = Promise.withResolvers<void>()
  let finished = false
  const loop = startLoop('slow', 1000, clock, makeLoopHealth(clock, silent), async () => {
    await work.promise
    finished = true
  })
  await clock.advance(1000)
  const stopped = loop.stop().then(() => finished)
  work.resolve()
  assert.equal(await stopped, true)
})
