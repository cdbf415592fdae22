// Long bodies that have arrived are read in turn: an agent has one at a time, its tenant two, the node eight.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeBodyTurns } from '../../src/http/body-turns.ts'
import type { Exchange } from '../../src/http/exchange.ts'
import { makePlaces } from '../../src/http/places.ts'
import { NOBODY } from '../../src/operations/call.ts'

const places = makePlaces()
const ofAgent = (tenantId: string, id: string): Exchange =>
  ({ place: places.ofPrincipal(null, { ...NOBODY, tenantId, id }) }) as Exchange
const ofAddress = (address: string): Exchange => ({ place: places.ofAddress(address) }) as Exchange

/** Bodies that are being read until the test ends them. */
function reading() {
  const turns = makeBodyTurns()
  const under: { who: string; end: () => void }[] = []
  const read = (exchange: Exchange, who: string): Promise<string> =>
    turns.inTurnOf(exchange)(
      () =>
        new Promise<string>((resolve) => {
          const one = { who, end: () => resolve(who) }
          under.push(one)
        }),
    )
  const settled = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await new Promise(setImmediate)
  }
  return { under, read, settled }
}

test('[SAFE-34] an agent has one long body read at a time, its tenant two, and others have theirs meanwhile', async () => {
  const { under, read, settled } = reading()
  const all = [
    ...Array.from({ length: 20 }, () => read(ofAgent('loud', 'a'), 'loud a')),
    read(ofAgent('loud', 'b'), 'loud b'),
    read(ofAgent('loud', 'c'), 'loud c'),
    ...Array.from({ length: 5 }, () => read(ofAddress('192.0.2.1'), 'address')),
    read(ofAgent('quiet', 'd'), 'quiet d'),
  ]
  await settled()
  assert.deepEqual(under.map(({ who }) => who).sort(), ['address', 'loud a', 'loud b', 'quiet d'])
  for (let done = 0; done < all.length; done++) {
    under.shift()!.end()
    await settled()
  }
  assert.equal((await Promise.all(all)).length, 28)
})

test('[SAFE-34] a body that cannot be read gives its turn to the next', async () => {
  const turns = makeBodyTurns()
  const inTurn = turns.inTurnOf(ofAgent('t', 'a'))
  await assert.rejects(
    inTurn(() => {
      throw new Error('no JSON')
    }),
    /no JSON/,
  )
  assert.equal(await inTurn(() => 1), 1)
})
