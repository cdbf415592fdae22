// The order in which requests are begun when there are more than one turn of the event loop can take.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { makeFairStart, type Startable } from '../../src/http/fair-start.ts'
import { makePlaces } from '../../src/http/places.ts'
import { NOBODY } from '../../src/operations/call.ts'

interface Request extends Startable {
  name: string
}

/** Beginning a request takes `takesMs` on a clock that nothing else moves. */
function doorway(takesMs = 1) {
  const places = makePlaces()
  const begun: string[] = []
  let ms = 0
  const start = makeFairStart<Request>(
    ({ name }) => {
      begun.push(name)
      ms += takesMs
    },
    () => ms,
  )
  const request = (name: string, place: Request['place']): Request => ({ name, place, isCounted: true })
  return {
    begun,
    start,
    ofAgent: (tenantId: string, id: string) =>
      request(`${tenantId} ${id}`, places.ofPrincipal(null, { ...NOBODY, tenantId, id })),
    ofAddress: (address: string) => request(address, places.ofAddress(address)),
    async emptied(count: number): Promise<void> {
      while (begun.length < count) await nextTurn()
    },
  }
}

test('[SAFE-30] requests that come one at a time are begun in the turn in which they come', async () => {
  const { begun, start, ofAgent } = doorway()
  for (let i = 0; i < 5; i++) {
    start(ofAgent('t', 'a'))
    assert.equal(begun.length, i + 1)
    await nextTurn()
  }
})

test('[SAFE-30] behind five hundred requests of one agent, others wait for one of them each', async () => {
  const { begun, start, ofAgent, ofAddress, emptied } = doorway()
  for (let i = 0; i < 500; i++) start(ofAgent('loud', 'a'))
  const before = begun.length
  assert.ok(before <= 3, `${before} were begun in the turn in which they came`)
  for (let i = 0; i < 100; i++) start(ofAddress('192.0.2.1'))
  start(ofAgent('quiet', 'b'))
  start(ofAddress('192.0.2.2'))
  start(ofAgent('loud', 'c'))
  await emptied(603)
  const place = (name: string): number => begun.indexOf(name) - before
  assert.ok(place('quiet b') < 4, `the neighbour is number ${place('quiet b')}`)
  assert.ok(place('192.0.2.2') < 4, `the other address is number ${place('192.0.2.2')}`)
  // The agent is the second of two in its tenant, and its tenant is one of four callers.
  assert.ok(place('loud c') < 8, `the colleague is number ${place('loud c')}`)
  assert.equal(begun.length, 603)
})

test('[SAFE-30] when another caller was active lately, a turn begins half as many requests', async () => {
  const alone = doorway()
  for (let i = 0; i < 10; i++) alone.start(alone.ofAgent('loud', 'a'))
  assert.equal(alone.begun.length, 2)
  const { begun, start, ofAgent, emptied } = doorway()
  start(ofAgent('quiet', 'b'))
  await nextTurn()
  for (let i = 0; i < 10; i++) start(ofAgent('loud', 'a'))
  assert.equal(begun.length - 1, 1)
  await emptied(11)
})

/** A state in which one caller sent most of the last requests, and another caller the rest. */
async function flooded(takesMs: number) {
  const door = doorway(takesMs)
  const { begun, start, ofAgent, emptied } = door
  for (let i = 0; i < 256; i++) start(i % 16 === 0 ? ofAgent('quiet', 'b') : ofAgent('loud', 'a'))
  await emptied(256)
  await nextTurn()
  /** Returns how many of `count` requests are begun as they come. */
  const inOneTurn = (count: number): number => {
    const before = begun.length
    for (let i = 0; i < count; i++) start(ofAgent('loud', 'a'))
    return begun.length - before
  }
  return { ...door, inOneTurn }
}

test('[SAFE-53] when one of the callers floods, a turn begins half as many once more', async () => {
  const { begun, start, ofAgent, emptied } = doorway(1 / 4)
  start(ofAgent('quiet', 'b'))
  await nextTurn()
  for (let i = 0; i < 10; i++) start(ofAgent('loud', 'a'))
  assert.equal(begun.length - 1, 4)
  await emptied(11)
  const { inOneTurn, emptied: over } = await flooded(1 / 4)
  assert.equal(inOneTurn(10), 2)
  await over(266)
})

test('[SAFE-53] four requests of a flooding caller are begun in a turn, however fast they are', async () => {
  const { begun, inOneTurn } = await flooded(0)
  assert.equal(inOneTurn(100), 4)
  for (let turns = 1; turns <= 24; turns++) {
    await nextTurn()
    assert.equal(begun.length, 256 + 4 * (turns + 1))
  }
})

test('[SAFE-53] requests of another caller are begun as they come, ahead of the waiting flood', async () => {
  const { begun, start, ofAgent, inOneTurn, emptied } = await flooded(1 / 8)
  inOneTurn(100)
  const before = begun.length
  start(ofAgent('quiet', 'b'))
  assert.equal(begun.length, before + 1)
  assert.equal(begun.at(-1), 'quiet b')
  // There is a limit: the share of a turn that such callers may take holds for all of them together; the rest wait.
  for (let i = 0; i < 20; i++) start(ofAgent('quiet', 'b'))
  assert.ok(begun.length - before < 8, `${begun.length - before} were begun`)
  await emptied(256 + 100 + 21)
})

test('[SAFE-30] a request whose client has disconnected is not begun, and delays no others', async () => {
  const { begun, start, ofAgent, emptied } = doorway()
  const requests = Array.from({ length: 50 }, (_, i) => ofAgent('t', `a${i}`))
  for (const request of requests) start(request)
  const direct = begun.length
  for (const request of requests.slice(direct, 49)) request.isCounted = false
  await emptied(direct + 1)
  await nextTurn()
  assert.deepEqual(begun.slice(direct), ['t a49'])
})
