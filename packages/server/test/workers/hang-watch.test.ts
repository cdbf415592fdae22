// Which workers are ended because they hang. Workers are names here, but in the last test.
import assert from 'node:assert/strict'
import cluster from 'node:cluster'
import { once } from 'node:events'
import path from 'node:path'
import { test } from 'node:test'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeHangWatch } from '../../src/workers/hang-watch.ts'
import { makeWorkers } from '../../src/workers/primary.ts'

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

test('[SCL-6] a worker that answers each ping lives, and one that is stopped is killed', async (t) => {
  let look!: () => void
  const workers = makeWorkers(1, makeLogger('silent'), (given) => (look = given))
  t.after(() => workers.kill())
  cluster.setupPrimary({ exec: path.join(import.meta.dirname, 'a-worker.ts') })
  await workers.start()
  const [worker] = Object.values(cluster.workers!)
  for (let times = 0; times < 10; times++) {
    const heard = once(worker!, 'message')
    look()
    assert.deepEqual((await heard)[0], { kind: 'alive' })
  }
  worker!.process.kill('SIGSTOP')
  const ended = once(worker!.process, 'exit')
  for (let times = 0; times < 7; times++) look()
  assert.deepEqual(await ended, [null, 'SIGKILL'])
})
