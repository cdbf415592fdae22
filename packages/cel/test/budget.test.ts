import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { OVER_BUDGET, STEP_BUDGET } from '../src/index.ts'
import { program } from './support/filter.ts'

test('[CEL-1] a shared budget pays for several evaluations, and says what each took', () => {
  const compiled = program('data.n > 1')
  const budget = { left: 1000 }
  assert.equal(compiled.evaluate([{}, { n: 2 }], budget), true)
  const price = 1000 - budget.left
  assert.ok(price > 0 && price < 20, `took ${price}`)
  for (let i = 2; i <= 5; i++) {
    compiled.evaluate([{}, { n: 2 }], budget)
    assert.equal(budget.left, 1000 - i * price)
  }
  const exact = { left: price }
  assert.equal(compiled.evaluate([{}, { n: 2 }], exact), true)
  assert.equal(exact.left, 0)
})

test('[CEL-1] past the end of a shared budget nothing is evaluated, and it does not go below zero', () => {
  const compiled = program('data.n > 1')
  const budget = { left: 1 }
  assert.equal(compiled.evaluate([{}, { n: 2 }], budget), OVER_BUDGET)
  assert.equal(budget.left, 0)
  assert.equal(compiled.evaluate([{}, { n: 2 }], budget), OVER_BUDGET)
  assert.equal(budget.left, 0)
  assert.equal(compiled.evaluate([{}, { n: 2 }]), true)
})

test('[CEL-1] one evaluation takes its own budget at most, however large the shared one is', () => {
  const compiled = program('l.all(a, l.all(b, l.all(c, true)))')
  const budget = { left: 10 * STEP_BUDGET }
  const l = Array.from({ length: 1000 }, (_, i) => i)
  assert.equal(compiled.evaluate([{}, { l }], budget), OVER_BUDGET)
  assert.equal(budget.left, 9 * STEP_BUDGET)
})

test('[CEL-2] a program says roughly how much memory it keeps', () => {
  const small = program('data.n > 1').bytes
  const large = program('data.s.matches("[a-z]+[0-9]{20}") || data.s.matches("(x|y)+z")').bytes
  assert.ok(small > 1000 && small < 10_000, String(small))
  assert.ok(large > 2 * small, String(large))
})

test('[CEL-2] a program says roughly how many steps it took to compile', () => {
  const long = program(`data.n == 1${' || data.n == 2'.repeat(250)}`).compileSteps
  assert.ok(long > 100_000 && long < 1_000_000, String(long))
  // The parser takes every character of the class, although the program that comes of it is small.
  const { bytes, compileSteps } = program('data.s.matches("(?i)[\\\\x{100}-\\\\x{ffff}]")')
  assert.ok(compileSteps > 4 * bytes, `${compileSteps} steps, ${bytes} bytes`)
})

test('[CEL-2] a program keeps no part of an event when its evaluation is over', () => {
  const sources = [
    '{s: 1, s: 2}.size() == 1',
    '[1].transformMapEntry(i, v, {s: 1}).size() == 1 && [1, 2].transformMapEntry(i, v, {s: 1}).size() == 1',
    'timestamp("2026-01-01T00:00:00Z").getHours(s) == 1',
    '"a".matches(s)',
  ]
  const programs = Array.from({ length: 20 }, () => sources.map(program)).flat()
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  for (const [i, compiled] of programs.entries())
    compiled.evaluate([{}, { s: Buffer.alloc(1_000_000, `${i} `).toString('latin1') }])
  collectGarbage()
  const kept = process.memoryUsage().heapUsed - before
  assert.ok(kept < 5_000_000, `${kept} bytes`)
})

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}
