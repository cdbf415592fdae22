// The filter expression for watching the traffic of a channel.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compile } from '@sensorium/cel'
import type { Channel, Feed } from '@sensorium/client'
import { globMatches } from '../src/pages/agents/glob.ts'
import { regexOf, trafficFilter } from '../src/pages/channels/traffic-filter.ts'

const TYPES = [
  'com.plant.pump.hot',
  'com.plant.pump',
  'com_plant',
  'a',
  'b',
  ']',
  '-',
  '^',
  '*',
  'a.b',
  'a\\b',
  '[x',
  '',
]
const GLOBS = [
  '*',
  'com.plant.*',
  'com.plant.pump.*',
  'com?plant',
  '[ab]',
  '[!ab]',
  '[]a]',
  '[^a]',
  '[a-]',
  '\\*',
  '[\\]a]',
  '[x',
  'a.b',
  'a\\\\b',
  '(a|b)+',
]

test('[UI-30] a type pattern means the same as its regular expression in the filter language', () => {
  for (const glob of GLOBS) {
    const program = compile(`event.type.matches(${JSON.stringify(regexOf(glob))})`, { variables: ['event'] })
    for (const type of TYPES)
      assert.equal(program.evaluate([{ type }]), globMatches(glob, type), `${glob} over ${type}: ${regexOf(glob)}`)
  }
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
