// Large responses, and clients that do not read them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { before, test } from 'node:test'
import { Exchange } from '../../src/http/exchange.ts'
import { largeResponses } from '../../src/http/large-responses.ts'
import { begunPieces, sendPieces } from '../../src/http/respond.ts'
import { streamDeliveries } from '../../src/http/stream-deliveries.ts'
import type { Pieces } from '../../src/operations/response.ts'
import { onBothEngines } from '../support/engines.ts'
import { inFlight } from '../support/in-flight.ts'
import { rawConnection } from '../support/raw-http.ts'
import { agentForSuite, serviceForSuite, tenantForSuite } from '../support/service.ts'

const EVENTS = 14
/** More than the kernel buffers between two sockets while the response is not read. */
const DATA = 'ü🚀x'.repeat(110_000)

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const agent = agentForSuite(tenant)
  before(async () => {
    await service.call(`POST /v1/agents/${agent.id}/interests`, {
      token: agent.token,
      body: { event_type: 'large.*', filter_expression: null, priority: 0, enrichment_depth: 'none' },
    })
    for (let i = 0; i < EVENTS; i++) await publish(`large-${i}`, 'large.one', DATA)
  })

  const publish = (id: string, type: string, data: string) =>
    service.call('POST /v1/events', { token: agent.token, body: { specversion: '1.0', type, source: '/s', id, data } })
  const head = (line: string, ...lines: string[]): string =>
    [line, 'Host: x', `Authorization: Bearer ${agent.token}`, ...lines, '', ''].join('\r\n')
  const poll = (): string => head('GET /v1/delivery/poll?limit=100 HTTP/1.1')

  async function leased(): Promise<number> {
    return (await service.call(`GET /v1/agents/${agent.id}/queue`, { token: agent.token })).body.leased
  }

  test('[SAFE-8] a response over 1 MiB is written in chunks, and is the same text', async () => {
    const { status, headers, body } = await service.call('GET /v1/delivery/poll?limit=100', { token: agent.token })
    assert.equal(status, 200)
    assert.equal(headers.get('transfer-encoding'), 'chunked')
    assert.equal(body.count, EVENTS)
    for (const { payload } of body.deliveries) assert.equal(payload.data, DATA)
    const small = await service.call('GET /v1/delivery/poll', { token: agent.token })
    assert.deepEqual([small.headers.get('content-length'), small.text], ['27', '{"deliveries":[],"count":0}'])
    await service.clock.advance(31_000)
  })

  test('[SAFE-9] requests pipelined behind an unread response are begun only when it is read', async () => {
    const connection = await rawConnection(service.url)
    connection.socket.pause()
    const publishes = Array.from({ length: 20 }, (_, i) => {
      const body = JSON.stringify({ specversion: '1.0', type: 'small.one', source: '/s', id: `behind-${i}`, data: {} })
      return head('POST /v1/events HTTP/1.1', 'Content-Type: application/json', `Content-Length: ${body.length}`) + body
    })
    connection.write(poll() + publishes.join(''))
    while ((await leased()) < EVENTS) await service.clock.rest()
    const begun = async (): Promise<number> => {
      const all = publishes.map((_, i) => service.call(`GET /v1/events/behind-${i}`, { token: agent.token }))
      return (await Promise.all(all)).filter(({ status }) => status === 200).length
    }
    while ((await begun()) < 7) await service.clock.rest()
    assert.equal(await begun(), 7)
    connection.socket.resume()
    while ((await begun()) < 20) await service.clock.rest()
    connection.socket.destroy()
    await service.clock.advance(31_000)
  })

  test('[SAFE-15] large responses behind another on their connection leave it a turn', async () => {
    const late = await tenant.agent()
    const call = (path: string, body: object) => service.call(path, { token: late.token, body })
    await call(`POST /v1/agents/${late.id}/interests`, { event_type: 'late.*', priority: 0, enrichment_depth: 'none' })
    const metadata = { text: 'x'.repeat(200_000) }
    for (let i = 0; i < 8; i++)
      await call('POST /v1/memories', { type: 'semantic', scope: 'agent', title: `m${i}`, content: 'c', metadata })
    const get = (path: string, ...lines: string[]): string =>
      [`GET ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${late.token}`, ...lines, '', ''].join('\r\n')
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    let text = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
    const list = '/v1/memories?limit=200'
    socket.write(get('/v1/delivery/poll?wait=20&limit=10') + get(list) + get(list, 'Connection: close'))
    const closed = once(socket, 'close')
    for (let i = 0; i < 5; i++) await service.clock.rest()
    const events = ['late-1', 'late-2', 'late-3', 'late-4'].map((id) => ({
      specversion: '1.0',
      type: 'late.one',
      source: '/s',
      id,
      data: DATA,
    }))
    const headers = { 'content-type': 'application/cloudevents-batch+json' }
    await service.call('POST /v1/events', { token: agent.token, body: events, headers })
    await closed
    assert.equal(text.match(/HTTP\/1.1 200 OK/g)?.length, 3)
  })

  test('[SAFE-7] a response of which nothing is read for 30 seconds is dropped', async () => {
    const connection = await rawConnection(service.url)
    connection.socket.pause()
    connection.write(poll())
    while ((await leased()) < EVENTS) await service.clock.rest()
    await service.clock.advance(20_000)
    assert.equal(await inFlight(service.url), 2)
    // The seconds count from when the response is stuck, which on PostgreSQL may be after the deliveries were leased.
    while ((await inFlight(service.url)) > 1) await service.clock.advance(1_000)
    connection.socket.resume()
    await connection.closed
  })
})

test('[SAFE-8] a piece is requested once those before it were read, and none after a disconnect', async (t) => {
  let asked = 0
  let ended = false
  async function* pieces(): AsyncGenerator<string> {
    try {
      for (; asked < 1_000; asked++) yield 'x'.repeat(500_000)
    } finally {
      ended = true
    }
  }
  let sent: Promise<void> | undefined
  const server = createServer((request, response) => {
    sent = sendPieces(new Exchange('req_1', request, response, () => () => {}), 200, pieces())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  // It stops by itself when the kernel's buffers are full.
  for (let quiet = 0, before = -1; quiet < 500; quiet = asked === before ? quiet + 1 : 0) {
    before = asked
    await new Promise(setImmediate)
  }
  assert.ok(asked > 0 && asked < 100, `${asked}`)
  socket.destroy()
  await sent
  assert.ok(ended && asked < 100)
})

test('[SAFE-15] a response in pieces is under way until it is taken, also one of less than 1 MiB', async (t) => {
  for (const length of [100_000, 900_000]) {
    const made: (string | Uint8Array)[] = ['x'.repeat(length / 2), Buffer.alloc(length / 2, 'y')]
    async function* pieces(): AsyncGenerator<string | Uint8Array> {
      yield* made
    }
    let first: ServerResponse | undefined
    let isSent = false
    const begun = Promise.withResolvers<void>()
    const server = createServer((request, response) => {
      if (!first) return void (first = response)
      const exchange = new Exchange('req_1', request, response, () => () => {})
      void sendPieces(exchange, 200, pieces()).then(() => (isSent = true))
      begun.resolve()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => server.close())
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    t.after(() => socket.destroy())
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2))
    await begun.promise
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
    assert.equal(isSent, false, 'the response in front is not there yet')
    first!.end()
    let text = ''
    for await (const chunk of socket) if ((text += chunk).endsWith('y'.repeat(length / 2))) break
    assert.match(text, new RegExp(`content-length: ${length}\r\n`, 'i'))
    while (!isSent) await new Promise(setImmediate)
  }
})

test('[SSE-1] a stream that is ended in the middle of a long delivery writes the rest of it first', async (t) => {
  const delivery = `data: ${DATA}\n\n`
  const server = createServer((request, response) => {
    const exchange = new Exchange('req_1', request, response, () => () => {})
    streamDeliveries((sink) => {
      setImmediate(() => {
        sink.write(delivery)
        sink.end('retry: 1000\n\n')
      })
      return { progressed() {}, drained() {}, gone() {} }
    }, exchange)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const headers = { authorization: 'Bearer token' }
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, { headers })
  assert.equal((await response.text()) === `: open\n\n${delivery}retry: 1000\n\n`, true)
})

test('[SAFE-8] pieces that are there at once leave others a turn after each 64 KiB, and a short body needs none', async (t) => {
  let made = 0
  let most = 0
  async function* pieces(count: number): AsyncGenerator<string> {
    for (let i = 0; i < count; i++) {
      made += 10_000
      most = Math.max(most, made)
      yield 'x'.repeat(10_000)
    }
  }
  let ticking = setImmediate(function next() {
    made = 0
    ticking = setImmediate(next)
  })
  t.after(() => clearImmediate(ticking))
  let answer: (pieces: AsyncGenerator<string>) => Promise<Pieces> = async (asked) => asked
  const server = createServer(async (request, response) => {
    const count = Number(request.url!.slice(1))
    await sendPieces(new Exchange('req_1', request, response, () => () => {}), 200, await answer(pieces(count)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  async function mostInTurn(count: number): Promise<number> {
    made = most = 0
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${count}`)
    assert.equal((await response.text()).length, count * 10_000)
    return most
  }
  for (answer of [async (asked: Pieces) => asked, begunPieces]) {
    assert.equal(await mostInTurn(6), 60_000)
    assert.equal(await mostInTurn(80), 70_000)
    assert.equal(await mostInTurn(400), 70_000)
  }
})

test('[SAFE-8] however many wait to be written, none is refused: their work is done', async () => {
  const sendInTurn = largeResponses()
  const caller = { tenantId: 'ten_1', id: 'agt_1' }
  let sent = 0
  const send = async (): Promise<void> => void sent++
  await Promise.all(Array.from({ length: 3_000 }, () => sendInTurn(caller, send)))
  assert.equal(sent, 3_000)
})
