// Clients that are too slow, second by second.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Connection } from '../../src/http/connection.ts'
import type { Exchange } from '../../src/http/exchange.ts'
import { tick } from '../../src/http/slow-peers.ts'

/** A connection with one request in hand, and what becomes of the two. */
function start(request: Partial<Exchange> = {}) {
  const outcome = { isDestroyed: false, isEnded: false, isRefused: false }
  const socket = { bytesWritten: 10, writableLength: 0, destroy: () => (outcome.isDestroyed = true) }
  const exchange = {
    arrivingSeconds: 0,
    discarding: null,
    reading: null,
    response: { end: () => (outcome.isEnded = true) },
    ...request,
  } as unknown as Exchange
  const connection = { socket, inHand: [exchange], taken: 0, stuckSeconds: 0 } as unknown as Connection
  const seconds = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await tick(new Set([connection]), () => (outcome.isRefused = true))
  }
  return { outcome, socket, exchange, seconds }
}

test('[SAFE-7] a client that takes nothing of a response for 30 seconds is disconnected, one that takes a byte is not', async () => {
  const { outcome, socket, seconds } = start()
  socket.writableLength = 5
  await seconds(30)
  socket.writableLength = 4
  await seconds(30)
  assert.equal(outcome.isDestroyed, false)
  await seconds(1)
  assert.equal(outcome.isDestroyed, true)
})

test('[SAFE-5] a body has a minute to arrive, apart from the time in which it waits for its turn', async () => {
  const { outcome, exchange, seconds } = start({ isBodyOutstanding: true, awaitsTurn: true })
  await seconds(100)
  exchange.awaitsTurn = false
  await seconds(59)
  assert.equal(outcome.isRefused, false)
  await seconds(1)
  assert.deepEqual([outcome.isRefused, exchange.closesConnection], [true, true])
})

test('[SAFE-5] a body arrives at 8 KiB a second after the first five seconds', async () => {
  const { outcome, exchange, seconds } = start({ reading: { bytes: 0, seconds: 0 } })
  await seconds(5)
  exchange.reading!.bytes = 8_192
  await seconds(1)
  assert.equal(outcome.isRefused, false)
  await seconds(1)
  assert.equal(outcome.isRefused, true)
})

test('[SAFE-6] the rest of a refused body is read for ten seconds, or until none of it comes for two', async () => {
  const discarding = () => ({ bytes: 0, seen: 0, seconds: 0, silentSeconds: 0 })
  const silent = start({ discarding: discarding() })
  await silent.seconds(1)
  assert.equal(silent.outcome.isEnded, false)
  await silent.seconds(1)
  assert.equal(silent.outcome.isEnded, true)
  const slow = start({ discarding: discarding() })
  for (let second = 1; second <= 10; second++) {
    assert.equal(slow.outcome.isEnded, false)
    slow.exchange.discarding!.bytes++
    await slow.seconds(1)
  }
  assert.equal(slow.outcome.isEnded, true)
})
