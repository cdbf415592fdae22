// The console interprets patterns as the service does.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compileGlob } from '../../server/src/routing/glob.ts'
import { exactGlob, globMatches } from '../src/pages/agents/glob.ts'

test('[UI-6] a pattern matches the same types in the console and in the service', () => {
  const part = fc.constantFrom(
    '*',
    '?',
    '[a-c]',
    '[!b]',
    '[]a]',
    '[\\]-]',
    '[',
    ']',
    '\\*',
    '\\',
    '!',
    '-',
    'a',
    'b',
    'com.',
    'ü',
    '🙂',
  )
  const patterns = fc.array(part, { maxLength: 7 }).map((parts) => parts.join(''))
  const types = fc.array(fc.constantFrom('a', 'b', 'c', 'com.', '*', '[', '\\', 'ü', '🙂', '-', '!'), { maxLength: 8 })
  fc.assert(
    fc.property(patterns, types, (pattern, parts) => {
      const type = parts.join('')
      assert.equal(globMatches(pattern, type), compileGlob(pattern).matches(type), `${pattern} on ${type}`)
    }),
    { numRuns: 5_000 },
  )
})

test('[UI-31] the pattern of a type matches that type alone, whatever its characters', () => {
  const types = fc.array(fc.constantFrom('*', '?', '[', ']', '\\', '!', '-', 'a', 'com.', '🙂'), {
    minLength: 1,
    maxLength: 9,
  })
  fc.assert(
    fc.property(types, (parts) => {
      const type = parts.join('')
      assert.equal(compileGlob(exactGlob(type)).exact, type)
    }),
  )
})
