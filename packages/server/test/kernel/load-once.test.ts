// What is loaded with its first use: once, and again after a failure.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadOnce } from '../../src/kernel/load-once.ts'

test('[RCL-78] a model that could not be loaded is loaded with the next use, and then once', async () => {
  const outcomes = [Promise.reject(new Error('no memory')), Promise.resolve('model')]
  let loads = 0
  const load = loadOnce(() => outcomes[loads++] ?? Promise.reject(new Error('loaded twice')))
  await assert.rejects(Promise.all([load(), load()]), /no memory/)
  assert.deepEqual(await Promise.all([load(), load()]), ['model', 'model'])
  assert.equal(await load(), 'model')
})
