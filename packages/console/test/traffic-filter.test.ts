// The filter expression for watching the traffic of a channel.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compile } from '@sensorium/cel'
import type { Channel, Feed } from '@sensorium/client'
import fc from 'fast-check'
import { compileGlob } from '../../server/src/routing/glob.ts'
import { regexOf, trafficFilter } from '../src/pages/channels/traffic-filter.ts'

test('[UI-30] the expression of a type pattern matches the types that the service routes by it', () => {
  const part = fc.constantFrom(
    ...['*', '?', '[ab]', '[!ab]', '[]a]', '[^a]', '[a-]', '[a-c]', '[a\\-c]', '[+--]', '[z-a]', '[!z-a]', '[\\]-]'],
    ...['[', ']', '\\*', '\\', '!', '-', '^', 'a', 'z', 'com.', '(a|b)+', '\n', 'ü', '🙂', '[🙂-🙅]', '[!🙂]'],
  )
  const piece = fc.constantFrom(
    'a',
    'b',
    'c',
    'z',
    'com.',
    'com_',
    '*',
    '[',
    ']',
    '\\',
    '^',
    '-',
    '+',
    '\n',
    'ü',
    '🙂',
    '🙄',
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 7 }), fc.array(piece, { maxLength: 6 }), (parts, pieces) => {
      const glob = parts.join('')
      const program = compile(`event.type.matches(${JSON.stringify(regexOf(glob))})`, { variables: ['event'] })
      // Types from the pattern's own characters too: most of those that are drawn apart from it do not match.
      for (const type of [pieces.join(''), glob, parts.map((one) => [...one].at(-2) ?? one).join('')])
        assert.equal(program.evaluate([{ type }]), compileGlob(glob).matches(type), `${glob} on ${type}`)
    }),
    { numRuns: 2_000 },
  )
})

const channel = { id: 'chn_1' } as Channel
const feed = (event_type_glob: string, filter_expression: string | null = null, active = true) =>
  ({ event_type_glob, filter_expression, active }) as Feed

test('[UI-30] traffic is events addressed to the channel and events that an active feed matches', () => {
  const feeds = [feed('com.alarm.*', 'data.level > 2 // loud'), feed('com.door'), feed('com.gone', null, false)]
  const { filter, isWhole } = trafficFilter(channel, feeds)
  assert.equal(isWhole, true)
  const program = compile(filter, { variables: ['event', 'data'], fallback: 'data' })
  const passes = (event: { type: string; recipient?: string; data?: unknown }): unknown =>
    program.evaluate([event, event.data])
  assert.equal(passes({ type: 'x', recipient: 'chn_1' }), true)
  assert.equal(passes({ type: 'x', recipient: 'chn_2' }), false)
  assert.equal(passes({ type: 'com.alarm.fire', data: { level: 3 } }), true)
  assert.equal(passes({ type: 'com.alarm.fire', data: { level: 1 } }), false)
  assert.equal(passes({ type: 'com.door' }), true)
  assert.equal(passes({ type: 'com.gone' }), false)
})

test('[UI-30] feeds that do not fit into a filter are left out, and that is reported', () => {
  const many = Array.from({ length: 200 }, (_, i) => feed(`com.number.${i}.*`))
  const { filter, isWhole } = trafficFilter(channel, many)
  assert.equal(isWhole, false)
  assert.ok(filter.length <= 4096)
})
