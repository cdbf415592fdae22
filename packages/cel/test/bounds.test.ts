import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CelError, CelSyntaxError, compileExpression, STEP_BUDGET } from '../src/index.ts'
import { outcomeOf, program, type Outcome } from './support/filter.ts'
import { workOf } from './support/work.ts'

/** The work of one evaluation is roughly bounded by its budget; compiling may take as much as several evaluations. */
const MOST_WORK = 4 * STEP_BUDGET
const MOST_COMPILING = 20 * STEP_BUDGET

function bounded<T>(run: () => T, most = MOST_WORK): T {
  let result: T | undefined
  const done = workOf(() => {
    result = run()
  })
  assert.ok(done < most, `${Math.round(done)} steps of work`)
  return result as T
}

function refused(source: string, words: RegExp): void {
  bounded(
    () =>
      assert.throws(
        () => program(source),
        (error) => error instanceof CelSyntaxError && words.test(error.message),
      ),
    MOST_COMPILING,
  )
}

function outcome(source: string, data: unknown): Outcome {
  const compiled = program(source)
  return bounded(() => outcomeOf(compiled, data))
}

test('[EVT-FILTER-BOUND] 4096 characters are allowed and one more is not', () => {
  const filler = (length: number, char: string): string => `"${char.repeat(length - 2)}"`
  assert.equal(outcome(filler(4096, 'a'), {}).outcome, 'no_match')
  assert.equal(outcome(filler(4096, '😀'), {}).outcome, 'no_match')
  refused(filler(4097, 'a'), /^longer than 4096 characters at position 4096$/)
  refused(filler(4097, '😀'), /^longer than 4096 characters at position 4096$/)
  refused('('.repeat(1_000_000), /longer than 4096/)
})

const deep: readonly [name: string, source: string][] = [
  ['parentheses', `${'('.repeat(2047)}1${')'.repeat(2047)}`],
  ['4096 open parentheses', '('.repeat(4096)],
  ['brackets', '['.repeat(4096)],
  ['braces', '{'.repeat(4096)],
  ['not', `${'!'.repeat(4000)}true`],
  ['minus', `${'-'.repeat(4000)}1`],
  ['minus and not', `${'-!'.repeat(2000)}1`],
  ['fields', `a${'.b'.repeat(2000)}`],
  ['indexes', `a${'[0]'.repeat(1300)}`],
  ['nested indexes', 'a['.repeat(2000)],
  ['sums', `1${'+1'.repeat(2000)}`],
  ['comparisons', `1${'<1'.repeat(2000)}`],
  ['ternaries', `${'a?b:'.repeat(1000)}c`],
  ['ternaries in the middle', `${'a?('.repeat(1000)}`],
  ['calls', `${'size('.repeat(800)}`],
  ['methods', `a${'.trim()'.repeat(580)}`],
  ['macros', `${'a.all(x,'.repeat(500)}`],
  ['lists in maps', '{1:['.repeat(1000)],
]

for (const [name, source] of deep) {
  test(`[EVT-FILTER-BOUND] hostile nesting is refused: ${name}`, () => refused(source, /nested too deeply/))
}

test('[EVT-FILTER-BOUND] ordinary nesting is not', () => {
  assert.equal(outcome(`${'('.repeat(150)}true${')'.repeat(150)}`, {}).outcome, 'match')
  assert.equal(outcome(`${'!'.repeat(100)}true`, {}).outcome, 'match')
  assert.equal(outcome(`${'false ? false : '.repeat(100)}true`, {}).outcome, 'match')
  assert.equal(outcome(`1${' + 1'.repeat(150)} == 151`, {}).outcome, 'match')
  assert.equal(outcome(`a${' || a'.repeat(800)} || true`, {}).outcome, 'match')
  assert.equal(outcome(`true${' && true'.repeat(500)}`, {}).outcome, 'match')
})

test('[EVT-FILTER-BOUND] the deepest filter that is accepted runs, even from a deep stack', () => {
  const sources = [
    `${'!'.repeat(198)}true`,
    `${'('.repeat(199)}a${')'.repeat(199)}`,
    `a${'.b'.repeat(198)}`,
    `1${'+1'.repeat(198)}`,
    `${'['.repeat(198)}a${']'.repeat(198)}`,
    `${'a.exists(x, '.repeat(90)}true${')'.repeat(90)}`,
  ]
  const from = (frames: number, source: string): Outcome =>
    frames > 0 ? from(frames - 1, source) : outcomeOf(program(source), { a: [1] })
  for (const source of sources) assert.notEqual(from(1000, source).outcome, 'over_budget')
})

const numbers = Array.from({ length: 1000 }, (_, i) => i)

const expensive: readonly [name: string, source: string, data: unknown][] = [
  ['all in all', 'l.all(a, l.all(b, l.all(c, a + b + c >= 0)))', { l: numbers }],
  ['map in map', 'l.map(a, l.map(b, l.map(c, [a, b, c]))).size() > 0', { l: numbers }],
  ['exists behind errors', 'l.exists(a, l.exists(b, l.exists(c, x)))', { l: numbers }],
  ['absorbed by ||', 'l.all(a, l.all(b, l.all(c, true))) || true', { l: numbers }],
  ['absorbed by a ternary', '(l.map(a, l.map(b, b)).size() > 0 || true) ? true : true', { l: numbers }],
  ['keys of a large map', 'm.all(a, m.all(b, true))', { m: Object.fromEntries(numbers.map((n) => [`k${n}`, n])) }],
  [
    'size of a large map',
    'l.all(a, size(m) > 0)',
    { l: numbers, m: Object.fromEntries(numbers.map((n) => [`k${n}`, n])) },
  ],
  ['in a long list', 'l.all(a, -1 in l || true)', { l: numbers }],
  ['equality of long lists', 'l.all(a, l == k)', { l: numbers, k: [...numbers] }],
  [
    'equality of long strings',
    'l.all(a, s == t)',
    { l: numbers, s: 'x'.repeat(500_000), t: 'x'.repeat(499_999).concat('x') },
  ],
  ['order of long strings', 'l.all(a, s <= t)', { l: numbers, s: 'x'.repeat(500_000), t: 'x'.repeat(500_001) }],
  ['strings that double', `${'[s]'}${'.map(x, x + x)'.repeat(40)}.size() > 0`, { s: 'x'.repeat(1000) }],
  ['lists that double', `${'[l]'}${'.map(x, x + x)'.repeat(40)}.size() > 0`, { l: numbers }],
  ['joined', 'l.map(x, s).join(s).size() > 0', { l: numbers, s: 'x'.repeat(10_000) }],
  ['replaced by something long', 's.replace("x", s).size() > 0', { s: 'x'.repeat(10_000) }],
  ['replaced between characters', 's.replace("", s).size() > 0', { s: 'x'.repeat(10_000) }],
  ['split into characters', 'l.all(a, s.split("").size() > 0)', { l: numbers, s: 'x'.repeat(50_000) }],
  [
    'a search that almost fits everywhere',
    'l.all(a, !s.contains(t))',
    { l: numbers, s: 'a'.repeat(1_000_000), t: `ab${'a'.repeat(20_000)}` },
  ],
  ['sizes of long strings', 'l.all(a, size(s) > 0)', { l: numbers, s: '😀'.repeat(250_000) }],
  ['fresh regular expressions', 'l.all(a, !s.matches("[a-z]+" + string(a) + "x"))', { l: numbers, s: 'x' }],
  ['a regular expression on a long text', 's.matches("([a-z]+[0-9])+$")', { s: 'a'.repeat(1_000_000) }],
  ['a regular expression with many states', 's.matches("(a|b)*a(a|b){300}$")', { s: 'ab'.repeat(5000) }],
  ['a regular expression many times', 'l.all(a, !s.matches("(x+x+)+y[0-9]"))', { l: numbers, s: 'x'.repeat(1000) }],
  ['named time zones', 'l.all(a, timestamp(a).getHours("Europe/Madrid") >= 0)', { l: numbers }],
]

for (const [name, source, data] of expensive) {
  test(`[EVT-FILTER-BOUND] over budget: ${name}`, () => {
    assert.deepEqual(outcome(source, data), { outcome: 'over_budget' })
  })
}

const affordable: readonly [name: string, source: string, data: unknown, expected: boolean][] = [
  ['(a+)+$ on 10,000 characters', 's.matches("(a+)+$")', { s: 'a'.repeat(10_000) }, true],
  ['(a+)+$ on 10,000 characters that do not match', 's.matches("(a+)+$")', { s: `${'a'.repeat(10_000)}b` }, false],
  ['(a|aa)+$', 's.matches("^(a|aa)+$")', { s: `${'a'.repeat(5000)}b` }, false],
  [
    'a plain word in a megabyte',
    's.contains("needle") || s.matches("a|b")',
    { s: `${'x'.repeat(700_000)}needle` },
    true,
  ],
  ['plain words in 400,000 characters', 's.matches("error|fatal")', { s: `${'x'.repeat(400_000)}fatal` }, true],
  ['a long needle', 's.contains(t)', { s: 'a'.repeat(1_000_000), t: `ab${'a'.repeat(20_000)}` }, false],
  ['1,000 elements', 'l.all(a, a >= 0) && l.exists(a, a == 999)', { l: numbers }, true],
  ['100 by 100', 'l.all(a, k.all(b, a + b >= 0))', { l: numbers.slice(0, 100), k: numbers.slice(0, 100) }, true],
  ['two long lists', 'l == k', { l: numbers, k: [...numbers] }, true],
]

for (const [name, source, data, expected] of affordable) {
  test(`[EVT-FILTER-BOUND] within the budget: ${name}`, () => {
    assert.equal(outcome(source, data).outcome, expected ? 'match' : 'no_match')
  })
}

test('[EVT-FILTER-BOUND] data nested deeper than any JSON does not exhaust the stack', () => {
  let a: unknown = 1
  let b: unknown = 1
  for (let i = 0; i < 200_000; i++) [a, b] = [[a], [b]]
  assert.deepEqual(outcome('a == b', { a, b }), { outcome: 'over_budget' })
  assert.equal(outcome('[a]', { a }).outcome, 'error')
  assert.throws(() => compileExpression('[a]', ['a']).evaluate({ a }), CelError)
})

const largePatterns = [
  'x{1000}'.repeat(100),
  '(x{30}){30}y{900}z{900}',
  '\\p{L}'.repeat(700),
  '(?i)[\\pL\\pN]'.repeat(200),
  '('.repeat(1500) + ')'.repeat(1500),
  '\\Q[\\Ex{1000}'.repeat(100),
  'a?'.repeat(1900),
  '(ab|cd)'.repeat(550),
]

for (const pattern of largePatterns) {
  test(`[EVT-FILTER-BOUND] refused: a regular expression such as ${pattern.slice(0, 20)}…`, () => {
    refused(`s.matches(r'${pattern}')`, /regular expression/)
  })
}

test('[CEL-5] many large regular expressions in one filter are refused, with the position of the first too many', () => {
  const part = 's.matches("x{1000}")'
  const few = Array.from({ length: 3 }, () => part).join(' || ')
  const many = Array.from({ length: 100 }, () => part).join(' || ')
  assert.ok(program(few).bytes > 300_000 && program(few).bytes < 1_100_000, String(program(few).bytes))
  refused(many, /^regular expressions too large together at position \d+$/)
  // Ordinary expressions: as many as a real filter has room for.
  const ordinary = Array.from({ length: 20 }, (_, i) => `s.matches("^[a-z]+-${i}@(example|test)[.]org$")`).join(' || ')
  assert.ok(program(ordinary).bytes < 2_000_000)
})

test('[EVT-FILTER-BOUND] regular expressions from events are bounded and their cache is too', () => {
  const filter = program('s.matches(p)')
  const evaluate = (p: string): Outcome => bounded(() => outcomeOf(filter, { s: 'abc', p }))
  assert.deepEqual(evaluate('[a-c]+'), { outcome: 'match' })
  assert.deepEqual(evaluate('['), { outcome: 'error', message: 'invalid regular expression: missing closing ]: `[`' })
  assert.deepEqual(evaluate('x'.repeat(513)), { outcome: 'error', message: 'regular expression too large' })
  assert.notEqual(evaluate('.{1000}'.repeat(70)).outcome, 'match')
  for (let i = 0; i < 1000; i++) assert.equal(evaluate(`[a-c]+${i}|abc`).outcome, 'match')
})

test('[EVT-FILTER-BOUND] an expression over budget is a CelError that says so', () => {
  const expression = compileExpression('l.map(a, l.map(b, [a, b]))', ['l'])
  bounded(() =>
    assert.throws(
      () => expression.evaluate({ l: numbers }),
      (error) => error instanceof CelError && error.overBudget,
    ),
  )
})
