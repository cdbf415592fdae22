// Reads take turns: with real turns of the event loop, and a clock that the test moves.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { operations } from '@sensorium/contract'
import { makeReadTurns } from '../../src/operations/read-turns.ts'
import { onBothEngines } from '../support/engines.ts'
import { startService, type Service, type TestTenant } from '../support/service.ts'

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
  let service: Service
  let tenant: TestTenant
  before(async () => {
    service = await startService(engine)
    tenant = await service.tenant()
  })
  after(() => service.stop())

  test('[SAFE-41] a read whose caller is gone when its turn comes is not begun', async () => {
    const { id } = await tenant.agent()
    const principal = {
      kind: 'org_admin',
      id: 'adm_x',
      tenantId: tenant.id,
      keyId: 'k',
      scopes: new Set(),
      teamId: null,
    }
    let asked = 0
    const ask = (options = {}) =>
      service.app.operations.perform(principal as never, operations.getAgent, { params: { id } }, options)
    const first = ask()
    const until = performance.now() + 20
    while (performance.now() < until); // makes the turn take long
    await Promise.all([assert.rejects(ask({ isClientGone: () => ++asked > 0 }), /went away/), first])
    assert.equal((await first).status, 200)
    assert.equal(asked, 1)
  })
})
