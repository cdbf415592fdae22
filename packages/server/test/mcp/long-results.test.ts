// Long results of MCP: few at a time, in steps, and as fast as the client takes them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/server'
import { operations as described } from '@sensorium/contract'
import { callerInProcess } from '../../src/mcp/caller.ts'
import { largeResponses } from '../../src/http/large-responses.ts'
import { passOnInSteps } from '../../src/kernel/json-steps.ts'
import { boundExchange } from '../../src/mcp/bound-exchange.ts'
import { LongData, readListedEvent } from '../../src/mcp/long-data.ts'
import { makeMcpServer } from '../../src/mcp/make-mcp-server.ts'
import { makeResultTurn } from '../../src/mcp/result-turn.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import { connectMcp, noEvents, useTool } from './tools.ts'

const trace = (event_id: string, id: number) => ({
  jsonrpc: '2.0' as const,
  id,
  method: 'tools/call',
  params: { name: 'trace_event', arguments: { event_id } },
})
const wide = (count: number) => Array.from({ length: count }, () => ({}))

test('[MCP-42] [MCP-43] a message waits until the answer before is taken, and the library gets no long text', async () => {
  const event = { data: wide(100_000), text: 'x'.repeat(100_000) }
  let calls = 0
  let steps = 0
  let under = 0
  let take = (): void => {}
  const held: string[] = []
  const sent: JSONRPCMessage[] = []
  const pause = async (): Promise<void> => void steps++
  const call = async () => {
    calls++
    return { event, deliveries: [] } as never
  }
  const caller = { id: 'agent', pause, call, events: noEvents }
  const server = makeMcpServer(() => caller, { version: '1.0.0', agentId: null, subscribes: false })
  const [near, far] = InMemoryTransport.createLinkedPair()
  await boundExchange(server, {
    mayBegin: pause,
    turn: pause,
    outlet: {
      hold: (result) => ({ held: String(held.push(Buffer.concat(result).toString())) }),
      taken: () => new Promise((resolve) => (take = resolve)),
    },
    resultTurn: { take: async () => void (under = 1), leave: () => void (under = 0) },
  }).connect(far)
  near.onmessage = (message) => sent.push(message)
  await near.start()
  for (let id = 1; id <= 3; id++) void near.send(trace('e', id))
  for (let id = 1; id <= 3; id++) {
    while (sent.length < id) await nextTurn()
    for (let i = 0; i < 20; i++) await nextTurn()
    assert.deepEqual([calls, sent.length, under], [id, id, 1], 'the next one waits')
    take()
    await Promise.resolve()
    assert.equal(under, 0)
  }
  assert.deepEqual(
    sent.map((message) => 'result' in message && message.result),
    [1, 2, 3].map((id) => ({ held: String(id) })),
  )
  const { content, structuredContent } = JSON.parse(held[0]!)
  assert.deepEqual(structuredContent, { event, deliveries: [] })
  assert.equal(content[0].text, JSON.stringify({ event, deliveries: [] }))
  // A step writes 4,096 characters, or up to six times as many of a text with escapes.
  assert.ok(steps > (3 * held[0]!.length) / 24_576, String(steps))
  await near.close()
})

test('[MCP-43] a response ends if its long result cannot be finished', async () => {
  const call = async () => ({ event: { data: wide(100_000) }, deliveries: [] }) as never
  const caller = { id: 'agent', pause: nextTurn, call, events: noEvents }
  const server = makeMcpServer(() => caller, { version: '1.0.0', agentId: null, subscribes: false })
  const [near, far] = InMemoryTransport.createLinkedPair()
  await boundExchange(server, {
    mayBegin: nextTurn,
    turn: () => Promise.reject(new Error('the client has gone away')),
    outlet: { hold: () => ({}), taken: async () => {} },
    resultTurn: { take: async () => {}, leave: () => {} },
  }).connect(far)
  const closed = new Promise<void>((resolve) => (near.onclose = resolve))
  await near.start()
  void near.send(trace('e', 1))
  await closed
})

test('[MCP-43] an agent has two long results under way, and one that waited in vain gives its turn back', async () => {
  const inTurn = largeResponses()
  const [first, second, third, fourth] = Array.from({ length: 4 }, () =>
    makeResultTurn(inTurn, { tenantId: 'tenant', id: 'agent' }, async () => {}),
  )
  const begun: number[] = []
  await first!.take()
  await first!.take()
  await second!.take()
  void third!.take().then(() => begun.push(3))
  void fourth!.take().then(() => begun.push(4))
  await nextTurn()
  assert.equal(begun.length, 0)
  third!.leave() // its client has left
  first!.leave()
  await nextTurn()
  assert.deepEqual(begun, [3, 4])
  void first!.take().then(() => begun.push(1))
  await nextTurn()
  assert.deepEqual(begun, [3, 4])
  second!.leave()
  await nextTurn()
  assert.deepEqual(begun, [3, 4, 1])
  // A tool that goes on after its client has left takes no turn, which nobody would end.
  first!.close()
  fourth!.close()
  await assert.rejects(first!.take(), /gone away/)
  await assert.rejects(fourth!.take(), /gone away/)
  await Promise.all([second!.take(), third!.take()])
})

test('[MCP-43] no turn is taken for an answer that has to wait behind another on its connection', async () => {
  const inTurn = largeResponses()
  const who = { tenantId: 'tenant', id: 'agent' }
  const front = Promise.withResolvers<void>()
  const behind = Array.from({ length: 2 }, () => makeResultTurn(inTurn, who, () => front.promise))
  const begun = behind.map((turn) => turn.take())
  await makeResultTurn(inTurn, who, async () => {}).take()
  front.resolve()
  await Promise.any(begun)
})

test('[MCP-53] what was leased for a client that goes away while the result is made is given back', async () => {
  let givenBack = 0
  const items = ['{"id":"dlv_1"}', '{"id":"dlv_2"}']
  const operations = { perform: async () => ({ status: 200, items, putBack: async () => void givenBack++ }) }
  const resultTurn = makeResultTurn(largeResponses(), { tenantId: 'tenant', id: 'agent' }, async () => {})
  let turns = 0
  const readWith = async (pause: () => Promise<void>): Promise<number> => {
    const tools = { operations: operations as never, principal: { id: 'agent' } as never, options: {} }
    const caller = callerInProcess({ ...tools, pause, resultTurn })
    let read = 0
    for await (const _ of caller.events(described.pollDeliveries, {})) read++
    return read
  }
  assert.equal(await readWith(async () => {}), 2)
  assert.equal(givenBack, 0)
  const gone = async (): Promise<void> => {
    if (++turns === 1) throw new Error('the client has gone away')
  }
  await assert.rejects(readWith(gone), /gone away/)
  assert.equal(givenBack, 1)
})

test('[MCP-15] [MCP-43] long values are read in steps, with whole numbers of 64 bits as they came', async () => {
  let steps = 0
  const pause = async (): Promise<void> => void steps++
  const text = `{"n":9223372036854775807,"list":[${'{},'.repeat(50_000)}-9223372036854775808]}`
  assert.equal(JSON.stringify(await passOnInSteps(text, pause)), text)
  assert.ok(steps > 30, String(steps))
})

test('[MCP-43] long data of an event in a list does not become a value', async () => {
  const data = JSON.stringify(wide(20_000))
  const event = `{"type":"a.b","data":${data},"n":9223372036854775807}`
  const pause = async (): Promise<void> => {}
  const read = (await readListedEvent(`{"id":"d","payload":${event},"attempt_count":1}`, pause)) as {
    payload: { data: LongData }
  }
  assert.deepEqual(read.payload.data, new LongData(data))
  assert.equal(
    JSON.stringify({ ...read, payload: { ...read.payload, data: 1 } }),
    '{"id":"d","attempt_count":1,"payload":{"type":"a.b","n":9223372036854775807,"data":1}}',
  )
  assert.deepEqual(await readListedEvent('{"id":"d","payload":{"data":[1]}}', pause), {
    id: 'd',
    payload: { data: [1] },
  })
  const text = 'x'.repeat(50_000)
  assert.deepEqual(await readListedEvent(`{"payload":"${text}"}`, pause), { payload: text })
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine, { RATE_LIMIT_AGENT: '1000' })
  const tenant = tenantForSuite(service)

  /** Publishes events of 300 kB to an agent of their own. */
  async function withLongEvents(count: number) {
    const agent = await tenant.agent()
    const { token } = agent
    const interest = { event_type: 'long.*', priority: 0, enrichment_depth: 'none' }
    await service.call(`POST /v1/agents/${agent.id}/interests`, { token, body: interest })
    const data = [...wide(100_000), 'é😀"']
    const ids: string[] = []
    for (let i = 0; i < count; i++) {
      const body = { specversion: '1.0', type: 'long.x', source: '/x', id: `${agent.id}-${i}`, data }
      ids.push((await service.call('POST /v1/events', { token, body })).body.event_id)
    }
    return { agent, data, ids }
  }

  test('[MCP-42] [MCP-43] a batch of long results is answered whole', async () => {
    const { agent, data, ids } = await withLongEvents(2)
    const response = await fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${agent.token}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      },
      body: JSON.stringify([trace(ids[0]!, 1), trace(ids[1]!, 2), { jsonrpc: '2.0', id: 3, method: 'ping' }]),
    })
    const answers = Array.from((await response.text()).matchAll(/^data: (.+)$/gm), ([, json]) => JSON.parse(json!))
    assert.deepEqual(
      answers.map(({ id }) => id),
      [1, 2, 3],
    )
    for (const { result } of answers.slice(0, 2)) {
      assert.deepEqual(result.structuredContent.event.data, data)
      assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent)
    }
    const client = await connectMcp(service.url, agent.token)
    const alone = await useTool<{ event: { data: unknown } }>(client, 'trace_event', { event_id: ids[0] })
    assert.deepEqual(alone.result.event.data, data)
    await client.close()
  })

  test('[MCP-3] the mailbox shows the beginning of long data, in check_mailbox and as a resource', async () => {
    const { agent, data } = await withLongEvents(3)
    const client = await connectMcp(service.url, agent.token)
    const beginning = `${JSON.stringify(data).slice(0, 4_000)}…`
    type Mailbox = { deliveries: { delivery_id: string; data: unknown; data_is_cut?: boolean }[]; count: number }
    const { result } = await useTool<Mailbox>(client, 'check_mailbox', { limit: 2 })
    assert.equal(result.count, 2)
    for (const { data: shown, data_is_cut } of result.deliveries)
      assert.deepEqual([shown, data_is_cut], [beginning, true])
    const more = await useTool<Mailbox>(client, 'check_mailbox', { data_characters: 1_000_000 })
    assert.deepEqual(more.result.deliveries[0]!.data, data)

    const delivery_ids = [...result.deliveries, ...more.result.deliveries].map(({ delivery_id }) => delivery_id)
    await useTool(client, 'acknowledge', { delivery_ids })
    const { contents } = await client.readResource({ uri: 'sensorium://mailbox' })
    const { recent_events } = JSON.parse((contents[0] as { text: string }).text)
    assert.equal(recent_events.length, 3)
    for (const event of recent_events) {
      assert.deepEqual([event.data, event.data_is_cut, event.type], [beginning, true, 'long.x'])
      assert.ok(delivery_ids.includes(event.delivery_id))
    }
    await client.close()
  })
})
