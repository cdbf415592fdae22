// The places for hashing long bodies.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeHmacTurns } from '../../src/ingest/webhooks/hmac.ts'

test('[ING-2] a long body that had its turn leaves the queue, however many had theirs before', async () => {
  const takeTurn = makeHmacTurns()
  for (let round = 0; round < 3; round++) {
    const held = Promise.withResolvers<void>()
    const under = [1, 2].map(() => takeTurn('192.0.2.1', 'acme', 1, () => held.promise))
    // Two addresses fill half of the queue.
    const waiting = [2, 3].map((n) => takeTurn(`192.0.2.${n}`, 'acme', 33_554_432, async () => n))
    held.resolve()
    await Promise.all(under)
    assert.deepEqual(await Promise.all(waiting), [2, 3])
  }
})
