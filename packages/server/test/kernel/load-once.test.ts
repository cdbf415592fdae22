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

test('[RCL-78] a stop waits for a load under way, and comes after those who asked for it', async () => {
  const model = Promise.withResolvers<string>()
  const load = loadOnce(() => model.promise)
  assert.equal(await load.settled(), undefined)
  const order: string[] = []
  const use = async () => void order.push(`used ${await load()}`)
  const stop = async () => void order.push(`stopped ${await load.settled()}`)
  const all = [use(), use(), stop()]
  model.resolve('model')
  await Promise.all(all)
  assert.deepEqual(order, ['used model', 'used model', 'stopped model'])
  const fails = loadOnce(() => Promise.reject(new Error('no memory')))
  const refused = assert.rejects(fails(), /no memory/)
  assert.equal(await fails.settled(), undefined)
  await refused
})
