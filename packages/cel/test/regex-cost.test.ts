import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RE2Set } from 're2js'
import { CelSyntaxError } from '../src/index.ts'
import { patternCost } from '../src/regex-cost.ts'
import { outcomeOf, program } from './support/filter.ts'

/** Characters far apart, so that each is a range of its own. */
const apart = (count: number): string =>
  Array.from({ length: count }, (_, i) => String.fromCharCode(0x4e00 + 3 * i)).join('')

/** Returns the patterns that RE2 was given during a run. */
function givenToRe2(run: () => void): string[] {
  const given: string[] = []
  const original = RE2Set.prototype.add
  RE2Set.prototype.add = function (this: RE2Set, pattern: string) {
    given.push(pattern)
    return original.call(this, pattern)
  }
  try {
    run()
  } finally {
    RE2Set.prototype.add = original
  }
  return given
}

const filterOf = (pattern: string): string => `s.matches(${JSON.stringify(pattern)})`

const costly: readonly [name: string, pattern: string][] = [
  ['a repetition after an empty quotation', `(?:${'ab'.repeat(50)}|c)\\Q\\E{700}`],
  ['a repetition after flags', `(?:${'ab'.repeat(50)}|c)(?i){700}`],
  ['a repetition after no flags', `(?:${'ab'.repeat(50)}|c)(?){700}`],
  ['a repetition of a repetition', `(?:${'ab'.repeat(50)}|c)*\\Q\\E{700}`],
  ['classes in a group', `(?:${'\\pL'.repeat(60)}|c)\\Q\\E{700}`],
  ['a class of one letter', '\\pL{1000}'],
  ['a long class', `[${apart(1900)}]{1000}`],
  ['ranges of both cases', `(?i)${'[!-\u{1e900}]'.repeat(600)}`],
  ['ranges of both cases in one class', `(?i)[${'!-\u{1e900}'.repeat(900)}]`],
  ['ranges with leading zeros', `(?i)[${'\\x{0000041}-\\x{001e900}'.repeat(100)}]`],
  ['ranges after a class of digits', `(?i)[${'\\d-\\x{41}-\\x{1e900}'.repeat(100)}]`],
  ['Unicode classes of both cases', `(?i)${'[\\pL\\pN\\pS\\pP\\pM\\pZ\\pC]'.repeat(100)}`],
]

for (const [name, pattern] of costly) {
  test(`[CEL-20] refused before it is compiled: ${name}`, () => {
    const given = givenToRe2(() =>
      assert.throws(
        () => program(filterOf(pattern)),
        (error) => error instanceof CelSyntaxError && /too large/.test(error.message),
      ),
    )
    assert.deepEqual(given, [])
  })
}

const affordable = [
  '^\\pL{1,64}$',
  '^[\\pL\\pN ]{50}$',
  '(?i)^[a-z\\x{80}-\\x{10ffff}]+@[a-z\\x{80}-\\x{10ffff}]+$',
  '(?i)[a-zà-öø-ÿ]{2,100}',
  `[${apart(300)}]{8}`,
  '[A-Za-z0-9._%+/=-]{1000}',
  '(?i)(?:\\Qa.b\\E){20}',
]

for (const pattern of affordable) {
  test(`[CEL-20] accepted: ${pattern.slice(0, 60)}`, () => assert.ok(program(filterOf(pattern)).bytes > 0))
}

test('[CEL-20] the classes of all regular expressions of a filter count together', () => {
  const one = filterOf('(?i)[!-\u{1e900}]')
  assert.ok(program(`${one} || ${one}`).bytes > 0)
  const given = givenToRe2(() => assert.throws(() => program(`${one} || ${one} || ${one}`), /too large together/))
  assert.equal(given.length, 2)
})

test('[CEL-20] an event pays for the classes of its regular expression', () => {
  const filter = program('s.matches(p)')
  const given = givenToRe2(() => {
    for (const p of ['(?i)[!-\u{1e900}]', `(?:${'\\pL'.repeat(5)}|c)\\Q\\E{650}`]) {
      assert.deepEqual(outcomeOf(filter, { s: 'x', p }), { outcome: 'over_budget' })
    }
  })
  assert.deepEqual(given, [])
  assert.deepEqual(outcomeOf(filter, { s: 'É', p: '(?i)[à-ÿ]' }), { outcome: 'match' })
})

const PIECES =
  'a|ab|(|(?:|)|{2}|{3,}|{2,9}|{0}|*|+|?|*?|[a-c]|[^]x]|[[:^alpha:]]|\\b|^|$|.|\\d|\\pL|\\x41|\\x{041}|\\101|}|{|{,5}|(?i)|(?)|(?s-i)|(?i:|\\Q\\E|\\Qx\\E|\\Qa*b\\E|[\\d-\\x{41}-z]'
const patterns = fc
  .array(fc.constantFrom('|', ...PIECES.split('|')), { maxLength: 14 })
  .map((pieces) => pieces.join(''))
  .chain((inner) => fc.constantFrom(inner, `(?:${inner}){7}`, `(?:${inner})\\Q\\E{7}`, `(?:${inner})?(?m){7}`))

test('[CEL-20] no pattern compiles to more than was estimated', () => {
  let compiled = 0
  fc.assert(
    fc.property(patterns, (pattern) => {
      const { instructions } = patternCost(pattern)
      fc.pre(instructions < 20_000)
      const set = new RE2Set(RE2Set.UNANCHORED, 0)
      try {
        set.add(pattern)
      } catch {
        return // not a regular expression
      }
      set.compile()
      compiled++
      // Every program begins and ends with a few instructions of its own.
      assert.ok(set.prog.numInst() <= instructions + 6, `${set.prog.numInst()} instructions, ${instructions} estimated`)
    }),
    { numRuns: 3000 },
  )
  assert.ok(compiled > 100, `${compiled} patterns`)
})
