import fc from 'fast-check'

export const OPS = ['+', '-', '*', '/', '%', '<', '<=', '>', '>=', '==', '!=', '&&', '||'] as const

/** Expressions that always parse and cover the whole language. */
export const expressions: fc.Arbitrary<string> = fc.letrec<{ any: string }>((tie) => {
  const any = tie('any')
  const unary = (shape: (a: string) => string): fc.Arbitrary<string> => any.map(shape)
  const binary = (shape: (a: string, b: string) => string): fc.Arbitrary<string> =>
    fc.tuple(any, any).map(([a, b]) => shape(a, b))
  return {
    any: fc.oneof(
      { maxDepth: 4, depthIdentifier: 'any' },
      {
        weight: 6,
        arbitrary: fc.constantFrom(
          'data',
          'event',
          'a',
          'data.a',
          'data.b.c',
          'x',
          '1',
          '-2',
          '2.5',
          '3u',
          '9223372036854775807',
          '"a"',
          '"ab😀"',
          '""',
          'b"\\xff"',
          'true',
          'null',
          '[]',
          '[1, "a", null]',
          '{}',
          '{"a": 1, 2: 3}',
          'timestamp("2026-01-01T00:00:00Z")',
          'duration("-1.5h")',
          '"UTC"',
        ),
      },
      {
        weight: 4,
        arbitrary: fc.tuple(fc.constantFrom(...OPS, 'in'), any, any).map(([op, a, b]) => `(${a} ${op} ${b})`),
      },
      {
        weight: 2,
        arbitrary: fc
          .tuple(
            fc.constantFrom(
              'size',
              'int',
              'uint',
              'double',
              'string',
              'bytes',
              'bool',
              'type',
              'dyn',
              'timestamp',
              'duration',
              'optional.of',
              'optional.ofNonZeroValue',
              'math.greatest',
              'math.abs',
              'math.round',
              'math.bitNot',
              'base64.encode',
              'base64.decode',
              'strings.quote',
              'ip',
              'cidr',
              'isIP',
            ),
            any,
          )
          .map(([f, a]) => `${f}(${a})`),
      },
      {
        weight: 2,
        arbitrary: fc
          .tuple(
            fc.constantFrom(
              'contains',
              'startsWith',
              'endsWith',
              'matches',
              'split',
              'join',
              'indexOf',
              'substring',
              'getHours',
              'getDayOfYear',
              'lastIndexOf',
              'charAt',
              'format',
              'or',
              'orValue',
              'containsIP',
            ),
            any,
            any,
          )
          .map(([f, a, b]) => `(${a}).${f}(${b})`),
      },
      {
        weight: 2,
        arbitrary: fc
          .tuple(fc.constantFrom('all', 'exists', 'exists_one', 'map', 'filter'), any, any)
          .map(([f, a, b]) => `(${a}).${f}(x, ${b})`),
      },
      { weight: 1, arbitrary: fc.tuple(any, any, any).map(([a, b, c]) => `(${a} ? ${b} : ${c})`) },
      { weight: 1, arbitrary: fc.tuple(any, any, any).map(([a, b, c]) => `(${a}).replace(${b}, ${c})`) },
      {
        weight: 2,
        arbitrary: fc
          .tuple(fc.constantFrom('all', 'exists', 'transformList', 'transformMap', 'transformMapEntry'), any, any)
          .map(([f, a, b]) => `(${a}).${f}(x, y, ${b})`),
      },
      {
        weight: 1,
        arbitrary: fc
          .tuple(fc.constantFrom('trim', 'reverse', 'lowerAscii', 'hasValue', 'value', 'split'), any)
          .map(([f, a]) => (f === 'split' ? `(${a}).split("")` : `(${a}).${f}()`)),
      },
      {
        weight: 1,
        arbitrary: fc
          .tuple(fc.constantFrom('sets.contains', 'sets.intersects', 'math.least', 'math.bitShiftLeft'), any, any)
          .map(([f, a, b]) => `${f}(${a}, ${b})`),
      },
      { weight: 1, arbitrary: binary((a, b) => `cel.bind(x, ${a}, ${b})`) },
      { weight: 1, arbitrary: binary((a, b) => `(${a}).optMap(x, ${b})`) },
      { weight: 1, arbitrary: binary((a, b) => `(${a})[?${b}]`) },
      { weight: 1, arbitrary: binary((a, b) => `[?${a}, ${b}]`) },
      { weight: 1, arbitrary: unary((a) => `(${a}).?a`) },
      { weight: 1, arbitrary: unary((a) => `!(${a})`) },
      { weight: 1, arbitrary: unary((a) => `has((${a}).a)`) },
      { weight: 1, arbitrary: unary((a) => `(${a}).a`) },
      { weight: 1, arbitrary: binary((a, b) => `(${a})[${b}]`) },
      { weight: 1, arbitrary: binary((a, b) => `[${a}, ${b}]`) },
      { weight: 1, arbitrary: binary((a, b) => `{${a}: ${b}}`) },
    ),
  }
}).any

/** Values that cause much work: long, wide, or many of something. */
const hostileValue = fc.constantFrom<unknown>(
  'x'.repeat(100_000),
  `${'x'.repeat(99_999)}y`,
  '😀'.repeat(50_000),
  ' '.repeat(100_000),
  'a,'.repeat(50_000),
  Array.from({ length: 20_000 }, (_, i) => i),
  Array.from({ length: 5000 }, () => 'x'.repeat(100)),
  Array.from({ length: 2000 }, (_, i) => [i, [i]]),
  Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i])),
  2 ** 53,
  1e300,
  null,
  '',
)

export const hostileData = fc.record({ a: hostileValue, b: fc.record({ c: hostileValue }), x: hostileValue })
