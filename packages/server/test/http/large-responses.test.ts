// How many large responses are under way at a time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { largeResponses } from '../../src/http/large-responses.ts'
import { NOBODY } from '../../src/operations/call.ts'

test('[SAFE-15] at most 2 large responses of an agent are under way, 4 of a tenant and 16 of the node', async () => {
  const sendInTurn = largeResponses()
  const underWay: { tenant: string; agent: string; done: () => void }[] = []
  let finished = 0
  const send = (tenant: string, agent: string): void =>
    void sendInTurn(
      { ...NOBODY, tenantId: tenant, id: agent },
      () => new Promise<void>((done) => underWay.push({ tenant, agent, done })),
    ).then(() => finished++)
  const of = (tenant: string, agent?: string): number =>
    underWay.filter((one) => one.tenant === tenant && (agent === undefined || one.agent === agent)).length

  for (let i = 0; i < 10; i++) send('one', 'greedy')
  await nextTurn()
  assert.equal(of('one', 'greedy'), 2)
  for (const agent of ['b', 'c', 'd']) for (let i = 0; i < 3; i++) send('one', agent)
  await nextTurn()
  assert.equal(of('one'), 4)
  for (const tenant of ['two', 'three', 'four', 'five']) for (const agent of ['a', 'b', 'c']) send(tenant, agent)
  await nextTurn()
  assert.equal(of('two'), 3)
  // Half of the places are for tenants that have none: whoever has one gets no more of those.
  assert.deepEqual([of('three'), of('four'), of('five'), underWay.length], [1, 1, 1, 10])
  for (let i = 0; i < 7; i++) send(`new ${i}`, 'a')
  await nextTurn()
  assert.equal(underWay.length, 16)
  assert.deepEqual([of('new 5'), of('new 6')], [1, 0])
  underWay
    .splice(
      underWay.findIndex(({ tenant }) => tenant === 'one'),
      1,
    )[0]!
    .done()
  await nextTurn()
  assert.equal(of('new 6'), 1)

  // All of them are sent in the end.
  while (underWay.length > 0) {
    underWay.shift()!.done()
    await nextTurn()
  }
  assert.equal(finished, 10 + 9 + 12 + 7)
})
