// Reads take turns: with real turns of the event loop, and a clock that the test moves.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations, type Operation } from '@sensorium/contract'
import { addTypes } from '../../src/activity/event-types-sql.ts'
import type { Principal } from '../../src/auth/principal.ts'
import { OPEN_PAGE } from '../../src/delivery/open-deliveries.ts'
import { insertInterests } from '../../src/interests/sql.ts'
import { insertRelationship } from '../../src/memory/relationships-sql.ts'
import { PAGE } from '../../src/memory/walk.ts'
import type { Input } from '../../src/operations/call.ts'
import { makeReadTurns } from '../../src/operations/read-turns.ts'
import { fillMailbox } from '../delivery/fill-mailbox.ts'
import { event } from '../events/tools.ts'
import { aMemory, memoryCalls } from '../memory/tools.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

test('[SAFE-41] reads that take no time are begun at once', () => {
  const readTurn = makeReadTurns(() => 0)
  for (let i = 0; i < 100; i++) assert.equal(readTurn('a', 'x'), undefined)
})

test('[SAFE-41] after a slow read one is begun in each turn, and tenants and agents take turns', async () => {
  let time = 0
  const readTurn = makeReadTurns(() => time)
  assert.equal(readTurn('a', 'x'), undefined)
  time += 40
  const begun: string[] = []
  const wait = (tenant: string, reader: string): void =>
    void readTurn(tenant, reader)!.then(() => {
      begun.push(`${tenant} ${reader}`)
      time += 40
    })
  for (let i = 0; i < 3; i++) wait('a', 'x')
  wait('a', 'y')
  wait('b', 'z')
  const seen: number[] = []
  while (begun.length < 5) {
    await nextTurn()
    seen.push(begun.length)
  }
  assert.deepEqual(begun, ['a x', 'b z', 'a y', 'a x', 'a x'])
  assert.ok(
    seen.every((count, i) => count - (seen[i - 1] ?? 0) <= 1),
    `${seen}`,
  )
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const admin = (): Principal => ({
    kind: 'org_admin',
    id: 'adm_x',
    tenantId: tenant.id,
    keyId: 'k',
    scopes: new Set(),
    teamId: null,
  })

  test('[SAFE-41] a read whose caller is gone when its turn comes is not begun', async () => {
    const { id } = await tenant.agent()
    let asked = 0
    const ask = (options = {}) =>
      service.app.operations.perform(admin(), operations.getAgent, { params: { id } }, options)
    const first = ask()
    const until = performance.now() + 20
    while (performance.now() < until); // makes the turn take long
    await Promise.all([assert.rejects(ask({ isClientGone: () => ++asked > 0 }), /went away/), first])
    assert.equal((await first).status, 200)
    assert.equal(asked, 1)
  })

  const assertEnds = (operation: Operation, input: Input) =>
    assert.rejects(service.app.operations.perform(admin(), operation, input, { isClientGone: () => true }), /went away/)

  test('[SAFE-41] an import ends when its client has gone, and what it has written stays', async () => {
    const lines = Array.from({ length: 20 }, (_, i) => JSON.stringify({ ...aMemory, title: `Line ${i}` }))
    let asked = 0
    const input = { body: lines.join('\n') } as Input
    const isClientGone = (): boolean => ++asked > 1
    const importing = service.app.operations.perform(admin(), operations.importMemories, input, { isClientGone })
    await assert.rejects(importing, /went away/)
    const sql = "select id from memories where tenant_id = ? and title like 'Line %'"
    const kept = await service.store.rows(sql, [tenant.id])
    assert.deepEqual([kept.length, asked], [8, 2])
  })

  test('[SAFE-41] the count of a long queue ends when its client has gone', async () => {
    const { id } = await tenant.agent()
    const rows = Array.from({ length: OPEN_PAGE }, (_, i) => ({
      id: `d${i}`,
      ...{ state: 'ready' as const, priority: 0, due_at: null, wake_at: null, created_at: i },
    }))
    await fillMailbox(service.store, { tenantId: tenant.id, recipientId: id }, rows)
    await assertEnds(operations.getQueue, { params: { id } })
  })

  test('[SAFE-41] a long traversal ends when its client has gone', async () => {
    const start = await memoryCalls(service).make(await tenant.agent())
    const related = Array.from({ length: PAGE + 1 }, (_, i) => ({
      ...{ tenant_id: tenant.id, id: `rel_${i}`, source_memory_id: start.id, target_memory_id: `mem_${i}` },
      ...{ relationship_type: 'supports' as const, strength: 1, metadata: null, created_by: 'agt_x', created_at: 1 },
    }))
    await service.store.tx(async (tx) => {
      for (const row of related) await insertRelationship(tx, row)
    })
    await assertEnds(operations.listRelationships, { params: { id: start.id } })
  })

  test('[SAFE-41] an explanation and a list of types over many interests end when their client has gone', async () => {
    const { id: agent_id } = await tenant.agent()
    const interests = Array.from({ length: 5_000 }, (_, i) => ({
      ...{ tenant_id: tenant.id, id: `int_${i}`, agent_id, event_type: 'x.*', filter_expression: `data.n == ${i}` },
      ...{ conflict_key: `${i}`, priority: 0, enrichment_depth: 'none' as const, active: 1 },
      ...{ created_at: 1, updated_at: 1 },
    }))
    const types = Array.from({ length: 200 }, (_, i) => [`x.${i}`, { count: 1, lastAt: service.clock.now() }] as const)
    await service.store.tx(async (tx) => {
      await insertInterests(tx, interests)
      addTypes(tx, new Map([[tenant.id, new Map(types)]]))
    })
    await assertEnds(operations.explainEvent, { body: { event: event({ type: 'x.y', data: { n: -1 } }) } })
    await assertEnds(operations.listEventTypes, { query: { limit: '200' } })
  })
})
