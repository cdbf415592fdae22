// The order of work in an embedding thread.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Model } from '../../../src/memory/embed/model.ts'
import { makeWorkQueue, type Told } from '../../../src/memory/embed/work-queue.ts'

const WINDOW = 10
/** A model whose windows are ten characters each. */
function fakeModel(ran: string[]): Model {
  return {
    *windows(text: string) {
      for (let at = 0; at < text.length; at += WINDOW)
        yield { ids: [1], meaning: [true], words: [text.slice(at, at + WINDOW)], isUnread: false }
    },
    async run(windows: readonly { words: string[] }[]) {
      ran.push(...windows.map(({ words: [word] }) => word![0]!))
      return windows.map(() => ({ vector: new Float32Array(1), tokens: new Int8Array() }))
    },
  } as unknown as Model
}

test('[RCL-61] a text that has begun does not hold up a shorter one, and a query goes first', async () => {
  const ran: string[] = []
  const told: number[] = []
  const all = Promise.withResolvers<void>()
  const queue = makeWorkQueue(fakeModel(ran), (answer: Told) => {
    told.push(answer.id)
    if (told.length === 4) all.resolve()
  })
  queue.add({ id: 1, kind: 'texts', texts: ['a'.repeat(20 * WINDOW)] })
  queue.add({ id: 2, kind: 'texts', texts: ['b'.repeat(19 * WINDOW)] })
  while (ran.length < 3) await new Promise(setImmediate)
  queue.add({ id: 3, kind: 'texts', texts: ['c'.repeat(2 * WINDOW)] })
  queue.add({ id: 4, kind: 'query', texts: ['d'] })
  await all.promise
  assert.deepEqual(told, [4, 3, 2, 1])
  assert.ok(ran.lastIndexOf('c') < 10, ran.join(''))
  await queue.close()
})
