import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Stop } from '../../src/kernel/stop.ts'

test('[DLV-7] listeners are called once, in order, and removed listeners are not', () => {
  const stop = new Stop()
  const heard: string[] = []
  const [first, second, third] = ['first', 'second', 'third'].map((name) => () => void heard.push(name))
  for (const hear of [first!, second!, third!]) stop.addEventListener('abort', hear)
  stop.removeEventListener('abort', second!)
  assert.equal(stop.aborted, false)
  stop.stop()
  stop.stop()
  assert.equal(stop.aborted, true)
  assert.deepEqual(heard, ['first', 'third'])
})
