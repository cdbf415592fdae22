// What is the same over HTTP and over standard input and output, with the official client.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import { Client, ProtocolError } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { sqlite } from '../support/engines.ts'
import { bash } from '../support/process.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import { connectMcp, useTool } from './tools.ts'

const COMMAND = path.resolve(import.meta.dirname, '../../bin/sensorium.js')

async function startMcp(url: string, key: string): Promise<Client> {
  const client = new Client({ name: 'desktop', version: '1.0.0' })
  const env = { SENSORIUM_KEY: key, PATH: process.env['PATH']! }
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [COMMAND, 'mcp', '--url', url], env }),
  )
  return client
}

const service = serviceForSuite(sqlite)
const tenant = tenantForSuite(service)

for (const [how, connect] of [
  ['HTTP', connectMcp],
  ['standard input', startMcp],
] as const) {
  test(`[MCP-30][MCP-6] over ${how} an argument that a program adds is dropped, and an unknown one refused`, async () => {
    const agent = await tenant.agent()
    const client = await connect(service.url, agent.key)
    const kept = await useTool<{ id: string }>(client, 'remember', {
      title: 'Pump 7',
      content: 'It runs hot.',
      toolCallId: 'added by a program',
      expires_at: '2100-01-01T00:00:00Z',
    })
    assert.equal(kept.isError, false)
    const { memory } = (
      await useTool<{ memory: Record<string, unknown> }>(client, 'get_memory', {
        memory_id: kept.result.id,
        sessionId: 'x',
      })
    ).result
    assert.equal(memory['expires_at'], '2100-01-01T00:00:00.000Z')
    const refused = await useTool<{ error: { code: string; details: { field: string } } }>(client, 'remember', {
      title: 'Pump 7',
      content: 'It runs hot.',
      project_id: 'p-1',
    })
    assert.deepEqual(
      [refused.isError, refused.result.error.code, refused.result.error.details.field],
      [true, 'validation_failed', 'project_id'],
    )
    const wrong = await client.callTool({ name: 'subscribe', arguments: { event_type: 'a', with_memories: 'some' } })
    assert.match(JSON.stringify(wrong.content), /with_memories: expected one of: none, light, full/)
    await client.close()
  })

  test(`[MCP-3] over ${how} the receiver of long data can request all of it`, async () => {
    const { id, key } = await tenant.agent()
    const client = await connect(service.url, key)
    const data = { text: 'é'.repeat(5_000) }
    await useTool(client, 'publish_event', { type: 'com.example.long', recipient: id, data })
    type Box = { deliveries: { delivery_id: string; data: unknown; data_is_cut?: boolean }[] }
    const first = await useTool<Box>(client, 'check_mailbox')
    const { delivery_id, data_is_cut } = first.result.deliveries[0]!
    assert.equal(data_is_cut, true)
    await useTool(client, 'give_back', { delivery_ids: [delivery_id] })
    const again = await useTool<Box>(client, 'check_mailbox', { data_characters: 6_000 })
    assert.deepEqual(again.result.deliveries[0]!.data, data)
    assert.equal(again.result.deliveries[0]!.data_is_cut, undefined)
    await client.close()
  })

  test(`[MCP-4] over ${how} a key without memory:read lists and reads the mailbox, and a missing memory is not found`, async () => {
    const agent = await tenant.agent({ scopes: ['receive'] })
    const few = await connect(service.url, agent.key)
    assert.deepEqual(
      (await few.listResources()).resources.map(({ uri }) => uri),
      ['sensorium://mailbox'],
    )
    assert.equal((await few.readResource({ uri: 'sensorium://mailbox' })).contents.length, 1)
    const uri = 'sensorium://memories/mem_nothing'
    await assert.rejects(few.readResource({ uri }), (error: unknown) => {
      assert.ok(error instanceof ProtocolError)
      return error.code === -32600 && (error.data as { code: string }).code === 'insufficient_scope'
    })
    await few.close()
    const client = await connect(service.url, (await tenant.agent()).key)
    await assert.rejects(client.readResource({ uri }), (error: unknown) => {
      assert.ok(error instanceof ProtocolError)
      assert.deepEqual(error.data, { uri })
      return error.code === -32602
    })
    await client.close()
  })

  test(`[MCP-4] over ${how} a client of an older protocol is not offered subscriptions`, async () => {
    const client = await connect(service.url, (await tenant.agent()).key)
    assert.notEqual(client.getServerCapabilities()?.resources?.subscribe, true)
    await client.close()
  })
}

test('[MCP-6] standard input that is a file, or empty, ends the program normally', async () => {
  const { key } = await tenant.agent()
  const env = { SENSORIUM_KEY: key, SENSORIUM_URL: service.url }
  for (const input of ['/dev/null', import.meta.filename]) {
    const { code, stderr } = await bash(`${process.execPath} ${COMMAND} mcp < ${input}`, env)
    assert.equal(code, 0, stderr)
  }
})

test('[MCP-6] a call that is cancelled over standard input is aborted at the service', async (t) => {
  const held = Promise.withResolvers<void>()
  const givenUp = Promise.withResolvers<void>()
  const farEnd = createServer((request, response) => {
    if (request.url!.startsWith('/v1/delivery/poll')) {
      held.resolve()
      response.once('close', givenUp.resolve)
      return
    }
    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    response.end(JSON.stringify({ access_token: 't', token_type: 'Bearer', expires_at, agent: { id: 'agt_1' } }))
  }).listen(0, '127.0.0.1')
  t.after(() => farEnd.close().closeAllConnections())
  await new Promise((resolve) => farEnd.once('listening', resolve))
  const { port } = farEnd.address() as AddressInfo
  const client = await startMcp(`http://127.0.0.1:${port}`, `ak_live_${'k'.repeat(32)}`)
  const ended = new AbortController()
  const call = client.callTool({ name: 'check_mailbox', arguments: { wait_seconds: 20 } }, { signal: ended.signal })
  await held.promise
  ended.abort()
  await assert.rejects(call)
  await givenUp.promise
  await client.close()
})
