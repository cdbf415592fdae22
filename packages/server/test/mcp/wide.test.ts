// MCP messages with very many members.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_ARGUMENTS, MAX_MEMBERS } from '../../src/mcp/member-limit.ts'
import { MAX_ERROR_TEXT } from '../../src/mcp/bound-exchange.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'

const message = (method: string, params: object = {}, id = 1) => ({ jsonrpc: '2.0', id, method, params })
const call = (name: string, args: object, id = 1) => message('tools/call', { name, arguments: args }, id)
const names = (count: number, value: unknown = 1) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, value]))

onBothEngines((engine) => {
  const service = serviceForSuite(engine, { RATE_LIMIT_AGENT: '1000' })
  const tenant = tenantForSuite(service)

  async function post(token: string, body: object): Promise<{ status: number; text: string }> {
    const response = await fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    })
    return { status: response.status, text: await response.text() }
  }

  const initialize = (experimental: object) =>
    message('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: { experimental },
      clientInfo: { name: 'test', version: '1.0.0' },
    })

  test('[MCP-40] members outside the arguments of tools are counted, in objects and arrays, long and short', async () => {
    const { token } = await tenant.agent()
    for (const count of [MAX_MEMBERS + 2, 80_000])
      for (const body of [
        initialize(names(count)),
        message('tools/list', { _meta: names(count) }),
        message('tools/list', { _meta: { list: Array(count).fill(1) } }),
        { ...message('ping'), arguments: names(count) },
        message('ping', { other: { arguments: names(count) } }),
        [message('ping', { _meta: names(count / 2) }), message('ping', { _meta: names(count / 2) }, 2)],
        Array(count).fill({}),
      ]) {
        const { status, text } = await post(token, body)
        assert.deepEqual([status, JSON.parse(text).error.code], [400, -32602], text.slice(0, 300))
        assert.match(text, /at most 1000 members/)
      }
    assert.equal((await post(token, message('tools/list', { _meta: names(MAX_MEMBERS - 10) }))).status, 200)
  })

  test('[MCP-40] a tool has few arguments, and each of them holds as much as an event may', async () => {
    const { token } = await tenant.agent()
    for (const count of [MAX_ARGUMENTS + 1, 80_000])
      for (const body of [
        call('check_mailbox', names(count)),
        [message('ping'), call('check_mailbox', names(count), 2)],
      ]) {
        const { status, text } = await post(token, body)
        assert.deepEqual([status, JSON.parse(text).error.code], [400, -32602], text.slice(0, 300))
      }
    const some = await post(token, call('check_mailbox', names(MAX_ARGUMENTS)))
    assert.match(some.text, /k0: expected a known field/)
    const two = await post(
      token,
      [1, 2].map((id) => call('check_mailbox', names(MAX_ARGUMENTS), id)),
    )
    assert.equal(two.text.match(/k0: expected a known field/g)?.length, 2, two.text.slice(0, 500))
    const data = { arguments: names(50_000), list: Array(50_000).fill(1) }
    const published = await post(token, [
      call('publish_event', { type: 'wide.x', data }),
      call('publish_event', { type: 'wide.y', data: Array(1_000).fill({ params: { arguments: {} } }) }, 2),
    ])
    assert.equal(published.text.match(/"event_id"/g)?.length, 2, published.text.slice(0, 500))
  })

  test('[MCP-41] a refusal is short, whatever it refuses', async () => {
    const { token } = await tenant.agent()
    for (const body of [
      initialize(names(MAX_MEMBERS - 20)),
      call('acknowledge', { delivery_ids: Array(400_000).fill(1) }),
      call('acknowledge', { delivery_ids: Array(100).fill(1) }),
      call('x'.repeat(100_000), {}),
    ]) {
      const { text } = await post(token, body)
      assert.match(text, /"error"|"isError":true/)
      assert.ok(text.length < MAX_ERROR_TEXT + 500, `${text.length} characters: ${text.slice(0, 300)}`)
    }
  })
})
