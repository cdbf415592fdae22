// Who floods: most of what was asked of late is of one, and others ask as well.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { watchForFlood } from '../../src/kernel/flood.ts'

const WINDOW = 256

/** Of each window `loud` asks for so many, in between the rest of others. */
function flood(loud: number, others: number) {
  const watched = watchForFlood<string>()
  for (let i = 0; i < loud; i++) watched.heard('loud')
  for (let i = 0; i < others; i++) watched.heard('quiet')
  return watched
}

test('[SAFE-53] who asks for more than two thirds of the last 256 requests floods, beside others', () => {
  const watched = flood(171, WINDOW - 171)
  assert.equal(watched.isOn, true)
  assert.equal(watched.isBy('loud'), true)
  assert.equal(watched.isBy('quiet'), false)
})

test('[SAFE-53] nobody floods who asks for no more than that, or alone, or before there was a window', () => {
  assert.equal(flood(170, WINDOW - 170).isOn, false)
  assert.equal(flood(128, 128).isOn, false)
  assert.equal(flood(WINDOW, 0).isOn, false)
  assert.equal(flood(WINDOW - 3, 3).isOn, false)
  assert.equal(flood(200, 55).isOn, false)
})

test('[SAFE-53] a flood is over a window after it was the last time', () => {
  const watched = flood(200, 56)
  for (let i = 0; i < WINDOW; i++) watched.heard(i % 2 === 0 ? 'loud' : 'quiet')
  assert.equal(watched.isOn, false)
  assert.equal(watched.isBy('loud'), false)
})
