// `sensorium mcp`: the same tools over standard input and output, with the official client.
import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { TOOLS } from '../../src/mcp/make-mcp-server.ts'
import { serveMcpOverStdio } from '../../src/mcp/serve-stdio.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite } from '../support/service.ts'
import { useTool } from './tools.ts'

const COMMAND = path.resolve(import.meta.dirname, '../../bin/sensorium.js')

test('[MCP-6] if the service does not respond, the reason names its address', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const url = 'http://127.0.0.1:9'
  let isOver = false
  const serving = serveMcpOverStdio({
    url,
    apiKey: `ak_live_${'k'.repeat(32)}`,
    version: '1.0.0',
    report: assert.fail,
    signal: new AbortController().signal,
  }).finally(() => (isOver = true))
  const refused = assert.rejects(serving, { message: `${url} does not respond, so there are no tools` })
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve))
    t.mock.timers.tick(20_000)
  }
  await refused
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  test('[MCP-6] [MCP-15] a chat client that starts the program has all tools, as the agent of its key', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const client = new Client({ name: 'desktop', version: '1.0.0' })
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [COMMAND, 'mcp', '--url', service.url],
        env: { SENSORIUM_KEY: agent.key, PATH: process.env['PATH']! },
      }),
    )
    assert.equal((await client.listTools()).tools.length, TOOLS.length)
    await useTool(client, 'subscribe', { event_type: 'stdio.*' })
    await useTool(client, 'publish_event', { type: 'stdio.hello', data: { text: 'hello' } })
    const box = await useTool<{ deliveries: { delivery_id: string; source: string }[] }>(client, 'check_mailbox')
    assert.equal(box.result.deliveries[0]!.source, `/agents/${agent.id}`)
    const long = '{"n":9007199254740993}'
    await service.call('POST /v1/events', {
      token: agent.token,
      raw: `{"specversion":"1.0","id":"long","source":"/x","type":"stdio.long","data":${long}}`,
      headers: { 'content-type': 'application/cloudevents+json' },
    })
    const { content } = await client.callTool({ name: 'check_mailbox', arguments: {} })
    assert.ok((content as { text: string }[])[0]!.text.includes(`"data":${long}`))
    const refused = await useTool<{ error: { code: string } }>(client, 'get_memory', { memory_id: 'mem_unknown' })
    assert.deepEqual([refused.isError, refused.result.error.code], [true, 'not_found'])
    await client.close()
  })
})
