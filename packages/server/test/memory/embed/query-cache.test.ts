import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeQueryCache } from '../../../src/memory/embed/query-cache.ts'
import type { EmbeddedWindow } from '../../../src/memory/embed/embedder.ts'

const embedded = (n: number): EmbeddedWindow => ({ vector: Float32Array.of(n), tokens: new Int8Array(64) })

test('[ENR-8] a text of a tenant is embedded once, also when requested twice concurrently', async () => {
  const cache = makeQueryCache()
  let read = 0
  const embed = async (): Promise<EmbeddedWindow> => embedded(++read)
  const [first, second] = await Promise.all([cache.of('t1', 'hot', embed), cache.of('t1', 'hot', embed)])
  assert.equal(first, second)
  await cache.of('t1', 'hot', embed)
  assert.equal(read, 1)
  await cache.of('t2', 'hot', embed)
  assert.equal(read, 2, 'another tenant does not learn what was asked')
})

test('[ENR-8] a caller that waits for another’s failing request makes its own', async () => {
  const cache = makeQueryCache()
  const failing = cache.of('t', 'hot', () => Promise.reject(new Error('too many of them')))
  const other = cache.of('t', 'hot', async () => embedded(1))
  await assert.rejects(failing, /too many/)
  assert.equal((await other).vector[0], 1)
})

test('[ENR-8] the least recently used text is evicted', async () => {
  const cache = makeQueryCache(3_000)
  let read = 0
  const ask = (text: string): Promise<EmbeddedWindow> => cache.of('t', text, async () => embedded(++read))
  for (const text of ['a', 'b', 'c', 'a', 'd', 'e']) await ask(text)
  assert.ok(cache.bytes <= 3_000)
  await ask('a')
  assert.equal(read, 5)
  await ask('b')
  assert.equal(read, 6)
})
