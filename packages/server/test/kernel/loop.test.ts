// A failing loop is not silent: it is counted, logged less and less often, and reported once it has lasted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeLoopHealth, startLoop } from '../../src/kernel/loop.ts'
import { makeLogger, type Logger } from '../../src/kernel/logger.ts'
import { fakeClock } from '../support/fake-clock.ts'

test('[STO-12] a loop that fails on every round is counted each time and logged with back-off', async () => {
  const clock = fakeClock()
  const logged: string[] = []
  const note = (fields: { loop: string; rounds: number }, text: string) => logged.push(`${text} ${fields.rounds}`)
  const log = { warn: note, info: note } as unknown as Logger
  let counted = 0
  const health = makeLoopHealth(clock, log, (name) => (counted += name === 'sweep' ? 1 : 0))
  let broken = true
  const runOnce = async (): Promise<void> => {
    if (broken) throw new Error('no such table')
  }
  const loop = startLoop('sweep', 1_000, clock, health, runOnce)

  await clock.advance(30_000)
  assert.deepEqual(health.failing(), [], 'a short trouble is not worth saying')
  await clock.advance(400_000)
  assert.equal(counted, 430)
  // At once, then after one, two and four more minutes.
  assert.deepEqual(
    logged,
    [1, 61, 181, 421].map((rounds) => `background run failed ${rounds}`),
  )
  assert.deepEqual(health.failing(), [{ loop: 'sweep', rounds: 430, seconds: 429 }])

  broken = false
  await clock.advance(1_000)
  assert.deepEqual(health.failing(), [])
  assert.equal(logged.at(-1), 'background run works again 430')
  await loop.stop()
})

test('[STO-12] a loop with long waits is reported after its third failed round', () => {
  const clock = fakeClock()
  const health = makeLoopHealth(clock, makeLogger('silent'))
  for (const reported of [0, 0, 1, 1]) {
    health.failed('purge', new Error('no such table'))
    clock.moveNow(3_600_000)
    assert.equal(health.failing().length, reported)
  }
})

test('[STO-12] however long it fails, a loop is logged once an hour', () => {
  const clock = fakeClock()
  const minutes: number[] = []
  const log = { warn: (fields: { rounds: number }) => void minutes.push(fields.rounds - 1) } as unknown as Logger
  const health = makeLoopHealth(clock, log)
  for (let minute = 0; minute <= 300; minute++) {
    health.failed('sweep', new Error('no such table'))
    clock.moveNow(60_000)
  }
  assert.deepEqual(minutes, [0, 1, 3, 7, 15, 31, 63, 123, 183, 243])
})
