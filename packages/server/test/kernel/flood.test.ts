// Detecting a flood: one caller sends most of the recent requests while others send some too.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { watchForFlood } from '../../src/kernel/flood.ts'

const WINDOW = 256

/** A window with this many requests of `loud`, then of others. */
function flood(loud: number, others: number) {
  const watched = watchForFlood<string>()
  for (let i = 0; i < loud; i++) watched.heard('loud')
  for (let i = 0; i < others; i++) watched.heard('quiet')
  return watched
}

test('[SAFE-53] a caller with more than two thirds of the last 256 requests floods, beside others', () => {
  const watched = flood(171, WINDOW - 171)
  assert.equal(watched.isActive, true)
  assert.equal(watched.isFlooding('loud'), true)
  assert.equal(watched.isFlooding('quiet'), false)
  assert.equal(flood(WINDOW - 4, 4).isActive, true)
})

test('[SAFE-53] a caller with fewer, or almost alone, or before the first window does not flood', () => {
  assert.equal(flood(170, WINDOW - 170).isActive, false)
  assert.equal(flood(128, 128).isActive, false)
  assert.equal(flood(WINDOW, 0).isActive, false)
  assert.equal(flood(WINDOW - 3, 3).isActive, false)
  assert.equal(flood(200, 55).isActive, false)
})

test('[SAFE-53] a flood is over one window after it ended', () => {
  const watched = flood(200, 56)
  for (let i = 0; i < WINDOW; i++) watched.heard(i % 2 === 0 ? 'loud' : 'quiet')
  assert.equal(watched.isActive, false)
  assert.equal(watched.isFlooding('loud'), false)
})
