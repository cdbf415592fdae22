import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CelError, CelSyntaxError, compileExpression } from '../src/index.ts'

// CEL itself, over a variable `x`. An expected Error stands for "gives an error with these words in it".

const x = { n: 7, f: 7.5, s: 'hello', e: 'a😀b', list: [3, 1, 2], nested: { k: [true, null] }, big: 2 ** 60 }
const error = (words: string): Error => new Error(words)

const groups: Readonly<Record<string, readonly [source: string, expected: unknown][]>> = {
  literals: [
    ['1', 1],
    ['-1', -1],
    ['0x1F', 31],
    ['-0x10', -16],
    ['1u', 1],
    ['0xFFu', 255],
    ['1.5', 1.5],
    ['.5', 0.5],
    ['1e3', 1000],
    ['1.5e-3', 0.0015],
    ['2.0', 2],
    ['true', true],
    ['null', null],
    ['"a"', 'a'],
    ["'a'", 'a'],
    ['"""a"b\n"""', 'a"b\n'],
    ["'''it's'''", "it's"],
    ['""', ''],
    ['""""""', ''],
    ['"\\n\\t\\\\\\"\\\'\\`\\?\\a\\b\\f\\r\\v"', '\n\t\\"\'`?\x07\b\f\r\v'],
    ['"\\x41\\u00e9\\U0001F600\\101"', 'Aé😀A'],
    ['r"\\n"', '\\n'],
    ["R'a\\d'", 'a\\d'],
    ['r"\\"', '\\'],
    ['r"""\\"""', '\\'],
    ['r"""\\x"""', '\\x'],
    ['b"abc"', 'YWJj'],
    ['b"é"', 'w6k='],
    ['b"\\xff\\377"', '//8='],
    ['br"\\x"', 'XHg='],
    ['[1, "a", [true]]', [1, 'a', [true]]],
    ['[]', []],
    ['[1,]', [1]],
    ['{"a": 1, 2: "b", true: null}', { a: 1, 2: 'b', true: null }],
    ['{}', {}],
    ['{"a": 1,}', { a: 1 }],
    ['{"__proto__": 1}["__proto__"]', 1],
    ['1 // a comment\n + 1', 2],
    ['{1: 1, 1u: 2}', error('stands twice')],
    ['{1.5: 1}', error('double cannot be a key')],
    ['{[]: 1}', error('list cannot be a key')],
  ],
  precedence: [
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['10 - 4 - 3', 3],
    ['24 / 4 / 2', 3],
    ['7 % 4 * 2', 6],
    ['1 < 2 == true', true],
    ['!false && false', false],
    ['true || false && false', true],
    ['false ? 1 : true ? 2 : 3', 2],
    ['true ? (false ? 1 : 2) : 3', 2],
    ['-x.n + 1', -6],
    ['--x.n', 7],
    ['!!true', true],
    ['!-1', error("'!' cannot be applied to int")],
    ['1 in [1] && 2 in [2]', true],
    ['2 * 3 in [6]', true],
    ['-2 - -3', 1],
  ],
  numbers: [
    ['x.n / 2', 3],
    ['-7 / 2', -3],
    ['x.f / 2', 3.75],
    ['x.n / 2.0', 3.5],
    ['x.n % 4', 3],
    ['-7 % 4', -3],
    ['7.5 % 2', 1.5],
    ['1 + 1.5', 2.5],
    ['1.5 + 0.5', 2],
    ['(1.5 + 0.5) / 4', 0.5],
    ['double(x.n) / 2', 3.5],
    ['4.0 / 8', 0.5],
    ['2.0 * 3 / 4', 1.5],
    ['1 / 0', error('division by zero')],
    ['1 % 0', error('modulo by zero')],
    ['1.0 / 0', 'Infinity'],
    ['-1.0 / 0.0', '-Infinity'],
    ['0.0 / 0 == 0.0 / 0', false],
    ['0.0 / 0.0 < 1', false],
    ['5 == 5.0', true],
    ['5 == 5u', true],
    ['5u == 5.0', true],
    ['5 != 5.5', true],
    ['1 < 1.5', true],
    ['2u > 1.5', true],
    ['5.0 >= 5', true],
    ['1u + 1', 2],
    ['1u + 1u', 2],
    ['type(1u + 1u) == uint', true],
    ['1u - 2u', error('unsigned integer overflow')],
    ['1u - 2', -1],
    ['1u * 1.5', 1.5],
    ['3u / 2u', 1],
    ['3u % 2u', 1],
    ['1u / 0u', error('division by zero')],
    ['9007199254740991 + 1', '9007199254740992'],
    ['9007199254740993 - 1', '9007199254740992'],
    ['9007199254740993 - 3', 9007199254740990],
    ['9007199254740993 == 9007199254740992', false],
    ['9007199254740993 > 9007199254740992', true],
    ['9007199254740993 > 9007199254740992.0', true],
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['9223372036854775807 + 1', error('integer overflow')],
    ['-9223372036854775808 - 1', error('integer overflow')],
    ['-(-9223372036854775808)', error('integer overflow')],
    ['3037000500 * 3037000500', error('integer overflow')],
    ['-9223372036854775808 / -1', error('integer overflow')],
    ['3037000499 * 3037000499', '9223372030926249001'],
    ['4611686018427387904 / 2 / 4194304', 549755813888],
    ['18446744073709551615u', '18446744073709551615'],
    ['18446744073709551615u + 1u', error('unsigned integer overflow')],
    ['type(x.big) == double', true],
    ['x.big == 1152921504606846976', true],
    ['1152921504606846976 in [x.big]', true],
    ['x.big in [1152921504606846976]', true],
    ['-"a"', error("'-' cannot be applied to string")],
    ['-1u', error("'-' cannot be applied to uint")],
    ['-x.f', -7.5],
    ['-(2.0)', -2],
    ['type(-(2.0)) == double', true],
  ],
  comparison: [
    ['"a" < "b"', true],
    ['"a" < "aa"', true],
    ['"b" > "aa"', true],
    ['"" < "a"', true],
    ['"a" <= "a"', true],
    ['"\\uffff" < "😀"', true],
    ['false < true', true],
    ['b"a" < b"b"', true],
    ['[1] < [2]', error("'<' cannot be applied")],
    ['1 < "a"', error("'<' cannot be applied to int and string")],
    ['true > 0', error('cannot be applied')],
    ['1 == "1"', false],
    ['null == null', true],
    ['null == 0', false],
    ['true == 1', false],
    ['"" == null', false],
    ['[1, 2.0] == [1.0, 2]', true],
    ['[1] == [1, 2]', false],
    ['{"a": 1} == {"a": 1.0}', true],
    ['{"a": 1} == {"b": 1}', false],
    ['{"a": 1} == {"a": 1, "b": 2}', false],
    ['x.nested == {"k": [true, null]}', true],
    ['{"k": [true, null]} == x.nested', true],
    ['x.nested == {"k": []}', false],
    ['x.nested == x', false],
    ['[] == {}', false],
    ['b"a" == b"a"', true],
    ['b"a" == "a"', false],
    ['{1: 2} == {1u: 2.0}', true],
    ['1 in [1.0]', true],
    ['"a" in ["b"]', false],
    ['1 in {1: 2}', true],
    ['1.0 in {1: 2}', true],
    ['"n" in x', true],
    ['null in [null]', true],
    ['[1] in [[1], [2]]', true],
    ['x.n in x.list', false],
    ['1 in x.list', true],
    ['"n" in "nn"', error("'in' needs a list or a map, not string")],
    ['1 in x', false],
    ['[1] in {1: 1}', false],
  ],
  macros: [
    ['[1, 2, 3].all(i, i > 0)', true],
    ['[].all(i, false)', true],
    ['[].exists(i, true)', false],
    ['[1, 2].exists_one(i, i == 1)', true],
    ['[1, 1].exists_one(i, i == 1)', false],
    ['[1, 2].map(i, i * 2)', [2, 4]],
    ['[1, 2, 3].map(i, i > 1, i * 2)', [4, 6]],
    ['[1, 2, 3].filter(i, i != 2)', [1, 3]],
    ['{"a": 1, "b": 2}.map(k, k)', ['a', 'b']],
    ['x.nested.exists(k, k == "k")', true],
    ['[1, "a"].all(i, i > 5)', false],
    ['["a", 1].all(i, i > 5)', false],
    ['["a", 9].exists(i, i > 5)', true],
    ['["a", 9].all(i, i > 5)', error("'>' cannot be applied to string and int")],
    ['["a", 9].exists_one(i, i > 5)', error("'>' cannot be applied")],
    ['[1].all(i, i)', error('all() needs a condition, not int')],
    ['[[1, 2], [3]].map(l, l.map(i, i + 1))', [[2, 3], [4]]],
    [
      '[1, 2].map(i, [3, 4].map(j, i * j))',
      [
        [3, 4],
        [6, 8],
      ],
    ],
    ['[1].map(x, x + 1)', [2]],
    ['[1, 2].filter(i, [2].exists(i, i == 2)).size()', 2],
    ['[[1], []].filter(l, l.exists(i, true)).map(l, size(l))', [1]],
    ['[null].map(n, n)', [null]],
    ['[1, 2].existsOne(i, i == 1)', true],
  ],
  access: [
    ['x.n', 7],
    ['x["n"]', 7],
    ['x.list[0]', 3],
    ['x.list[1u]', 1],
    ['x.list[2.0]', 2],
    ['x.list[0.5]', error('double is not an index')],
    ['{"a": {"b": 5}}.a.b', 5],
    ['{"a": null}.a', null],
    ['{1: "one"}[1]', 'one'],
    ['{1: "one"}[1.0]', 'one'],
    ['{"1": "one"}[1]', error('no such key: 1')],
    ['{true: 1}[true]', 1],
    ['{"a": 1}.b', error('no such field: b')],
    ['has({"a": 1}.a)', true],
    ['has({"a": 1}.b)', false],
    ['has(x.nested.k)', true],
    ['has(x.gone.k)', error('no such field: gone')],
    ['"abc"[0]', error('string has no elements')],
    ['x["n" + ""]', 7],
    ['{"size": 3}.size', 3],
    ['{"get": 1}.get', 1],
    ['{"a": 1}.get', error('no such field: get')],
    ['x.nested.`k`', [true, null]],
  ],
}

for (const [name, cases] of Object.entries(groups)) {
  for (const [source, expected] of cases) {
    test(`[EVT-FILTER] ${name}: ${source.replaceAll('\n', '␤')}`, () => {
      const expression = compileExpression(source, ['x'])
      if (expected instanceof Error) {
        assert.throws(
          () => expression.evaluate({ x }),
          (thrown) => thrown instanceof CelError && thrown.message.includes(expected.message),
        )
      } else {
        assert.deepEqual(expression.evaluate({ x }), expected)
      }
    })
  }
}

test('[EVT-FILTER] a mapping reads its variables and nothing else', () => {
  const variables = ['body', 'headers', 'entity', 'id']
  const body = { entity: 'order', id: 42, deep: { big: [1, { a: 'b' }] } }
  const headers = { 'x-github-event': 'push' }
  const value = (source: string, bindings: Record<string, unknown> = { body, headers }): unknown =>
    compileExpression(source, variables).evaluate(bindings)
  assert.equal(value('body'), body)
  assert.equal(value('body.entity'), 'order')
  assert.equal(value('headers["x-github-event"]'), 'push')
  assert.equal(value('headers.`x-github-event`'), 'push')
  assert.equal(value('entity + "/" + id', { entity: 'order', id: '42' }), 'order/42')
  assert.equal(value('has(body.action) ? body.action : "none"'), 'none')
  assert.deepEqual(value('{"order": body.id, "of": body.deep}'), { order: 42, of: body.deep })
  assert.throws(
    () => value('entity'),
    (thrown) => thrown instanceof CelError && thrown.message === 'no such field: entity',
  )
  assert.throws(
    () => value('entity.x'),
    (thrown) => thrown instanceof CelError && thrown.message === 'no such field: entity',
  )
  assert.throws(() => value('body.none'), CelError)
  assert.throws(
    () => value('amount'),
    (thrown) => thrown instanceof CelSyntaxError && thrown.position === 0,
  )
  assert.throws(() => value('has(body)'), CelSyntaxError)
})

test('[EVT-FILTER] a list that repeats a large value is refused before it is written out', () => {
  const big = Array.from({ length: 1000 }, () => 'x'.repeat(100))
  const source = `[${Array.from({ length: 1000 }, () => 'b').join(',')}]`
  const expression = compileExpression(source, ['b'])
  assert.throws(() => expression.evaluate({ b: { big } }), /too large/)
  assert.throws(() => expression.evaluate({ b: big }), /too large/)
  assert.throws(() => expression.evaluate({ b: { ['k'.repeat(50_000)]: 1 } }), /too large/)
})
