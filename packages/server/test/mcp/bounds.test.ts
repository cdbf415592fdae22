// MCP with a hostile caller.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { MAX_ID_LENGTH } from '../../src/mcp/read-messages.ts'
import { MAX_SUBSCRIPTIONS_OF_ONE } from '../../src/mcp/subscriptions.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import { connectMcp, useTool } from './tools.ts'

const VERSION = '2026-07-28'
const ACCEPT = 'application/json, text/event-stream'

const message = (method: string, params: object = {}, id = 1) => ({ jsonrpc: '2.0', id, method, params })

onBothEngines((engine) => {
  const service = serviceForSuite(engine, { RATE_LIMIT_AGENT: '1000' })
  const tenant = tenantForSuite(service)

  const post = (token: string, body: object | string) =>
    fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, accept: ACCEPT, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })

  function listen(token: string, signal?: AbortSignal): Promise<Response> {
    const method = 'subscriptions/listen'
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': VERSION,
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const params = { notifications: { resourceSubscriptions: ['sensorium://mailbox'] }, _meta }
    return fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        accept: ACCEPT,
        'content-type': 'application/json',
        'mcp-protocol-version': VERSION,
        'mcp-method': method,
      },
      body: JSON.stringify(message(method, params)),
      ...(signal ? { signal } : {}),
    })
  }

  test('[MCP-10] each message counts toward the limit of its agent, in a batch too', async () => {
    const agent = await tenant.agent()
    const remaining = async (body: object): Promise<number> => {
      const response = await post(agent.token, body)
      await response.text()
      return Number(response.headers.get('x-ratelimit-remaining'))
    }
    const first = await remaining(message('tools/list'))
    assert.equal(await remaining(message('tools/list')), first - 1)
    await remaining([1, 2, 3].map((id) => message('tools/list', {}, id)))
    assert.equal(await remaining(message('ping')), first - 5)
  })

  test('[MCP-11] the open subscriptions of an agent are limited', async () => {
    const agent = await tenant.agent()
    const leaving = new AbortController()
    const open: Response[] = []
    for (let i = 0; i < MAX_SUBSCRIPTIONS_OF_ONE; i++) open.push(await listen(agent.token, leaving.signal))
    assert.deepEqual(new Set(open.map(({ status }) => status)), new Set([200]))
    const refused = await listen(agent.token)
    assert.equal(refused.status, 429)
    assert.equal(((await refused.json()) as { error: { code: string } }).error.code, 'rate_limited')
    assert.equal((await listen((await tenant.agent()).token, leaving.signal)).status, 200)
    leaving.abort()
  })

  test('[MCP-11] a subscription ends when its key is revoked', async () => {
    const agent = await tenant.agent()
    const response = await listen(agent.token)
    await service.call(`DELETE /v1/agents/${agent.id}/keys/${agent.keyId}`, { token: tenant.admin })
    await service.clock.advance(1_000)
    assert.match(await response.text(), /acknowledged/)
  })

  async function wrongExchange(): Promise<number> {
    const body = { api_key: `ak_live_${'Z'.repeat(32)}` }
    return (await service.call('POST /v1/auth/token', { body })).status
  }

  test('[MCP-11] it also ends if its address has used up its failed exchanges', { timeout: 20_000 }, async () => {
    const agent = await tenant.agent()
    const keys = `/v1/agents/${agent.id}/keys`
    const body = { scopes: ['receive'], expires_at: new Date(service.clock.now() + 3_000).toISOString() }
    const brief = await service.call(`POST ${keys}`, { token: tenant.admin, body })
    const open = [await listen(agent.key), await listen(brief.body.key)]
    for (let i = 0; i < 40 && (await wrongExchange()) !== 429; i++);
    assert.equal(await wrongExchange(), 429)
    await service.call(`DELETE ${keys}/${agent.keyId}`, { token: tenant.admin })
    await service.clock.advance(1_000)
    assert.match(await open[0]!.text(), /acknowledged/)
    // The other key expires.
    await service.clock.advance(3_000)
    assert.match(await open[1]!.text(), /acknowledged/)
    await service.clock.advance(60_000)
  })

  test('[MCP-12] a body that is too long or too deep is refused before it is parsed', async () => {
    const { token } = await tenant.agent()
    const call = (data: string) =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"publish_event","arguments":{"type":"a.b","data":${data}}}}`
    assert.equal((await post(token, call(`"${'x'.repeat(1_200_000)}"`))).status, 413)
    const deep = await post(token, call('['.repeat(100_000) + ']'.repeat(100_000)))
    assert.equal(deep.status, 400)
    assert.match(await deep.text(), /nested/)
    const large = await (await post(token, call(`"${'x'.repeat(1_060_000)}"`))).text()
    assert.match(large, /payload_too_large/)
  })

  test('[MCP-44] a message with a long id is refused, in a batch too', async () => {
    const { token } = await tenant.agent()
    const ping = (length: number) => ({ ...message('ping'), id: 'x'.repeat(length) })
    for (const body of [ping(MAX_ID_LENGTH + 1), [message('ping'), ping(900_000)]]) {
      const refused = await post(token, body)
      assert.equal(refused.status, 400)
      const { error } = (await refused.json()) as { error: { code: number; message: string } }
      assert.deepEqual([error.code, error.message], [-32600, 'Invalid Request: an id has at most 255 characters'])
    }
    assert.equal((await post(token, ping(MAX_ID_LENGTH))).status, 200)
  })

  test('[MCP-12] no odd method, host or resource is answered with 500', async () => {
    const { token } = await tenant.agent()
    const raw = (method: string, host: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const { hostname, port } = new URL(service.url)
        const socket = connect(Number(port), hostname)
        let answer = ''
        socket.on('data', (bytes) => (answer += bytes)).on('end', () => resolve(answer.slice(9, 12)))
        socket.on('error', reject)
        socket.write(
          `${method} /mcp HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nAccept: ${ACCEPT}\r\n` +
            'Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}',
        )
      })
    assert.equal(await raw('GET', 'a'), '405')
    for (const host of ['a b[', 'user:password@host', 'a:99999999']) assert.equal(await raw('POST', host), '400')
    const read = await post(token, message('resources/read', { uri: `sensorium://memories/${'a'.repeat(1_000_000)}` }))
    assert.equal(read.status, 400)
  })

  test('[MCP-13] metadata of listed memories is not read', async () => {
    const { token } = await tenant.agent()
    const metadata = { note: 'x'.repeat(1_000_000) }
    const ids: string[] = []
    for (let i = 0; i < 3; i++) {
      const body = {
        type: 'semantic',
        scope: 'agent',
        title: `Kiln ${i}`,
        content: 'Fires clay. '.repeat(500),
        metadata,
      }
      ids.push((await service.call('POST /v1/memories', { token, body })).body.id)
    }
    for (const target_memory_id of ids.slice(1)) {
      const body = { target_memory_id, relationship_type: 'related_to', metadata }
      await service.call(`POST /v1/memories/${ids[0]}/relationships`, { token, body })
    }
    const client = await connectMcp(service.url, token)
    const found = await useTool<{ memories: object[] }>(client, 'recall', { query: 'kiln clay' })
    assert.equal(found.result.memories.length, 3)
    const related = await useTool<{ related: object[] }>(client, 'explore_memory', { memory_id: ids[0] })
    assert.equal(related.result.related.length, 2)
    assert.equal((await client.listResources()).resources.length, 4)
    const whole = await useTool<{ memory: { content: string; metadata: object } }>(client, 'get_memory', {
      memory_id: ids[0],
    })
    assert.equal(whole.result.memory.content.length, 6_000)
    assert.deepEqual(whole.result.memory.metadata, {})
    await client.close()
  })

  test('[MCP-3] the events of one result share a bound on their data, and those that were cut say so', async () => {
    const { id, token } = await tenant.agent()
    const interest = { event_type: 'mega.*', priority: 0, enrichment_depth: 'none' }
    await service.call(`POST /v1/agents/${id}/interests`, { token, body: interest })
    const data = 'x'.repeat(500_000)
    for (let i = 0; i < 4; i++) {
      const body = { specversion: '1.0', type: 'mega.x', source: '/x', id: `mega-${engine.name}-${i}`, data }
      assert.equal((await service.call('POST /v1/events', { token, body })).status, 202)
    }
    const client = await connectMcp(service.url, token)
    const { result } = await useTool<{ deliveries: { data: string; data_is_cut?: boolean }[] }>(
      client,
      'check_mailbox',
      { limit: 20, data_characters: 1_048_576 },
    )
    const room = 1_048_576 - 2 * 500_002
    assert.deepEqual(
      result.deliveries.map(({ data, data_is_cut = false }) => [data.length, data_is_cut]),
      // What is cut is the beginning of the JSON, and an ellipsis.
      [
        [500_000, false],
        [500_000, false],
        [room + 1, true],
        [101, true],
      ],
    )
    await client.close()
  })
})
