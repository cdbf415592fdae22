import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ID_PREFIXES, isId, type IdKind } from '@sensorium/contract'
import { idMaker } from '../../src/kernel/ids.ts'

const KINDS = Object.keys(ID_PREFIXES) as IdKind[]

test('[HTTP-22] an id starts with its kind and has 26 characters of base32 after it', () => {
  const expected: Partial<Record<IdKind, string>> = {
    agent: 'agt',
    api_key: 'key',
    interest: 'int',
    channel: 'chn',
    member: 'mbr',
    feed: 'fed',
    delivery: 'dlv',
    memory: 'mem',
    relationship: 'rel',
    tenant: 'ten',
    webhook: 'whk',
    connector: 'cnr',
  }
  const make = idMaker(Date.now)
  for (const kind of KINDS) {
    assert.match(make(kind), new RegExp(`^${ID_PREFIXES[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`))
    assert.ok(isId(kind, make(kind)))
    if (expected[kind]) assert.equal(ID_PREFIXES[kind], expected[kind])
  }
})

test('[HTTP-22] isId takes only what idMaker makes', () => {
  const id = idMaker(Date.now)('agent')
  for (const wrong of [
    '',
    'agt_',
    id.slice(0, -1),
    id + '0',
    id.toUpperCase(),
    id.replace('agt', 'key'),
    id.replace('_', '-'),
    `${id}\n`,
    id.slice(0, -1) + 'u',
    'agt_8' + id.slice(5),
  ]) {
    assert.equal(isId('agent', wrong), false, wrong)
  }
})

test('[HTTP-22] ids of one process sort in the order they were made, whatever the clock does', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 1, maxLength: 300 }),
      fc.constantFrom(...KINDS),
      (steps, kind) => {
        let now = Date.parse('2030-01-01T00:00:00Z')
        const make = idMaker(() => now)
        const made = steps.map((step) => {
          now += step
          return make(kind)
        })
        assert.deepEqual(made.toSorted(), made)
        assert.equal(new Set(made).size, made.length)
      },
    ),
  )
})

test('[HTTP-22] a later millisecond sorts later, between processes too', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 47 }), fc.integer({ min: 1, max: 2 ** 40 }), (ms, later) => {
      assert.ok(idMaker(() => ms)('agent') < idMaker(() => ms + later)('agent'))
    }),
  )
})

test('[HTTP-22] a hundred thousand ids of one millisecond, from two processes, are all different', () => {
  const [a, b] = [idMaker(() => 1), idMaker(() => 1)]
  const made = new Set<string>()
  for (let i = 0; i < 50_000; i++) made.add(a('delivery')).add(b('delivery'))
  assert.equal(made.size, 100_000)
})
