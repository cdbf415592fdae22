import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CelError, CelSyntaxError, compileExpression } from '../src/index.ts'
import { anyCharacter } from '../../server/test/support/any-character.ts'
import { expressions, OPS } from './support/expressions.ts'
import { outcome, outcomeOf, program } from './support/filter.ts'

// Random trees, printed as source and computed twice: by the filter, and by the few lines of `reference`, which uses
// bigints for ints and numbers for doubles and knows nothing of the filter's representations.

type Kind = { int: bigint } | { double: number } | { bool: boolean } | { text: string } | 'error'
type Tree =
  | { leaf: Kind; source: string }
  | { op: string; left: Tree; right: Tree }
  | { unary: '!' | '-'; operand: Tree }
  | { test: Tree; yes: Tree; no: Tree }

const fields = { zero: 0, seven: 7, minus: -3, half: 0.5, large: 9007199254740991, yes: true, word: 'b' }

const leaves: readonly Tree[] = [
  ...[0n, 1n, 2n, 3n, 10n, 2n ** 53n - 1n, 2n ** 53n + 1n, 2n ** 62n].map((int) => ({
    leaf: { int },
    source: String(int),
  })),
  ...['0.0', '0.5', '1.0', '2.0', '1.5', '1e300'].map((source) => ({ leaf: { double: Number(source) }, source })),
  ...[true, false].map((bool) => ({ leaf: { bool }, source: String(bool) })),
  ...['', 'a', 'b', 'ab'].map((text) => ({ leaf: { text }, source: JSON.stringify(text) })),
  { leaf: { int: 0n }, source: 'zero' },
  { leaf: { int: 7n }, source: 'data.seven' },
  { leaf: { int: -3n }, source: 'event.data.minus' },
  { leaf: { double: 0.5 }, source: 'half' },
  { leaf: { int: 9007199254740991n }, source: 'data["large"]' },
  { leaf: { bool: true }, source: 'yes' },
  { leaf: { text: 'b' }, source: 'word' },
  { leaf: 'error', source: 'missing' },
  { leaf: 'error', source: 'data.missing.more' },
]

const PRECEDENCE: Readonly<Record<string, number>> = {
  '||': 1,
  '&&': 2,
  '<': 3,
  '<=': 3,
  '>': 3,
  '>=': 3,
  '==': 3,
  '!=': 3,
  '+': 4,
  '-': 4,
  '*': 5,
  '/': 5,
  '%': 5,
}

const trees: fc.Arbitrary<Tree> = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'tree' },
    { weight: 2, arbitrary: fc.constantFrom(...leaves) },
    { weight: 5, arbitrary: fc.record({ op: fc.constantFrom<string>(...OPS), left: tie('tree'), right: tie('tree') }) },
    { weight: 1, arbitrary: fc.record({ unary: fc.constantFrom('!' as const, '-' as const), operand: tie('tree') }) },
    { weight: 1, arbitrary: fc.record({ test: tie('tree'), yes: tie('tree'), no: tie('tree') }) },
  ),
})).tree

/** Prints with only the parentheses that precedence requires, so that precedence is tested. */
function print(tree: Tree, context = 0): string {
  if ('leaf' in tree) return tree.source
  if ('unary' in tree) return `${tree.unary}${print(tree.operand, 6)}`
  if ('test' in tree) {
    const text = `${print(tree.test, 1)} ? ${print(tree.yes, 1)} : ${print(tree.no, 0)}`
    return context > 0 ? `(${text})` : text
  }
  const precedence = PRECEDENCE[tree.op] as number
  const text = `${print(tree.left, precedence)} ${tree.op} ${print(tree.right, precedence + 1)}`
  return context > precedence ? `(${text})` : text
}

const LIMIT = 2n ** 63n
const inRange = (int: bigint): Kind => (int >= -LIMIT && int < LIMIT ? { int } : 'error')

function reference(tree: Tree): Kind {
  if ('leaf' in tree) return tree.leaf
  if ('unary' in tree) {
    const value = reference(tree.operand)
    if (value === 'error') return 'error'
    if (tree.unary === '!') return 'bool' in value ? { bool: !value.bool } : 'error'
    if ('int' in value) return inRange(-value.int)
    return 'double' in value ? { double: -value.double } : 'error'
  }
  if ('test' in tree) {
    const value = reference(tree.test)
    if (value === 'error' || !('bool' in value)) return 'error'
    return reference(value.bool ? tree.yes : tree.no)
  }
  const [left, right] = [reference(tree.left), reference(tree.right)]
  if (tree.op === '&&' || tree.op === '||') {
    const decisive = tree.op === '||'
    const sides = [left, right].map((side) => (side !== 'error' && 'bool' in side ? side.bool : null))
    if (sides.includes(decisive)) return { bool: decisive }
    return sides.includes(null) ? 'error' : { bool: !decisive }
  }
  return left === 'error' || right === 'error' ? 'error' : referenceBinary(tree.op, left, right)
}

function referenceBinary(op: string, left: Exclude<Kind, 'error'>, right: Exclude<Kind, 'error'>): Kind {
  const numeric = ('int' in left || 'double' in left) && ('int' in right || 'double' in right)
  const raw = (side: Exclude<Kind, 'error'>): bigint | number | boolean | string =>
    'int' in side ? side.int : 'double' in side ? side.double : 'bool' in side ? side.bool : side.text
  const [a, b] = [raw(left), raw(right)]
  if (op === '==' || op === '!=') {
    // Between number and bigint an order is exact, where 2^53 + 1 as a number would be 2^53.
    const same = numeric ? a <= b && a >= b : typeof a === typeof b && a === b
    return { bool: same === (op === '==') }
  }
  if (['<', '<=', '>', '>='].includes(op)) {
    if (!numeric && typeof a !== typeof b) return 'error'
    return { bool: op === '<' ? a < b : op === '<=' ? a <= b : op === '>' ? a > b : a >= b }
  }
  if (op === '+' && typeof a === 'string' && typeof b === 'string') return { text: a + b }
  if (!numeric) return 'error'
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    if ((op === '/' || op === '%') && b === 0n) return 'error'
    return inRange(op === '+' ? a + b : op === '-' ? a - b : op === '*' ? a * b : op === '/' ? a / b : a % b)
  }
  const [x, y] = [Number(a), Number(b)]
  return { double: op === '+' ? x + y : op === '-' ? x - y : op === '*' ? x * y : op === '/' ? x / y : x % y }
}

function shown(kind: Kind): unknown {
  if (kind === 'error') return 'error'
  if ('bool' in kind) return kind.bool
  if ('text' in kind) return kind.text
  if ('double' in kind) return Number.isFinite(kind.double) ? kind.double + 0 : String(kind.double)
  return kind.int > 2n ** 53n - 1n || kind.int < 1n - 2n ** 53n ? String(kind.int) : Number(kind.int)
}

test('[EVT-FILTER] arithmetic, comparison and logic agree with a reference on random expressions', () => {
  fc.assert(
    fc.property(trees, (tree) => {
      const expected = reference(tree)
      const found = outcome(print(tree), fields)
      if (expected === 'error') assert.equal(found.outcome, 'error')
      else if ('bool' in expected && expected.bool) assert.equal(found.outcome, 'match')
      else assert.deepEqual(positiveZero(found), { outcome: 'no_match', value: shown(expected) })
    }),
    { numRuns: 8000 },
  )
})

/** 0 and -0 are the same value, in CEL as in JSON. */
function positiveZero(found: object): object {
  return 'value' in found && found.value === 0 ? { ...found, value: 0 } : found
}

test('[EVT-FILTER] `type` agrees with the reference on random arithmetic', () => {
  fc.assert(
    fc.property(trees, (tree) => {
      const expected = reference(tree)
      if (expected === 'error') return
      const found = outcome(`type(${print(tree)})`, fields)
      const name = 'int' in expected ? 'int' : 'double' in expected ? 'double' : 'bool' in expected ? 'bool' : 'string'
      assert.deepEqual(found, { outcome: 'no_match', value: name })
    }),
    { numRuns: 5000 },
  )
})

/** Compiles and runs the source on any data; throws only if the filter does. */
function survives(source: string, data: unknown): void {
  let filter
  try {
    filter = program(source)
  } catch (error) {
    assert.ok(error instanceof CelSyntaxError, `${source}: ${String(error)}`)
    assert.ok(error.position >= 0 && error.position <= [...source].length, `${source}: ${error.position}`)
    return
  }
  outcomeOf(filter, data)
}

test('[EVT-FILTER] any text at all is a filter or a CelSyntaxError', () => {
  fc.assert(fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), fc.jsonValue(), survives), { numRuns: 3000 })
  fc.assert(fc.property(fc.string({ maxLength: 100 }), fc.jsonValue(), survives), { numRuns: 3000 })
})

const tokens = fc.constantFrom(
  'data',
  'event',
  'a',
  'x',
  'type',
  'int',
  'in',
  'true',
  'null',
  '1',
  '0',
  '2.5',
  '3u',
  '9223372036854775807',
  '""',
  '"a"',
  'b"a"',
  'r"\\d+"',
  "'😀'",
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  ',',
  ':',
  '?',
  '.',
  '.a',
  '+',
  '-',
  '*',
  '/',
  '%',
  '!',
  '<',
  '>=',
  '==',
  '!=',
  '&&',
  '||',
  ' ',
  'size(',
  '.size()',
  'has(data.a)',
  'data.all(x,',
  'data.map(x,',
  '.exists(x,',
  '.filter(x,',
  '.matches(',
  '.contains(',
  '.split(',
  '.join(',
  '.replace(',
  '.substring(',
  '.indexOf(',
  'timestamp(',
  'duration(',
  '"1h"',
  '"2026-01-01T00:00:00Z"',
  '.getHours(',
  'string(',
  'int(',
  'double(',
  'bytes(',
  'type(',
  'dyn(',
  '`a`',
  '[0]',
  '["a"]',
  '{"a": 1}',
  '[1, 2]',
  '"a\\u00e9"',
  '//',
  '\n',
)

test('[EVT-FILTER] so is any sequence of tokens, and a filter that compiles survives any JSON', () => {
  fc.assert(
    fc.property(fc.array(tokens, { maxLength: 12 }), fc.jsonValue(), (parts, data) => survives(parts.join(''), data)),
    { numRuns: 8000 },
  )
})

const json = fc.oneof(fc.jsonValue(), fc.record({ a: fc.jsonValue(), b: fc.record({ c: fc.jsonValue() }) }))

test('[EVT-FILTER] any expression on any JSON has one of the four outcomes', () => {
  fc.assert(fc.property(expressions, json, survives), { numRuns: 8000 })
})

test('[EVT-FILTER] an expression returns JSON or throws a CelError, and does not change its input', () => {
  fc.assert(
    fc.property(expressions, json, (source, data) => {
      const before = JSON.stringify(data)
      try {
        const value = compileExpression(source, ['data', 'event', 'a', 'x']).evaluate({ data, event: data, a: data })
        assert.notEqual(JSON.stringify(value), undefined)
      } catch (error) {
        assert.ok(error instanceof CelError || error instanceof CelSyntaxError, `${source}: ${String(error)}`)
      }
      assert.equal(JSON.stringify(data), before)
    }),
    { numRuns: 5000 },
  )
})
