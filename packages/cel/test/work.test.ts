import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CelError, compileExpression, STEP_BUDGET } from '../src/index.ts'
import { outcomeOf, program, type Outcome } from './support/filter.ts'
import { expressions, hostileData } from './support/expressions.ts'
import { countedList, workOf } from './support/work.ts'

/** Prices are rough: no evaluation may do more than this many times the work of its budget. */
const ROUGHNESS = 4
const MOST_WORK = ROUGHNESS * STEP_BUDGET

const count = 20_000
const longList = countedList(Array.from({ length: count }, (_, i) => i))
const lastIsNoString = countedList([...Array.from({ length: count }, () => 'x'), 1])
const largeMap = Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]))
const otherMap = { ...largeMap, last: 1 }
const longText = 'x'.repeat(2_000_000)
const almostSame = `${longText.slice(1)}y`
const manyParts = Array.from({ length: 4000 }, () => 'x'.repeat(1000))
let random = 1
const coinFlips = Array.from({ length: 20_000 }, () =>
  (random = (random * 48_271) % 0x7fffffff) % 2 ? 'a' : 'b',
).join('')

const data = {
  l: longList,
  k: lastIsNoString,
  m: largeMap,
  n: otherMap,
  s: longText,
  t: almostSame,
  p: manyParts,
  w: { [longText]: 1 },
  ab: coinFlips,
  sp: ' '.repeat(400_000),
  wide: '\u3000'.repeat(1_200_000),
  ks: Object.fromEntries(Array.from({ length: 3500 }, (_, i) => [`${'a'.repeat(245)}${(i * 7919) % 3500}`, 1])),
  // The same length as a constant, and two bytes for each character.
  tw: Array.from({ length: 120 }, () => `${'a'.repeat(2999)}\u0100`),
  few: Array.from({ length: 1000 }, (_, i) => i),
}
const constant = 'a'.repeat(3000)
const made = 'few.transformMap(i, v, v)'

const chain = (part: string, times: number, op: string): string => Array.from({ length: times }, () => part).join(op)

const attacks: readonly [name: string, source: string][] = [
  ['a failing join()', 'l.exists(x, l.join() == "")'],
  ['a join() that fails at the end', 'l.exists(x, k.join() == "")'],
  ['keys of a large map', 'l.exists(x, m.all(key, false))'],
  ['sizes of a large map', 'l.exists(x, size(m) == 0)'],
  ['equality of large maps', 'l.exists(x, m == n)'],
  ['large maps in a chain of ||', chain('m == n', 150, ' || ')],
  ['keys in a chain of &&', chain('m.all(key, true)', 100, ' && ')],
  ['order of long strings', 'l.exists(x, s < t || s > t)'],
  ['order in a chain of ||', chain('s > t', 400, ' || ')],
  ['order in a chain of &&', chain('s <= t', 400, ' && ')],
  ['order of long bytes', 'l.exists(x, bytes(s) < bytes(t))'],
  ['a small pattern with many states', 'ab.matches("[ab]*a[ab][ab][ab][ab][ab][ab][ab][ab][ab][ab][ab][ab][ab]$")'],
  ['a large pattern with many states', 'ab.matches("(a|b)*a(a|b){300}$")'],
  ['a large pattern on a long text', 's.matches("(x|y)*y(x|y){400}z")'],
  ['many patterns', chain('ab.matches("[ab]*a[ab][ab][ab][ab][ab][ab][ab][ab]c")', 25, ' || ')],
  ['replaced beyond two thousand million characters', 's.replace("", s) == ""'],
  ['joined beyond two thousand million characters', 'p.map(x, s).join(s) == ""'],
  ['replaced by something long', 'l.exists(x, s.replace("x", s) == "")'],
  ['long keys', 'l.exists(x, s in m || m[s] == 1)'],
  ['split', 'l.exists(x, s.split("x").size() == 1)'],
  ['fresh regular expressions', 'l.exists(x, s.matches("[a-z]+" + string(x) + "y"))'],
  ['the last place of a long part', 'l.exists(x, s.lastIndexOf(t) == 1)'],
  ['characters of a long string', 'l.exists(x, s.charAt(1999999) == "")'],
  ['reversed', 'l.exists(x, s.reverse() == "" || l.reverse() == [])'],
  ['written out', 'l.exists(x, "%s".format([m]) == "")'],
  ['written out many times', '"%s%s%s%s".format([p, p, p, p]) == ""'],
  ['long keys written out', '"%s".format([p.map(x, w)]) == ""'],
  ['lists in lists written out', '"%s".format([[[[[[[[p.map(x, s)]]]]]]]]) == ""'],
  ['written with many digits', 'l.exists(x, "%.100f%.100f".format([0.1, 0.2]) == "")'],
  ['quoted', 'l.exists(x, strings.quote(s) == "")'],
  ['base64', 'l.exists(x, base64.encode(base64.decode(s)) == "")'],
  ['addresses in a long text', 'l.exists(x, isCIDR(s) || isIP(s) || cidr(s) == cidr(t))'],
  ['numbers and times in a long text', 'l.exists(x, int(s) == 0 || double(s) == 0.0 || duration(s) == duration(t))'],
  ['sets', 'sets.contains(l, l.map(x, x + 1)) || sets.equivalent(l, l)'],
  ['greatest', 'l.exists(x, math.greatest(l) < 0)'],
  ['optionals of large maps', 'l.exists(x, optional.ofNonZeroValue(m).hasValue() == false)'],
  ['unwrapped', 'l.exists(x, l.map(y, optional.of(y)).unwrapOpt() == [])'],
  ['bound', 'l.exists(x, cel.bind(y, s + s, y == ""))'],
  ['two variables', 'm.exists(a, b, m.exists(c, d, b == d + 100000))'],
  ['a map of a long list', 'few.exists(x, l.transformMap(i, v, v) == {})'],
  ['equality of maps of lists', `cel.bind(a, ${made}, cel.bind(b, ${made}, few.exists(x, a != b)))`],
  ['entries put into a map', `cel.bind(a, ${made}, few.exists(x, [a].transformMapEntry(i, b, b) == {}))`],
  ['transformed', 'm.transformMap(a, b, m.transformList(c, d, d)).size() == 0'],
  ['trimmed', 'few.exists(x, sp.trim() == "x")'],
  ['trimmed of other white space', 'wide.trim() == "x"'],
  ['names in order', '"%s".format([ks]) == ""'],
  ['compared with a long constant', `tw.all(x, tw.all(y, y != "${constant}"))`],
  ['a long constant in a list', `tw.all(x, tw.all(y, !(y in ["${constant}", "b"])))`],
  ['unknown time zones', 'few.exists(x, timestamp(1).getHours("nowhere") == 1)'],
  ['addresses written out', 'cel.bind(i, ip("2001:db8:1:2:3:4:5:6"), few.all(x, string(i) != "x"))'],
  ['addresses as they are written', 'few.all(x, ip.isCanonical("2001:db8:1:2:3:4:5:6"))'],
  ['times written out', 'cel.bind(i, timestamp("2030-01-01T00:00:00.123Z"), few.all(x, string(i) != "x"))'],
  ['a large map counted twice', 'size(m) + size(m) > 0'],
  ['unclosed classes', 'l.exists(x, s.matches(string(x) + "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["))'],
]

for (const [name, source] of attacks) {
  test(`[CEL-3] work stays within the budget: ${name}`, () => {
    const compiled = program(source)
    let found: Outcome = { outcome: 'match' }
    const done = workOf(() => {
      found = outcomeOf(compiled, data)
    })
    assert.ok(done < MOST_WORK, `${Math.round(done)} steps of work, ${found.outcome}`)
    assert.equal(found.outcome, 'over_budget')
  })
}

test('[CEL-3] a string that would be too long is over budget, for a mapping too', () => {
  for (const source of ['s.replace("", s)', 'p.map(x, s).join(s)', 's + s + s + s']) {
    const expression = compileExpression(source, ['s', 'p'])
    assert.throws(
      () => expression.evaluate({ s: longText, p: manyParts }),
      (error) => error instanceof CelError && error.overBudget,
    )
  }
})

test('[CEL-3] a price beyond 32 bits does not overflow into credit', () => {
  const budget = { left: STEP_BUDGET }
  const text = 'x'.repeat(16_000_000)
  program('s.matches("(x|y){300}z") || s.replace("", s) == "" || s < s').evaluate([{}, { s: text }], budget)
  assert.equal(budget.left, 0)
})

test('[CEL-3] whatever an expression does to hostile data, its work stays within the budget', () => {
  fc.assert(
    fc.property(expressions, hostileData, (source, value) => {
      const compiled = program(source)
      const done = workOf(() => outcomeOf(compiled, value))
      // Showing the result is outside the budget, and has its own bound.
      assert.ok(done < MOST_WORK + 200_000, `${Math.round(done)} steps of work: ${source}`)
    }),
    { numRuns: 3000 },
  )
})

test('[CEL-4] the cost of an evaluation does not depend on earlier ones', () => {
  const compiled = program('ab.matches("[ab]*a[ab][ab][ab][ab]c")')
  const cost = (ab: string): number => {
    const budget = { left: 10 * STEP_BUDGET }
    compiled.evaluate([{}, { ab }], budget)
    return 10 * STEP_BUDGET - budget.left
  }
  const fresh = cost('abba')
  const texts = Array.from({ length: 60 }, (_, i) => coinFlips.slice(i * 100, i * 100 + 200))
  const first = texts.map(cost)
  assert.equal(cost('abba'), fresh)
  assert.deepEqual(texts.toReversed().map(cost).toReversed(), first)
})
