// MCP over HTTP with the official client.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { TOOLS } from '../../src/mcp/make-mcp-server.ts'
import { snippet } from '../../src/kernel/beginning-of.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import { connectMcp, useTool } from './tools.ts'

const WANTED = [
  'publish_event', 'check_mailbox', 'acknowledge', 'give_back', 'subscribe', 'unsubscribe', 'list_subscriptions',
  'remember', 'recall', 'update_memory', 'forget', 'relate', 'explore_memory', 'promote_memory', 'list_agents',
  'list_channels', 'post_to_channel', 'explain_event', 'trace_event', 'find_similar_memories', 'merge_memories',
] // biome-ignore format: a list of names

test('[MCP-3] a truncated text ends with a whole character', () => {
  for (const before of ['', 'x']) {
    const text = before + '🙂'.repeat(300)
    assert.ok(snippet(text, 300).isWellFormed())
    assert.ok(text.startsWith(snippet(text, 300).slice(0, -1)))
  }
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)

  test('[MCP-1][MCP-2] an API key as the bearer is enough; every tool has schemas, a description and annotations', async () => {
    const agent = await tenant.agent()
    const client = await connectMcp(service.url, agent.key)
    const { tools } = await client.listTools()
    assert.deepEqual(
      WANTED.filter((name) => !tools.some((tool) => tool.name === name)),
      [],
    )
    assert.equal(tools.length, TOOLS.length)
    for (const tool of tools) {
      assert.ok(tool.description!.length > 20, tool.name)
      assert.equal(tool.inputSchema.type, 'object')
      assert.ok(tool.outputSchema, tool.name)
      assert.equal(typeof tool.annotations?.readOnlyHint, 'boolean')
      assert.equal(typeof tool.annotations?.idempotentHint, 'boolean')
    }
    assert.match(client.getInstructions()!, /check_mailbox/)
    await client.close()
  })

  test('[MCP-1] without a bearer token, with a wrong one and with a revoked key it is 401', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
    for (const token of [null, 'nonsense', `ak_live_${'x'.repeat(32)}`]) {
      const reply = await service.call('POST /mcp', { token, body })
      assert.equal(reply.status, 401)
      assert.equal(reply.body.error.code, 'authentication_failed')
      assert.equal(reply.headers.get('www-authenticate'), 'Bearer')
    }
    const agent = await tenant.agent()
    const client = await connectMcp(service.url, agent.key)
    await service.call(`DELETE /v1/agents/${agent.id}/keys/${agent.keyId}`, { token: tenant.admin })
    await assert.rejects(client.callTool({ name: 'list_agents', arguments: {} }))
  })

  test('[MCP-2] an agent subscribes, is sent an event, handles it and remembers', async () => {
    const agent = await tenant.agent()
    const client = await connectMcp(service.url, agent.token)
    const made = await useTool<{ subscription_id: string }>(client, 'subscribe', {
      event_type: 'mcp.*',
      filter: 'data.n > 1',
    })
    const listed = await useTool<{ subscriptions: object[] }>(client, 'list_subscriptions')
    assert.deepEqual(listed.result.subscriptions, [made.result])
    const why = await useTool<{ recipients: { agent_id: string }[] }>(client, 'explain_event', {
      type: 'mcp.x',
      data: { n: 2 },
    })
    assert.deepEqual(
      why.result.recipients.map(({ agent_id }) => agent_id),
      [agent.id],
    )
    const sent = await useTool<{ event_id: string; recipients: number }>(client, 'publish_event', {
      type: 'mcp.x',
      data: { n: 2 },
    })
    assert.equal(sent.result.recipients, 1)
    const box = await useTool<{ deliveries: { delivery_id: string; data: unknown }[] }>(client, 'check_mailbox')
    assert.deepEqual(box.result.deliveries[0]!.data, { n: 2 })
    const { delivery_id } = box.result.deliveries[0]!
    assert.deepEqual((await useTool(client, 'give_back', { delivery_ids: [delivery_id], reason: 'not yet' })).result, {
      given_back: 1,
    })
    assert.equal((await useTool<{ count: number }>(client, 'check_mailbox')).result.count, 1)
    assert.deepEqual((await useTool(client, 'acknowledge', { delivery_ids: [delivery_id] })).result, {
      acknowledged: 1,
    })
    const trace = await useTool<{ deliveries: { state: string }[] }>(client, 'trace_event', {
      event_id: sent.result.event_id,
    })
    assert.equal(trace.result.deliveries[0]!.state, 'acknowledged')
    await useTool(client, 'unsubscribe', { subscription_id: made.result.subscription_id })
    assert.deepEqual(
      (await useTool<{ subscriptions: object[] }>(client, 'list_subscriptions')).result.subscriptions,
      [],
    )
    await client.close()
  })

  test('[MCP-15] whole numbers of 64 bits are published, delivered and remembered exactly', async () => {
    const agent = await tenant.agent()
    const interest = { event_type: 'com.long', priority: 0, enrichment_depth: 'none' }
    await service.call(`POST /v1/agents/${agent.id}/interests`, {
      token: agent.token,
      body: { ...interest, filter_expression: 'data.n == 9007199254740993' },
    })
    // The official client would round them itself.
    const tool = async (name: string, given: string): Promise<string> => {
      const params = `{"name":"${name}","arguments":${given}}`
      const { text } = await service.call('POST /mcp', {
        token: agent.key,
        raw: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`,
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      })
      return text
    }
    const data = '{"n":9007199254740993,"half":0.5,"list":[-9223372036854775808,12]}'
    const shownTwice = (text: string, json: string): void => {
      assert.ok(text.includes(json), `structured: ${text}`)
      assert.ok(text.includes(JSON.stringify(json).slice(1, -1)), `as text: ${text}`)
    }
    assert.match(await tool('publish_event', `{"type":"com.long","id":"long-1","data":${data}}`), /"recipients":1/)
    shownTwice(await tool('check_mailbox', '{}'), `"data":${data}`)
    shownTwice(await tool('trace_event', '{"event_id":"long-1"}'), `"data":${data}`)
    const metadata = '{"order":9007199254740993}'
    const made = await tool('remember', `{"title":"Order","content":"Was late","metadata":${metadata}}`)
    const [id] = /mem_[0-9a-z]+/.exec(made)!
    shownTwice(await tool('get_memory', `{"memory_id":"${id}"}`), `"metadata":${metadata}`)
  })

  test('[MCP-14] a post reaches the other members of a channel, and a reply its sender', async () => {
    const [one, two, stranger] = [await tenant.agent(), await tenant.agent(), await tenant.agent()]
    const room = await service.call('POST /v1/channels', { token: one.token, body: { name: 'Room', type: 'open' } })
    await service.call(`POST /v1/channels/${room.body.id}/members`, {
      token: two.token,
      body: { participant_type: 'agent', participant_id: two.id },
    })
    const [mine, theirs, outside] = await Promise.all(
      [one, two, stranger].map(({ key }) => connectMcp(service.url, key)),
    )
    type Box = { deliveries: Record<string, unknown>[] }
    const post = { channel_id: room.body.id, text: 'Who is on call?', reply_to: one.id, id: 'post-1' }
    const sent = await useTool<{ recipients: number }>(mine!, 'post_to_channel', post)
    assert.equal(sent.result.recipients, 1)
    assert.equal((await useTool<{ status: string }>(mine!, 'post_to_channel', post)).result.status, 'duplicate')
    const [arrived] = (await useTool<Box>(theirs!, 'check_mailbox')).result.deliveries
    assert.deepEqual(
      [arrived!['type'], arrived!['data'], arrived!['recipient'], arrived!['reply_to']],
      ['com.sensorium.channel.posted', { text: 'Who is on call?' }, room.body.id, one.id],
    )
    await useTool(theirs!, 'publish_event', {
      type: 'com.example.reply',
      recipient: arrived!['reply_to'],
      correlation_id: arrived!['event_id'],
      caused_by: arrived!['event_id'],
    })
    const [reply] = (await useTool<Box>(mine!, 'check_mailbox')).result.deliveries
    assert.deepEqual([reply!['correlation_id'], reply!['caused_by'], reply!['recipient']], ['post-1', 'post-1', one.id])
    const refused = await useTool<{ error: { details: { rule: string } } }>(outside!, 'post_to_channel', {
      channel_id: room.body.id,
      text: 'hello',
    })
    assert.ok(refused.isError)
    assert.equal(refused.result.error.details.rule, 'not_a_member')
    for (const channel_id of [two.id, 'Room']) {
      const wrong = await useTool<{ error: object }>(mine!, 'post_to_channel', { channel_id, text: 'hello' })
      assert.deepEqual(wrong.result.error, {
        code: 'not_found',
        message: 'There is no such channel: channel_id is an id from list_channels',
        details: { resource_type: 'channel', resource_id: channel_id },
      })
    }
    await Promise.all([mine!, theirs!, outside!].map((client) => client.close()))
  })

  test('[MCP-3] memory: results are short, and the whole memory is fetched by its id', async () => {
    const agent = await tenant.agent()
    const client = await connectMcp(service.url, agent.token)
    const content = `The coolant valve sticks. ${'Details follow. '.repeat(100)}`
    const kept = await useTool<{ id: string; snippet: string }>(client, 'remember', {
      title: 'Pump 7 runs hot',
      content,
    })
    assert.ok(kept.result.snippet.length < 400)
    const other = await useTool<{ id: string }>(client, 'remember', {
      title: 'Valves',
      content: 'Spares are with Hansen.',
    })
    const found = await useTool<{ memories: { id: string; snippet: string; score: number }[] }>(client, 'recall', {
      query: 'coolant valve',
    })
    assert.equal(found.result.memories[0]!.id, kept.result.id)
    assert.ok(found.result.memories[0]!.snippet.length < 400)
    const whole = await useTool<{ memory: { content: string } }>(client, 'get_memory', { memory_id: kept.result.id })
    assert.equal(whole.result.memory.content, content)
    await useTool(client, 'relate', {
      memory_id: kept.result.id,
      target_memory_id: other.result.id,
      relationship_type: 'related_to',
    })
    const around = await useTool<{ related: { memory: { id: string } }[] }>(client, 'explore_memory', {
      memory_id: other.result.id,
    })
    assert.deepEqual(
      around.result.related.map(({ memory }) => memory.id),
      [kept.result.id],
    )
    await useTool(client, 'update_memory', { memory_id: other.result.id, content: 'Spares are with Olsen.' })
    await useTool(client, 'promote_memory', { memory_id: other.result.id, scope: 'institutional' })
    const stored = await service.call(`GET /v1/memories/${other.result.id}`, { token: tenant.admin })
    assert.deepEqual([stored.body.scope, stored.body.content], ['institutional', 'Spares are with Olsen.'])
    await useTool(client, 'forget', { memory_id: kept.result.id })
    assert.equal((await service.call(`GET /v1/memories/${kept.result.id}`, { token: agent.token })).status, 404)
    await client.close()
  })

  test('[MCP-2] scopes and tenancy of the caller hold, and a refusal has its code', async () => {
    const sender = await tenant.agent({ scopes: ['send'] })
    const client = await connectMcp(service.url, sender.token)
    const refused = await useTool<{ error: { code: string; details: object } }>(client, 'remember', {
      title: 'a',
      content: 'b',
    })
    assert.equal(refused.isError, true)
    assert.deepEqual(
      [refused.result.error.code, refused.result.error.details],
      ['insufficient_scope', { required_scope: 'memory:write' }],
    )
    const elsewhere = await (await service.tenant()).agent()
    const stranger = await connectMcp(service.url, elsewhere.token)
    const own = await service.call('POST /v1/memories', {
      token: tenant.admin,
      body: { type: 'semantic', scope: 'institutional', title: 'ours', content: 'ours' },
    })
    const unseen = await useTool<{ error: { code: string } }>(stranger, 'get_memory', { memory_id: own.body.id })
    assert.equal(unseen.result.error.code, 'not_found')
    const wrong = await client.callTool({ name: 'check_mailbox', arguments: { limit: 1000 } })
    assert.equal(wrong.isError, true)
    await client.close()
    await stranger.close()
  })

  test('[MCP-4] a subscriber to its mailbox is notified of its deliveries, and of no others', async () => {
    const [agent, neighbour] = [await tenant.agent(), await tenant.agent()]
    for (const { id, token } of [agent, neighbour]) {
      const body = { event_type: `listen.${id}`, priority: 0, enrichment_depth: 'none' }
      assert.equal((await service.call(`POST /v1/agents/${id}/interests`, { token, body })).status, 201)
    }
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
    const headers = { authorization: `Bearer ${agent.token}` }
    await client.connect(new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { requestInit: { headers } }))
    const heard: string[] = []
    let told!: () => void
    const first = new Promise<void>((resolve) => (told = resolve))
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      heard.push(params.uri)
      told()
    })
    const subscription = await client.listen({ resourceSubscriptions: ['sensorium://mailbox'] })
    const publish = (to: string) =>
      service.call('POST /v1/events', {
        token: agent.token,
        body: { specversion: '1.0', type: `listen.${to}`, source: '/s', id: to },
      })
    await publish(neighbour.id)
    await publish(agent.id)
    await first
    assert.deepEqual(heard, ['sensorium://mailbox'])
    const read = await client.readResource({ uri: 'sensorium://mailbox' })
    assert.equal(JSON.parse((read.contents[0] as { text: string }).text).queue.pending, 1)
    await subscription.close()
    await client.close()
  })

  test('[MCP-4][MCP-5] memories are resources, and there are two prompts', async () => {
    const agent = await tenant.agent()
    const client = await connectMcp(service.url, agent.token)
    const kept = await useTool<{ id: string }>(client, 'remember', { title: 'A resource', content: 'with content' })
    const { resources } = await client.listResources()
    const { name, title } = resources.find(({ uri }) => uri === `sensorium://memories/${kept.result.id}`)!
    assert.deepEqual([name, title], ['A resource', 'A resource'], 'programs show the title')
    const read = await client.readResource({ uri: `sensorium://memories/${kept.result.id}` })
    assert.equal(JSON.parse((read.contents[0] as { text: string }).text).content, 'with content')
    const { prompts } = await client.listPrompts()
    assert.deepEqual(prompts.map(({ name }) => name).sort(), ['triage_my_mailbox', 'what_do_i_know_about'])
    const prompt = await client.getPrompt({ name: 'what_do_i_know_about', arguments: { topic: 'valves' } })
    assert.match((prompt.messages[0]!.content as { text: string }).text, /valves/)
    await client.close()
  })

  test('[MCP-8] a page of another origin is refused', async () => {
    const agent = await tenant.agent()
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
    const reply = await service.call('POST /mcp', {
      token: agent.token,
      body,
      headers: { origin: 'https://evil.example' },
    })
    assert.equal(reply.status, 403)
  })

  if (engine.name === 'postgres') {
    test('[MCP-7] requests are independent: a call may go to another node than the handshake', async () => {
      const other = await service.another()
      const agent = await tenant.agent()
      const headers = { authorization: `Bearer ${agent.token}` }
      let requests = 0
      const client = new Client({ name: 'test', version: '1.0.0' })
      const turnabout: typeof fetch = (input, init) => {
        const url = String(input)
        return fetch(requests++ % 2 === 0 ? url : url.replace(service.url, other.url), init)
      }
      const transport = new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), {
        requestInit: { headers },
        fetch: turnabout,
      })
      await client.connect(transport)
      for (let n = 0; n < 4; n++) assert.equal((await useTool(client, 'list_agents')).isError, false)
      await client.close()
      await other.stop()
    })
  }
})
