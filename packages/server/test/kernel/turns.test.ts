// Callers that share a thread take turns, and no caller fills the queue.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '../../src/kernel/failure.ts'
import { makeTurns } from '../../src/kernel/turns.ts'

test('[RCL-3] tenants take turns, and agents inside a tenant, however many requests one of them has', async () => {
  const turns = makeTurns({ what: 'searches waiting', atOnce: 1 })
  const order: string[] = []
  const ask = (tenant: string, agent: string): Promise<void> =>
    turns.take(tenant, agent, async () => {
      order.push(`${tenant}${agent}`)
      await new Promise(setImmediate)
    })
  const all = [...Array.from({ length: 24 }, () => ask('a', '1')), ask('a', '2'), ask('b', '1')]
  await Promise.all(all)
  // The first was begun before the others came.
  assert.ok(order.indexOf('b1') <= 2, order.join(' '))
  assert.ok(order.indexOf('a2') <= 3, order.join(' '))
})

test('[RCL-3] an agent with 32 waiting is refused with 429, others are not, and places come back', async () => {
  const turns = makeTurns({ what: 'searches waiting', atOnce: 1, total: 40 })
  let release!: () => void
  const held = turns.take('a', '1', () => new Promise<void>((resolve) => (release = resolve)))
  const waiting = Array.from({ length: 32 }, () => turns.take('a', '1', async () => {}))
  const refused = (status: number) => (error: unknown) => error instanceof Failure && error.status === status
  await assert.rejects(
    turns.take('a', '1', async () => {}),
    refused(429),
  )
  const others = Array.from({ length: 8 }, (_, i) => turns.take('b', String(i), async () => 'done'))
  await assert.rejects(
    turns.take('c', '1', async () => {}),
    refused(503),
  )
  release()
  await Promise.all([held, ...waiting])
  assert.deepEqual(
    await Promise.all(others),
    Array.from({ length: 8 }, () => 'done'),
  )
  assert.equal(await turns.take('a', '1', async () => 'again'), 'again')
})

test('[RCL-3] work that fails gives its turn back', async () => {
  const turns = makeTurns({ what: 'searches waiting', atOnce: 1 })
  await assert.rejects(
    turns.take('a', '1', async () => {
      throw new Error('no')
    }),
    /no/,
  )
  assert.equal(await turns.take('a', '1', async () => 1), 1)
})

test('[SAFE-15] turns that are kept for tenants that have none are given to no other', async () => {
  const turns = makeTurns({ what: 'responses waiting', atOnce: 3, kept: 1 })
  const running: string[] = []
  const ends: (() => void)[] = []
  const begin = (tenant: string, agent: string): Promise<void> =>
    turns.take(tenant, agent, () => {
      running.push(tenant)
      return new Promise((resolve) => ends.push(resolve))
    })
  const all = [begin('a', '1'), begin('a', '2'), begin('a', '3'), begin('b', '1')]
  await new Promise(setImmediate)
  assert.deepEqual(running, ['a', 'a', 'b'])
  ends[2]!()
  await new Promise(setImmediate)
  assert.deepEqual(running, ['a', 'a', 'b'], 'the kept one is free again, and stays so')
  ends[0]!()
  await new Promise(setImmediate)
  assert.deepEqual(running, ['a', 'a', 'b', 'a'])
  for (const end of ends) end()
  await Promise.all(all)
})
