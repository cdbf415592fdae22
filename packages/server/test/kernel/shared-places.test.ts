// Places that several processes share.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { makeSharedPlaces, NO_SIBLINGS, type SharedPlaces } from '../../src/kernel/shared-places.ts'

/** Processes that ask each other; `count` of them, each with its own places. */
function processes(count: number, most: number): SharedPlaces[] {
  const answers: ((key: string) => number)[] = []
  return Array.from({ length: count }, (_, own) =>
    makeSharedPlaces('polls', most, {
      count,
      answer: (_kind, taken) => void (answers[own] = taken),
      ask: async (_kind, key) => answers.reduce((sum, taken, other) => (other === own ? sum : sum + taken(key)), 0),
    }),
  )
}

test('[SAFE-14] one process gives out all places, and never asks', () => {
  const places = makeSharedPlaces('polls', 3, NO_SIBLINGS)
  assert.deepEqual(
    [1, 2, 3, 4].map(() => places.take('a')),
    [true, true, true, false],
  )
  assert.equal(places.take('b'), true)
  places.leave('a')
  assert.equal(places.take('a'), true)
})

test('[SAFE-14] processes give out as many places as one would, one request after the other', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 32 }),
      fc.array(fc.record({ at: fc.nat(7), leaves: fc.boolean() }), { maxLength: 100 }),
      async (count, most, requests) => {
        const all = processes(count, most)
        const held: number[] = []
        for (const { at, leaves } of requests) {
          const own = at % count
          const mine = held.indexOf(own)
          if (leaves && mine >= 0) {
            held.splice(mine, 1)
            all[own]!.leave('a')
          } else if (await all[own]!.take('a')) held.push(own)
          else assert.equal(held.length, most, 'refused although a place was free')
          assert.ok(held.length <= most)
        }
      },
    ),
  )
})

test('[SAFE-14] requests at the same time get no more places than there are, and all of them if there are enough', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 32 }),
      fc.array(fc.nat(7), { maxLength: 100 }),
      async (count, most, requests) => {
        const all = processes(count, most)
        const taken = await Promise.all(requests.map(async (at) => all[at % count]!.take('a')))
        const got = taken.filter(Boolean).length
        // Of too many requests at once some are refused that would have had a place one after the other.
        assert.ok(requests.length <= most ? got === requests.length : got <= most, `${got} of ${requests.length}`)
      },
    ),
  )
})
