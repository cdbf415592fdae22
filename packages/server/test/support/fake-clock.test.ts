// The clock that tests move: it skips nothing that becomes due.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeLoopHealth, startLoop } from '../../src/kernel/loop.ts'
import { asleep, sleptOut } from './asleep.ts'
import { fakeClock, START } from './fake-clock.ts'

const log = makeLogger('silent')

/** More turns of the event loop than the clock waits for while nothing is busy. */
async function manyTurns(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
}

/** A loop that reads the time and then waits for a store for many turns, in which no time passes. */
function slowSweep(everyMs: number) {
  const clock = fakeClock()
  const seen: number[] = []
  let underWay = 0
  clock.restWith(() => underWay > 0)
  const loop = startLoop('sweep', everyMs, clock, makeLoopHealth(clock, log), async () => {
    underWay++
    const now = clock.now() - START
    await manyTurns()
    seen.push(now)
    underWay--
  })
  return { clock, seen, loop }
}

test('a round that began before the time moved is not the last one', async () => {
  const { clock, seen, loop } = slowSweep(1_000)
  clock.moveNow(1_000)
  await clock.advance(1_500)
  assert.deepEqual(seen, [1_000, 2_000])
  await clock.jump(60_000)
  assert.deepEqual(seen, [1_000, 2_000, 62_500])
  await loop.stop()
})

test('in the last seconds of a long time every round runs', async () => {
  const { clock, seen, loop } = slowSweep(1_000)
  await clock.advance(30_000)
  assert.ok(seen.length < 30, 'those before may be late')
  assert.ok(seen.at(-1)! > 29_000, `${seen}`)
  await loop.stop()
})

test('work that waits on the clock sleeps before the clock moves, and waits no longer than needed', async () => {
  const clock = fakeClock()
  const wait = async (): Promise<number> => {
    await manyTurns()
    await clock.sleep(3_000)
    return clock.now() - START
  }
  const { result, hasEnded } = await asleep(clock, wait)
  await clock.advance(2_999)
  assert.equal(hasEnded(), false)
  await clock.advance(1)
  assert.equal(await result, 3_000)
  assert.equal(await sleptOut(clock, wait), 6_000)
  assert.equal(await sleptOut(clock, async () => 'at once'), 'at once')
})
