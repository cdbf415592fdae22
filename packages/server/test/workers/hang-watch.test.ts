// Which workers are ended because they hang. Workers are names here.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeHangWatch } from '../../src/workers/hang-watch.ts'

function watching(...workers: string[]) {
  const pinged: string[] = []
  const hanging: string[] = []
  const watch = makeHangWatch<string>(
    (worker) => void pinged.push(worker),
    (worker) => void hanging.push(worker),
  )
  for (const worker of workers) watch.begin(worker)
  return { ...watch, pinged, hanging }
}

test('[SCL-6] a worker that answers no ping for 30 seconds hangs, and is sent no second ping meanwhile', () => {
  const watch = watching('well', 'stopped')
  for (let seconds = 0; seconds <= 25; seconds += 5) {
    watch.look()
    watch.hear('well')
  }
  assert.deepEqual(watch.hanging, [])
  watch.look()
  assert.deepEqual(watch.hanging, ['stopped'])
  assert.deepEqual(
    watch.pinged.filter((worker) => worker === 'stopped'),
    ['stopped'],
  )
  watch.look()
  assert.deepEqual(watch.hanging, ['stopped'], 'it is told of once')
})

test('[SCL-6] a worker that answers late, or ends, does not hang', () => {
  const watch = watching('late', 'ended')
  for (let looks = 0; looks < 6; looks++) watch.look()
  watch.hear('late')
  watch.end('ended')
  watch.hear('ended')
  for (let looks = 0; looks < 6; looks++) watch.look()
  assert.deepEqual([watch.hanging, watch.pinged], [[], ['late', 'ended', 'late']])
})
