// Places that several processes share.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { makeSharedPlaces, NO_SIBLINGS, type PlacesGiven, type SharedPlaces } from '../../src/kernel/shared-places.ts'

/** Returns a function that starts one of `count` processes that ask each other, in place of the one before. */
function machine(count: number, most: number): { start(own: number): SharedPlaces; asks: () => number } {
  const answers: PlacesGiven[] = []
  let asks = 0
  const others = (own: number): PlacesGiven[] => answers.filter((_, other) => other !== own)
  return {
    asks: () => asks,
    start: (own) =>
      makeSharedPlaces('polls', most, {
        count,
        answer: (_kind, given) => void (answers[own] = given),
        async ask(_kind, key) {
          asks++
          return others(own).reduce((sum, given) => sum + given.to(key), 0)
        },
        askBeyondShare: async () => others(own).flatMap((given) => given.beyondShare()),
      }),
  }
}

function processes(count: number, most: number): SharedPlaces[] {
  const { start } = machine(count, most)
  return Array.from({ length: count }, (_, own) => start(own))
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

test('[SAFE-14] processes that begin later, or again, get no more than what the others left', async () => {
  const { start } = machine(3, 8)
  const give = async (places: SharedPlaces): Promise<number> => {
    for (let given = 0; ; given++) if (!(await places.take('a'))) return given
  }
  assert.equal(await give(start(0)), 8)
  assert.deepEqual([await give(start(1)), await give(start(2))], [0, 0])
  assert.deepEqual([await give(start(0)), await give(start(1))], [8, 0])
})

test('[SAFE-14] while all are within their shares, none asks', async () => {
  const { start, asks } = machine(4, 32)
  const all = [0, 1, 2, 3].map(start)
  for (let i = 0; i < 1_000; i++) {
    const places = all[i % 4]!
    // Up to eight at each.
    if (i >= 32) places.leave('a')
    assert.equal(await places.take('a'), true)
  }
  assert.equal(asks(), 0)
  assert.equal(await all[0]!.take('a'), false)
})

test('[SAFE-14] an answer from before another process asked gives no share', async () => {
  let given: PlacesGiven | undefined
  const answer = Promise.withResolvers<number>()
  const places = makeSharedPlaces('polls', 4, {
    count: 2,
    answer: (_kind, own) => void (given = own),
    ask: () => answer.promise,
    askBeyondShare: async () => ['a'],
  })
  const first = places.take('a')
  await new Promise(setImmediate)
  assert.equal(given!.to('a'), 1, 'the other takes all that is left')
  answer.resolve(0)
  assert.equal(await first, true)
  assert.notEqual(places.take('a'), true)
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
