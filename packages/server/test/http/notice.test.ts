// A node that is told to stop serves on for a while, and tells load balancers and clients to go elsewhere.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { asleep } from '../support/asleep.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { rawConnection } from '../support/raw-http.ts'
import { agentForSuite, serviceForSuite, tenantForSuite } from '../support/service.ts'

onBothEngines((engine) => {
  const node = serviceForSuite(engine, { DRAIN_S: '20' })
  const agent = agentForSuite(tenantForSuite(node))
  before(async () => {
    const body = { event_type: 'com.test.*', filter_expression: 'true', priority: 0, enrichment_depth: 'none' }
    const made = await node.call(`POST /v1/agents/${agent.id}/interests`, { token: agent.token, body })
    assert.equal(made.status, 201)
  })

  test('[NODE-7] it is not ready at once, and serves on until DRAIN_S has passed', async () => {
    const ask = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${agent.token}\r\n\r\n`
    const [kept, pipelined] = [await rawConnection(node.url), await rawConnection(node.url)]
    kept.write(ask('/healthz'))
    assert.equal((await kept.reply()).headers['connection'], 'keep-alive')
    const poll = await asleep(node.clock, () => node.call('GET /v1/delivery/poll?wait=15', { token: agent.token }))

    const notice = await asleep(node.clock, () => node.app.giveNotice())
    assertError(await node.call('GET /readyz'), 'service_unavailable')
    assert.equal((await node.call('GET /healthz')).status, 200)
    assert.equal(poll.hasEnded(), false)
    kept.write(ask(`/v1/agents/${agent.id}`))
    const served = await kept.reply()
    assert.deepEqual([served.status, served.headers['connection']], [200, 'close'])
    await kept.closed
    for (const path of ['/console', '/mcp', '/v1/nowhere'])
      assert.equal((await node.call(`GET ${path}`)).headers.get('connection'), 'close', path)
    const named = await node.call('GET /healthz', { headers: { 'x-request-id': 'connection' } })
    assert.equal(named.headers.get('connection'), 'close', 'whatever the values of other headers are')

    // The connection ends with the last of the requests that are on their way.
    pipelined.write(ask('/v1/agents') + ask('/healthz') + ask('/v1/channels'))
    const replies = [await pipelined.reply(), await pipelined.reply(), await pipelined.reply()]
    assert.deepEqual(
      replies.map(({ status, headers }) => [status, headers['connection']]),
      [
        [200, 'keep-alive'],
        [200, 'keep-alive'],
        [200, 'close'],
      ],
    )
    await pipelined.closed

    const event = { specversion: '1.0', id: 'late', source: '/test', type: 'com.test.late' }
    assert.equal((await node.call('POST /v1/events', { token: agent.token, body: event })).status, 202)
    const polled = await poll.result
    assert.equal(polled.body.count, 1, 'a poll that waits gets what comes')
    assert.equal(polled.headers.get('connection'), 'close')

    await node.clock.advance(19_000)
    assert.equal(notice.hasEnded(), false)
    assert.equal((await node.call('GET /v1/agents', { token: agent.token })).status, 200)
    await node.clock.advance(1_000)
    await notice.result
    assert.equal(node.app.cutNoticeShort(), false)
  })

  test('[NODE-7] a request behind the response that ends its connection is not carried out', async () => {
    const connection = await rawConnection(node.url)
    const head = `host: x\r\nauthorization: Bearer ${agent.token}\r\n`
    const first = await asleep(node.clock, () => {
      connection.write(`GET /v1/delivery/poll?wait=15 HTTP/1.1\r\n${head}\r\nGET /healthz HTTP/1.1\r\n${head}\r\n`)
      return connection.reply()
    })
    // Both requests have arrived with the one segment; the second has its response, which waits for the first.
    assert.equal((await node.call('GET /healthz')).status, 200)
    const body = JSON.stringify({ specversion: '1.0', id: 'behind', source: '/test', type: 'com.other' })
    const length = `content-type: application/json\r\ncontent-length: ${body.length}\r\n`
    connection.write(`POST /v1/events HTTP/1.1\r\n${head}${length}\r\n${body}`)
    assert.equal((await node.call('GET /healthz')).status, 200)
    await node.clock.advance(15_000)
    assert.equal((await first.result).status, 200)
    assert.equal((await connection.reply()).headers['connection'], 'close')
    await connection.closed
    assertError(await node.call('GET /v1/events/behind', { token: agent.token }), 'not_found')
  })

  test('[NODE-7] the wait can be cut short, once', async () => {
    const { result, hasEnded } = await asleep(node.clock, () => node.app.giveNotice())
    assert.equal(hasEnded(), false)
    assert.equal(node.app.cutNoticeShort(), true)
    await result
    assert.equal(node.app.cutNoticeShort(), false)
  })
})
