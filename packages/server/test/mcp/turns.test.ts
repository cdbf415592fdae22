// The messages of MCP clients take turns.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/server'
import { makeStepTurns, type StepTurns } from '../../src/kernel/step-turns.ts'
import { boundExchange } from '../../src/mcp/bound-exchange.ts'
import { makeMcpServer } from '../../src/mcp/make-mcp-server.ts'
import { onBothEngines } from '../support/engines.ts'
import { startService } from '../support/service.ts'
import { noEvents } from './tools.ts'

const BATCH = 100
const list = (id: number) => ({ jsonrpc: '2.0' as const, id, method: 'tools/list', params: {} })

/** Connects a server to a client, and calls `answered` for each of its answers. */
async function connect(turns: StepTurns, tenant: string, answered: (message: JSONRPCMessage) => void) {
  const none = () => Promise.reject(new Error('no tool is called'))
  const caller = { id: 'agent', pause: nextTurn, call: none, events: noEvents }
  const server = makeMcpServer(() => caller, { version: '1.0.0', agentId: null, subscribes: false })
  const [near, far] = InMemoryTransport.createLinkedPair()
  await boundExchange(server, {
    mayBegin: () => turns.take(tenant, 'agent'),
    turn: () => turns.take(tenant, 'agent'),
    outlet: { hold: () => ({}), taken: async () => {} },
    resultTurn: { take: async () => {}, leave: () => {} },
  }).connect(far)
  near.onmessage = answered
  await near.start()
  return {
    sendBatch: () => {
      for (let id = 0; id < BATCH; id++) void near.send(list(id))
    },
    close: () => near.close(),
  }
}

test('[MCP-42] a turn of the event loop has one message of a batch, and tenants take turns', async () => {
  const turns = makeStepTurns()
  const answers: string[] = []
  const clients = await Promise.all(
    ['loud', 'loud', 'loud', 'quiet'].map((tenant) => connect(turns, tenant, () => answers.push(tenant))),
  )
  for (const { sendBatch } of clients) sendBatch()
  // The first message of each is handled at once: its request has waited for a turn before.
  await nextTurn()
  assert.ok(answers.length <= clients.length + 1, `${answers.length} answers in the first turn`)
  while (answers.length < clients.length * BATCH) {
    const before = answers.length
    await nextTurn()
    assert.ok(answers.length - before <= 1, `${answers.length - before} answers in one turn`)
  }
  assert.ok(answers.lastIndexOf('quiet') < 2 * BATCH + 4, `the last one was answer ${answers.lastIndexOf('quiet')}`)
  for (const { close } of clients) await close()
})

test('[MCP-42] what a client has sent is not handled after it has left', async () => {
  let taken = 0
  const counted = makeStepTurns()
  const turns: StepTurns = { take: (...names) => counted.take(...names).then(() => void taken++) }
  let answers = 0
  const client = await connect(turns, 'tenant', () => answers++)
  client.sendBatch()
  await nextTurn()
  await client.close()
  const before = answers
  while (taken < BATCH - 1) await nextTurn()
  await nextTurn()
  assert.ok(before <= 2)
  assert.equal(answers, before)
})

onBothEngines((engine) => {
  test('[MCP-42] each message of a batch is answered', async () => {
    const service = await startService(engine, { RATE_LIMIT_AGENT: '1000' })
    const { token } = await (await service.tenant()).agent()
    const calls = Array.from({ length: BATCH }, (_, id) =>
      id % 2 === 0
        ? list(id)
        : { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'check_mailbox', arguments: {} } },
    )
    const response = await fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      },
      body: JSON.stringify(calls),
    })
    const answers = Array.from((await response.text()).matchAll(/^data: (.+)$/gm), ([, json]) => JSON.parse(json!))
    assert.deepEqual(
      answers.map(({ id }) => id as number).sort((a, b) => a - b),
      calls.map(({ id }) => id),
    )
    assert.ok(answers.every(({ result }) => result && !result.isError))
    await service.stop()
  })
})
