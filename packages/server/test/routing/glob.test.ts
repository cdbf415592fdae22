import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compileGlob } from '../../src/routing/glob.ts'

const table: readonly [pattern: string, matching: readonly string[], other: readonly string[]][] = [
  ['order.created', ['order.created'], ['order.created.x', 'xorder.created', 'Order.created', 'orderXcreated', '']],
  ['*', ['a', 'a.b.c', ''], []],
  ['**', ['a', ''], []],
  ['order.*', ['order.created', 'order.', 'order.a.b'], ['order', 'orders.created', 'x.order.a']],
  ['*.created', ['order.created', '.created', 'a.b.created'], ['created', 'order.created.x']],
  ['com.*.order.*', ['com.shop.order.created', 'com.a.b.order.c', 'com..order.'], ['com.order.x', 'com.shop.orders']],
  ['a*a', ['aa', 'aba', 'aaa'], ['a', 'ab', 'ba']],
  ['*ab*ab*', ['abab', 'xabyabz'], ['ab', 'aab', 'aba']],
  ['a*bc*cd', ['abccd', 'abcxcd'], ['abcd']],
  ['order.?', ['order.a', 'order.é', 'order.😀', 'order..'], ['order.', 'order.ab']],
  ['*?b', ['ab', 'xxab', 'b.b'], ['b', '']],
  ['[abc]x', ['ax', 'bx', 'cx'], ['dx', 'x', 'abx', 'Ax']],
  ['[a-cx]', ['a', 'b', 'c', 'x'], ['d', '-', '']],
  ['[!a]', ['b', '!', '😀'], ['a', '', 'bb']],
  ['[!a-z]*', ['1abc', 'A'], ['abc', '']],
  ['[]a]', [']', 'a'], ['b', '[]a]']],
  ['[!]a]', ['b', '['], [']', 'a']],
  ['[a-]', ['a', '-'], ['b']],
  ['[-a]', ['a', '-'], ['b']],
  ['[z-a]', [], ['a', 'm', 'z', '-']],
  ['[\\]]', [']'], ['\\', '[']],
  ['[\\!a]', ['!', 'a'], ['b', '\\']],
  ['[a!]', ['a', '!'], ['b']],
  ['[^a]', ['^', 'a'], ['b']],
  ['[а-я]', ['ж'], ['a']],
  ['[😀-😂]', ['😁'], ['😃', '😀😀']],
  ['[abc', ['[abc'], ['a']],
  ['a[', ['a['], ['a']],
  ['[]', ['[]'], ['[', ']']],
  ['[!]', ['[!]'], ['a']],
  ['*[', ['x[', '['], ['x']],
  ['a\\*b', ['a*b'], ['axb', 'a\\*b']],
  ['\\?', ['?'], ['a']],
  ['\\[a]', ['[a]'], ['a']],
  ['\\\\', ['\\'], ['\\\\']],
  ['a\\', ['a\\'], ['a']],
  ['\\a', ['a'], ['\\a']],
  ['', [''], ['a']],
  ['*a?c*[0-9]', ['xabc7', 'aac abc0'], ['xabc', 'ac1']],
  [`*${'[ab]'.repeat(70)}c*`, [`x${'ab'.repeat(40)}cx`], ['ab'.repeat(100), `${'ab'.repeat(30)}c`]],
]

for (const [pattern, matching, other] of table) {
  test(`[EVT-GLOB] ${JSON.stringify(pattern)}`, () => {
    const glob = compileGlob(pattern)
    for (const type of matching) assert.equal(glob.matches(type), true, `should match ${JSON.stringify(type)}`)
    for (const type of other) assert.equal(glob.matches(type), false, `should not match ${JSON.stringify(type)}`)
  })
}

test('[EVT-GLOB] a glob exposes its literal ends for the index, and the type itself if nothing is special', () => {
  const cases: readonly [pattern: string, prefix: string, suffix: string, exact: string | null][] = [
    ['order.created', 'order.created', 'order.created', 'order.created'],
    ['a\\*b', 'a*b', 'a*b', 'a*b'],
    ['[abc', '[abc', '[abc', '[abc'],
    ['', '', '', ''],
    ['order.*', 'order.', '', null],
    ['*.created', '', '.created', null],
    ['order.?', 'order.', '', null],
    ['or[d]er', 'or', 'er', null],
    ['a\\**\\?', 'a*', '?', null],
    ['a*b*c', 'a', 'c', null],
    ['*', '', '', null],
  ]
  for (const [pattern, prefix, suffix, exact] of cases) {
    const glob = compileGlob(pattern)
    assert.deepEqual([glob.literalPrefix, glob.literalSuffix, glob.exact], [prefix, suffix, exact], pattern)
  }
})

/** The rules once more in the most obvious form, which tries everything and is exponential. */
function naive(pattern: string, type: string): boolean {
  const p = [...pattern]
  const t = [...type]
  const from = (i: number, j: number): boolean => {
    if (i === p.length) return j === t.length
    if (p[i] === '*') {
      for (let k = j; k <= t.length; k++) if (from(i + 1, k)) return true
      return false
    }
    if (p[i] === '[') {
      let end = p[i + 1] === '!' ? i + 2 : i + 1
      const start = end
      while (end < p.length && (p[end] !== ']' || end === start)) end += p[end] === '\\' && end + 1 < p.length ? 2 : 1
      if (end < p.length) return j < t.length && inClass(p.slice(i + 1, end), t[j] as string) && from(end + 1, j + 1)
    }
    if (j === t.length) return false
    if (p[i] === '?') return from(i + 1, j + 1)
    if (p[i] === '\\' && i + 1 < p.length) return p[i + 1] === t[j] && from(i + 2, j + 1)
    return p[i] === t[j] && from(i + 1, j + 1)
  }
  return from(0, 0)
}

function inClass(body: readonly string[], char: string): boolean {
  const negated = body[0] === '!'
  const members: { char: string; dash: boolean }[] = []
  for (let i = negated ? 1 : 0; i < body.length; i++) {
    const escaped = body[i] === '\\' && i + 1 < body.length
    if (escaped) i++
    members.push({ char: body[i] as string, dash: body[i] === '-' && !escaped })
  }
  const code = (text: string): number => text.codePointAt(0) as number
  let found = false
  for (let i = 0; i < members.length; i++) {
    const low = members[i] as { char: string }
    if (members[i + 1]?.dash === true && members[i + 2] !== undefined) {
      const high = members[i + 2] as { char: string }
      if (code(char) >= code(low.char) && code(char) <= code(high.char)) found = true
      i += 2
    } else if (low.char === char) {
      found = true
    }
  }
  return found !== negated
}

const patterns = fc.array(fc.constantFrom('a', 'b', 'c', '.', '*', '?', '[', ']', '!', '-', '\\', '😀'), {
  maxLength: 12,
})
const types = fc.array(fc.constantFrom('a', 'b', 'c', '.', '[', ']', '!', '-', '\\', '*', '😀'), { maxLength: 12 })

test('[EVT-GLOB] agrees with a matcher that tries everything', () => {
  fc.assert(
    fc.property(patterns, types, (p, t) => {
      const [pattern, type] = [p.join(''), t.join('')]
      assert.equal(compileGlob(pattern).matches(type), naive(pattern, type))
    }),
    { numRuns: 20_000 },
  )
})

test('[EVT-GLOB] agrees with it too on patterns made to match', () => {
  const pieces = fc.array(
    fc.oneof(
      fc.constantFrom('a', 'b', '.').map((char) => ({ pattern: char, type: char })),
      fc.constantFrom('', 'a', 'ab', 'b.a').map((run) => ({ pattern: '*', type: run })),
      fc.constantFrom('a', '😀').map((char) => ({ pattern: '?', type: char })),
      fc.constantFrom('a', 'b').map((char) => ({ pattern: '[ab]', type: char })),
    ),
    { maxLength: 40 },
  )
  fc.assert(
    fc.property(pieces, (made) => {
      const pattern = made.map((piece) => piece.pattern).join('')
      const type = made.map((piece) => piece.type).join('')
      const glob = compileGlob(pattern)
      assert.equal(glob.matches(type), true)
      assert.ok(type.startsWith(glob.literalPrefix) && type.endsWith(glob.literalSuffix))
      if (glob.exact !== null) assert.equal(type, glob.exact)
    }),
    { numRuns: 5000 },
  )
})

test('[EVT-GLOB] agrees with it on types of several machine words', () => {
  const long = fc.array(fc.constantFrom('a', 'b', '😀'), { minLength: 25, maxLength: 140 })
  const segment = fc.array(fc.constantFrom('a', 'b', '?', '[ab]', '[!a]', '[b-😀]'), { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(long, segment, segment, fc.nat(100), fc.boolean(), (type, first, second, at, isCut) => {
      // Half of the segments are parts of the type, so that many of them match.
      const one = isCut ? type.slice(at, at + 40) : first
      const pattern = `*${one.join('')}*${second.slice(0, 6).join('')}*`
      assert.equal(compileGlob(pattern).matches(type.join('')), naive(pattern, type.join('')))
    }),
    { numRuns: 2_000 },
  )
})

test('[EVT-GLOB] any string is a pattern and matches its escaped self', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (type) => {
      compileGlob(type).matches(type)
      const escaped = [...type].map((char) => `\\${char}`).join('')
      const glob = compileGlob(escaped)
      assert.equal(glob.matches(type), true)
      assert.equal(glob.exact, type)
    }),
  )
})

const hostile: readonly [pattern: string, type: string][] = [
  [`${'*a'.repeat(120)}*b`, 'a'.repeat(255)],
  ['*a*a*a*a*a*b', 'a'.repeat(255)],
  [`*${'a'.repeat(120)}b*`, 'a'.repeat(255)],
  [`*b${'a'.repeat(120)}*`, 'a'.repeat(255)],
  [`${'*?'.repeat(120)}b`, 'a'.repeat(255)],
  [`*${'[ab]'.repeat(60)}[!a]*`, 'a'.repeat(255)],
  [`*${'?'.repeat(126)}b*`, 'a'.repeat(255)],
  [`${'*[a-z]'.repeat(42)}*1`, 'z'.repeat(255)],
  ['['.repeat(255), '['.repeat(254)],
]

/** Milliseconds of CPU, the least of five runs, so that other programs on the machine do not matter. */
function cpuOf(work: () => void): number {
  let least = Infinity
  for (let i = 0; i < 5; i++) {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}

for (const [pattern, type] of hostile) {
  test(`[EVT-GLOB] no blow-up: ${pattern.slice(0, 24)}… on ${type.length} characters`, () => {
    const glob = compileGlob(pattern)
    const each = cpuOf(() => {
      for (let i = 0; i < 100; i++) assert.equal(glob.matches(type), false)
    })
    assert.ok(each / 100 < 2, `took ${each / 100} ms each`)
  })
}

test('[EVT-GLOB] work grows no faster than the length of the type', () => {
  for (const pattern of [`*${'a'.repeat(100)}b*`, `*${'[ab]'.repeat(100)}c*`, '*a*a*a*a*a*b']) {
    const glob = compileGlob(pattern)
    const [long, short] = ['a'.repeat(1_000_000), 'a'.repeat(50_000)]
    const once = cpuOf(() => glob.matches(long))
    const often = cpuOf(() => {
      for (let i = 0; i < 20; i++) glob.matches(short)
    })
    // The same number of characters both times; a quadratic search would take 20 times as long for the one long type.
    assert.ok(once < 6 * Math.max(often, 1), `${pattern.slice(0, 10)}… takes ${once / often} times as long`)
  }
})
