import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CelSyntaxError } from '../src/index.ts'
import { outcome, program } from './support/filter.ts'

function refused(source: string): CelSyntaxError {
  try {
    program(source)
  } catch (error) {
    assert.ok(error instanceof CelSyntaxError, `threw ${String(error)}`)
    return error
  }
  assert.fail(`accepted ${source}`)
}

const table: readonly [source: string, message: string][] = [
  ['', 'unexpected end of the expression at position 0'],
  ['   ', 'unexpected end of the expression at position 3'],
  ['amount >> 5', "unexpected '>' at position 8"],
  ['amount >', 'unexpected end of the expression at position 8'],
  ['amount = 5', "unexpected character '=' at position 7"],
  ['amount & 5', "unexpected character '&' at position 7"],
  ['a b', "unexpected 'b' at position 2"],
  ['a == 1 and b == 2', "unexpected 'and' at position 7"],
  ['(a', 'unexpected end of the expression at position 2'],
  ['a)', "unexpected ')' at position 1"],
  ['[1, 2', 'unexpected end of the expression at position 5'],
  ['[,]', "unexpected ',' at position 1"],
  ['{"a"}', "unexpected '}' at position 4"],
  ['a.', 'unexpected end of the expression at position 2'],
  ['a.1', "unexpected '.1' at position 1"],
  ['a.?1', "unexpected '1' at position 3"],
  ['a.?b()', "unexpected '(' at position 4"],
  ['[?]', "unexpected ']' at position 2"],
  ['a.all(x, x, true)', 'the two names must differ at position 9'],
  ['a.transformList(x, y)', 'transformList() takes two names and one or two expressions at position 2'],
  ['cel.bind(1, 2, 3)', 'the first argument of bind() is a name for the element at position 9'],
  ['cel.bind(a, 2)', 'cel.bind() takes a name, its value and an expression at position 4'],
  ['optional.none(1)', 'optional.none() takes 0 arguments, not 1 at position 9'],
  ['math.greatest()', 'math.greatest() takes at least 1 arguments, not 0 at position 5'],
  ['a ? b', 'unexpected end of the expression at position 5'],
  ['a ? b : ', 'unexpected end of the expression at position 8'],
  ['size(a,)', "unexpected ')' at position 7"],
  ['in', "unexpected 'in' at position 0"],
  ['1 in', 'unexpected end of the expression at position 4'],
  ['#', "unexpected character '#' at position 0"],
  ['"😀" == 😀', "unexpected character '😀' at position 7"],
  ['`a`', "unexpected 'a' at position 0"],
  ['a == "x', 'unterminated string at position 5'],
  ["a == 'x\n'", 'unterminated string at position 5'],
  ['"""x""', 'unterminated string at position 0'],
  ['"\\', "invalid escape sequence '\\' at position 1"],
  ['r"\\', 'unterminated string at position 0'],
  ['"a\\q"', "invalid escape sequence '\\q' at position 2"],
  ['"\\x4"', "invalid escape sequence '\\x' at position 1"],
  ['"\\ud800"', "'\\ud800' is not a character at position 1"],
  ['"\\U00110000"', "'\\U00110000' is not a character at position 1"],
  ['b"\\u0041"', "invalid escape sequence '\\u' at position 2"],
  ['1abc', "unexpected 'abc' at position 1"],
  ['1e999', 'number out of range at position 0'],
  ['9223372036854775808', 'integer out of range at position 0'],
  ['- 9223372036854775809', 'integer out of range at position 2'],
  ['18446744073709551616u', 'integer out of range at position 0'],
  ['0x', "unexpected 'x' at position 1"],
  ['foo(1)', "unknown function 'foo' at position 0"],
  ['a == 1 || data.foo(1)', "unknown function 'foo' at position 15"],
  ['toString()', "unknown function 'toString' at position 0"],
  ['math.largest(1, 2)', "unknown function 'largest' at position 5"],
  ['Order{a: 1}', "unexpected '{' at position 5"],
  ['size()', 'size() takes 1 argument, not 0 at position 0'],
  ['a.startsWith("x", "y")', 'startsWith() takes 1 argument, not 2 at position 2'],
  ['a.replace("x")', 'replace() takes 2 or 3 arguments, not 1 at position 2'],
  ['a.int()', 'int() is written int(x) at position 2'],
  ['startsWith(a, "x")', 'startsWith() is written x.startsWith(…) at position 0'],
  ['has(1)', 'has() takes one field, such as has(data.amount) at position 0'],
  ['has(a["b"])', 'has() takes one field, such as has(data.amount) at position 0'],
  ['has(a.b, c)', 'has() takes one field, such as has(data.amount) at position 0'],
  ['has(data)', 'has() takes one field, such as has(data.amount) at position 4'],
  ['a.all(x)', 'all() takes a name and a condition at position 2'],
  ['a.map(x)', 'map() takes a name and one or two expressions at position 2'],
  ['a.all(1, true)', 'the first argument of all() is a name for the element at position 6'],
  ['a.all(x.y, true)', 'the first argument of all() is a name for the element at position 8'],
  ['a.matches("(")', 'invalid regular expression: missing closing ): `(` at position 10'],
  ['a.matches("a{2,1}")', 'invalid regular expression: invalid repeat count: `{2,1}` at position 10'],
  ['a.matches("(?=x)")', 'invalid regular expression: invalid or unsupported Perl syntax: `(?=` at position 10'],
  ['matches(a, r"\\1")', 'invalid regular expression: invalid escape sequence: `\\1` at position 11'],
  ['a == 1 &&\n  b > > 2', "unexpected '>' at position 16 (line 2, column 7)"],
  [`a == "${'x'.repeat(60)}" "${'y'.repeat(60)}"`, `unexpected '"${'y'.repeat(39)}…' at position 68`],
]

for (const [source, message] of table) {
  test(`[EVT-FILTER] refused: ${source.replaceAll('\n', '␤').slice(0, 60)}`, () => {
    assert.equal(refused(source).message, message)
  })
}

test('[EVT-FILTER] the position counts characters and comes with line and column', () => {
  const error = refused('name == "😀" &&\n é')
  assert.equal(error.reason, "unexpected character 'é'")
  assert.deepEqual([error.position, error.line, error.column], [16, 2, 2])
})

const accepted = [
  'data',
  'a.b.c["d"][0].e',
  '[1, 2,]',
  '{"a": 1,}',
  'a.in',
  'a.true',
  'package == "x"',
  '.data.x == 1',
  'r"\\" == x',
  'a.?b.?c.orValue(1) == 2',
  'a[?0].hasValue()',
  'a.all(i, x, x > i)',
  'a\t==\r\n1 // done',
  'true?1:2',
  'a.all(x, x.all(y, y))',
  '-5',
  '- 5',
  '!!a',
  'a.matches("^[a-z]+$")',
  'type',
  'map',
]

for (const source of accepted) {
  test(`[EVT-FILTER] accepted: ${source.replaceAll('\n', '␤')}`, () => {
    assert.doesNotThrow(() => program(source))
  })
}

test('[EVT-FILTER] words that CEL reserves for later are names of fields', () => {
  for (const name of ['package', 'function', 'for', 'import', 'let', 'as', 'namespace', 'return', 'while'])
    assert.deepEqual(outcome(`${name} == 1`, { [name]: 1 }), { outcome: 'match' }, name)
})
