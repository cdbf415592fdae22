// The turns in which callers get a connection to PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeConnectionTurns } from '../../src/store/postgres-turns.ts'

test('[SAFE-51] a tenant that has its share waits for itself, and the next place goes to another tenant', async () => {
  const turns = makeConnectionTurns(4, 100, 60_000, 2)
  const begun: string[] = []
  const ask = (tenantId: string, name: string): void => {
    const turn = turns.take({ tenantId, id: 'a' })
    if (turn) void turn.then(() => begun.push(name))
    else begun.push(name)
  }
  for (const name of ['a1', 'a2', 'a3', 'a4']) ask('a', name)
  assert.deepEqual(begun, ['a1', 'a2'])
  for (const name of ['b1', 'b2', 'b3']) ask('b', name)
  ask('c', 'c1')
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'b2'])
  assert.equal(turns.waiting, 4)
  const leave = async (tenantId: string): Promise<string[]> => {
    turns.leave({ tenantId, id: 'a' })
    await Promise.resolve()
    return begun.slice(4)
  }
  assert.deepEqual(await leave('b'), ['b3'], 'the line of a is first, and has its share')
  assert.deepEqual(await leave('b'), ['b3', 'c1'])
  assert.deepEqual(await leave('c'), ['b3', 'c1'], 'there is a place, and nobody who may have it')
  assert.deepEqual(await leave('a'), ['b3', 'c1', 'a3'])
  assert.deepEqual(await leave('a'), ['b3', 'c1', 'a3', 'a4'])
})

test('[STO-11] a caller that waited too long takes no place, neither among those that wait nor of a connection', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const turns = makeConnectionTurns(1, 1, 5_000)
  const caller = { tenantId: 'a', id: 'a' }
  assert.equal(turns.take(caller), undefined)
  const busy = { trouble: 'busy' }
  for (let i = 0; i < 3; i++) {
    const waiting = assert.rejects(Promise.resolve(turns.take(caller)), busy)
    assert.throws(() => turns.take(caller), busy)
    t.mock.timers.tick(5_000)
    await waiting
    assert.equal(turns.waiting, 0)
  }
  turns.leave(caller)
  assert.equal(turns.take(caller), undefined)
})
