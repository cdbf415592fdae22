import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RE2JS } from 're2js'
import { outcome, outcomeOf, program } from './support/filter.ts'

test('[EVT-FILTER] every JSON value equals its copy, and is found in a list', () => {
  const same = program('data.a == data.b && data.a in [data.b]')
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.equal(outcomeOf(same, { a: value, b: structuredClone(value) }).outcome, 'match')
    }),
  )
})

test('[EVT-FILTER] a name is missing unless it is an own field', () => {
  const names = fc.oneof(
    fc.constantFrom(
      '__proto__',
      'constructor',
      'toString',
      'valueOf',
      'hasOwnProperty',
      'length',
      'map',
      'size',
      'seconds',
    ),
    fc.stringMatching(/^[a-z_][a-zA-Z0-9_]{0,8}$/),
  )
  fc.assert(
    fc.property(names, fc.boolean(), (name, sent) => {
      fc.pre(!['in', 'true', 'false', 'null', 'data', 'event'].includes(name))
      const data: unknown = JSON.parse(sent ? `{${JSON.stringify(name)}: 1}` : '{}')
      const matches = (source: string): boolean => outcome(source, data).outcome === 'match'
      assert.equal(matches(`${name} == 1 && has(${name})`), sent)
      assert.equal(matches(`data.${name} == 1 && "${name}" in data && data["${name}"] == 1`), sent)
    }),
  )
})

test('[EVT-FILTER] matches() agrees with RE2 itself, whichever way it is done', () => {
  const piece = fc.constantFrom(
    'a',
    'b',
    '\\.',
    '\\|',
    '|',
    '^',
    '$',
    '.',
    'a*',
    '[ab]',
    '(a|b)',
    '\\d',
    ' ',
    'é',
    '\\\\',
    'a?',
    '😀',
    '\\b',
    '\\B',
    '(?m)^',
    '(?m)$',
    '(?i)A',
    '(?s).',
    '\\z',
    '\\w+',
    '[^a]',
    '\\pL',
    'a{2,3}',
  )
  const text = fc.array(fc.constantFrom('a', 'b', '.', '|', ' ', 'é', '\\', '1', '😀', '\n'), { maxLength: 8 })
  const filter = program('s.matches(p)')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), text, (pieces, chars) => {
      const [p, s] = [pieces.join(''), chars.join('')]
      let expected: boolean | null
      try {
        expected = RE2JS.compile(p).test(s)
      } catch {
        expected = null
      }
      const found = outcomeOf(filter, { s, p }).outcome
      assert.equal(found, expected === null ? 'error' : expected ? 'match' : 'no_match')
    }),
    { numRuns: 5000 },
  )
})

test('[EVT-FILTER] contains() agrees with JavaScript on long repetitive strings', () => {
  const runs = fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.integer({ min: 1, max: 200 })), {
    minLength: 1,
    maxLength: 6,
  })
  const written = runs.map((parts) => parts.map(([char, count]) => char.repeat(count)).join(''))
  const filter = program('s.contains(t) && s.indexOf(t) == at && s.split(t).size() == pieces')
  fc.assert(
    fc.property(written, written, fc.nat(300), (s, other, from) => {
      for (const t of [other, s.slice(from % s.length)]) {
        const at = s.indexOf(t)
        const found = outcomeOf(filter, { s, t, at, pieces: s.split(t).length })
        assert.equal(found.outcome === 'match', at !== -1)
      }
    }),
    { numRuns: 2000 },
  )
})
