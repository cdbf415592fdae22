// Places that several processes share.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { makeSharedPlaces, NO_SIBLINGS, type SharedPlaces } from '../../src/kernel/shared-places.ts'

/** Returns a function that starts one of `count` processes that ask each other, in place of the one before. */
function machine(count: number, most: number): (own: number) => SharedPlaces {
  const answers: ((key: string) => number)[] = []
  return (own) =>
    makeSharedPlaces('polls', most, {
      count,
      answer: (_kind, taken) => void (answers[own] = taken),
      ask: async (_kind, key) => answers.reduce((sum, taken, other) => (other === own ? sum : sum + taken(key)), 0),
    })
}

function processes(count: number, most: number): SharedPlaces[] {
  const start = machine(count, most)
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
  const start = machine(3, 8)
  const give = async (places: SharedPlaces): Promise<number> => {
    for (let given = 0; ; given++) if (!(await places.take('a'))) return given
  }
  assert.equal(await give(start(0)), 8)
  assert.deepEqual([await give(start(1)), await give(start(2))], [0, 0])
  assert.deepEqual([await give(start(0)), await give(start(1))], [8, 0])
})

test('[SAFE-14] a process that knows the others within their shares gives out its own without asking', async () => {
  const [own, other] = processes(2, 4) as [SharedPlaces, SharedPlaces]
  assert.equal(await own.take('a'), true)
  assert.equal(own.take('a'), true)
  assert.equal(await other.take('a'), true, 'and is asked')
  assert.notEqual(own.take('a'), true, 'so that it asks again')
})

test('[SAFE-14] an answer from before another process asked gives no share', async () => {
  let asked = (_key: string): number => 0
  const answer = Promise.withResolvers<number>()
  const places = makeSharedPlaces('polls', 4, {
    count: 2,
    answer: (_kind, taken) => void (asked = taken),
    ask: () => answer.promise,
  })
  const first = places.take('a')
  assert.equal(asked('a'), 1, 'the other takes all that is left')
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
