// Endpoints that respond in unusual ways: every push ends, and nothing of it stays behind.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { ClientRequest, IncomingMessage } from 'node:http'
import net, { type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { makePost } from '../../src/outbound/post.ts'
import { safeAddress } from '../../src/outbound/safe-address.ts'
import { onBothEngines } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { startService } from '../support/service.ts'
import { MAILBOX, outboundCalls, startReceiver, until } from './tools.ts'

const UPGRADE = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'

/** Starts an endpoint that calls `respond` with the socket for each request. */
async function startRaw(t: TestContext, respond: (socket: Socket) => void): Promise<{ url: string }> {
  const sockets = new Set<Socket>()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    // A request is whole when its body, a JSON object, is.
    socket.on('data', (chunk) => chunk.toString().endsWith('}') && respond(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

function postFor(t: TestContext) {
  const address = safeAddress(
    async () => [],
    () => true,
  )
  const post = makePost(fakeClock(), address)
  t.after(() => post.close())
  return post
}

/** Writes the same text until the socket is closed. */
function writeForever(socket: Socket, text: string): void {
  if (!socket.destroyed) socket.write(text, () => setImmediate(writeForever, socket, text))
}

const writes =
  (text: string) =>
  (socket: Socket): void =>
    void socket.write(text)

const RESPONSES: [what: string, respond: (socket: Socket) => void, exchange: Record<string, unknown>][] = [
  ['an upgrade', writes(UPGRADE), { status: 101 }],
  ['a 101 without an upgrade', writes('HTTP/1.1 101 Odd\r\n\r\n'), { status: 101 }],
  ['interim responses', writes('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(10) + OK), { status: 200 }],
  [
    'one interim response too many',
    writes('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(11) + OK),
    { error: 'too many 1xx responses' },
  ],
  [
    'interim responses without end',
    (socket) => writeForever(socket, 'HTTP/1.1 100 Continue\r\n\r\n'),
    { error: 'too many 1xx responses' },
  ],
  [
    'a header without end',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\na: ')
      writeForever(socket, 'x'.repeat(1_000))
    },
    { error: 'connection failed: Parse Error: Header overflow' },
  ],
  ['a closed connection', (socket) => void socket.end(), { error: 'connection failed: socket hang up' }],
  [
    'trailers that cannot be parsed',
    writes('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\0\r\n\r\n'),
    { status: 200 },
  ],
  [
    'a body that ends early',
    (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx'),
    { status: 200 },
  ],
  ['two responses', writes(OK + OK), { status: 200 }],
]

for (const [what, respond, expected] of RESPONSES) {
  test(`[PUSH-16] an exchange ends after ${what}`, async (t) => {
    const { url } = await startRaw(t, respond)
    const { retryAfter: _, ...exchange } = (await postFor(t)(url, {}, '{}', MAILBOX)) as Record<string, unknown>
    assert.deepEqual(exchange, expected)
  })
}

test('[PUSH-16] a connection that is reset after the status sends nothing again', async (t) => {
  let requests = 0
  const { url } = await startRaw(t, (socket) => {
    // The first response keeps its connection; on a kept one, a reset before a status would mean a second request.
    if (++requests === 1) return void socket.write(OK)
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx', () => setImmediate(() => socket.resetAndDestroy()))
  })
  const post = postFor(t)
  for (let i = 0; i < 2; i++)
    assert.deepEqual(await post(url, {}, '{}', MAILBOX), { status: 200, retryAfter: undefined })
  assert.equal(requests, 2)
})

for (const [kept, result, what] of [
  [2, { status: 200, retryAfter: undefined }, 'is made again over others, and at last over a new one'],
  [4, { error: 'connection failed: closed by the endpoint' }, 'fails after three'],
] as const)
  test(`[PUSH-16] a push over ${kept} kept connections that turn out to be closed ${what}`, async (t) => {
    const waiting = new Set<Socket>()
    const used = new Set<Socket>()
    let requests = 0
    const { url } = await startRaw(t, (socket) => {
      requests++
      if (used.has(socket)) return void socket.destroy()
      // Connections are made until there are enough: each has its first response when all have their request.
      if (waiting.add(socket).size + used.size < kept) return
      for (const one of waiting) {
        used.add(one)
        waiting.delete(one)
        one.write(OK)
      }
    })
    const post = postFor(t)
    const send = () => post(url, {}, '{}', MAILBOX)
    await Promise.all(Array.from({ length: kept }, send))
    assert.deepEqual([await send(), requests], [result, kept + 3])
  })

/** Counts the calls of a method while the test runs. */
function countCalls(t: TestContext, prototype: object, method: string, counts: (argument: unknown) => boolean) {
  const count = { calls: 0 }
  const real = Reflect.get(prototype, method) as (...args: unknown[]) => unknown
  const inherited = !Object.hasOwn(prototype, method)
  Reflect.set(prototype, method, function (this: unknown, ...args: unknown[]) {
    if (counts(args[0])) count.calls++
    return real.apply(this, args)
  })
  t.after(() => (inherited ? Reflect.deleteProperty(prototype, method) : Reflect.set(prototype, method, real)))
  return count
}

const chunked = (chunks: number): string =>
  `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(chunks)}0\r\n\r\n`

test('[PUSH-16] a body in a few chunks keeps its connection, and of one in many a few are taken', async (t) => {
  const sockets: Socket[] = []
  let chunks = 64
  const { url } = await startRaw(t, (socket) => {
    sockets.push(socket)
    socket.write(chunked(chunks))
  })
  const post = postFor(t)
  const taken = countCalls(t, IncomingMessage.prototype, 'push', (chunk) => chunk !== null)
  const send = () => post(url, {}, '{}', MAILBOX)
  assert.deepEqual(await send(), { status: 200, retryAfter: undefined })
  assert.equal(taken.calls, 64)
  chunks = 60_000
  assert.deepEqual(await send(), { status: 200, retryAfter: undefined })
  assert.equal(taken.calls - 64, 128, '64 chunks, and the ends of as many slices')
  await send()
  assert.deepEqual([sockets[0] === sockets[1], sockets[1] === sockets[2]], [true, false])
})

test('[PUSH-16] a body of long chunks keeps its connection, though their parts are counted', async (t) => {
  const sockets: Socket[] = []
  const { url } = await startRaw(t, (socket) => {
    sockets.push(socket)
    const chunk = `3e8\r\n${'x'.repeat(1_000)}\r\n`
    socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(60)}0\r\n\r\n`)
  })
  const post = postFor(t)
  for (let i = 0; i < 2; i++) await post(url, {}, '{}', MAILBOX)
  assert.equal(sockets[0], sockets[1])
})

test('[PUSH-16] of what one read brings, nothing is parsed once the exchange was ended', async (t) => {
  const { url } = await startRaw(t, writes('HTTP/1.1 100 Continue\r\n\r\n'.repeat(2_000)))
  const parsed = countCalls(t, ClientRequest.prototype, 'emit', (event) => event === 'information')
  assert.deepEqual(await postFor(t)(url, {}, '{}', MAILBOX), { error: 'too many 1xx responses' })
  assert.ok(parsed.calls <= 41, `${parsed.calls} of a slice of 1 KiB`)
})

test('[PUSH-16] a user and password are sent, and those that cannot be decoded are an error', async (t) => {
  const receiver = await startReceiver()
  t.after(() => receiver.stop())
  const post = postFor(t)
  await post(`http://us%C3%A4r:p%40ss@127.0.0.1:${receiver.port}/`, {}, '{}', MAILBOX)
  assert.equal(receiver.all[0]!.headers.authorization, `Basic ${Buffer.from('usär:p@ss').toString('base64')}`)
  const exchange = await post(`http://%ff@127.0.0.1:${receiver.port}/`, {}, '{}', MAILBOX)
  assert.deepEqual(exchange, { error: 'connection failed: URI malformed' })
})

onBothEngines((engine) => {
  test('[PUSH-16] [PUSH-10] an endpoint that upgrades, or a URL without a request, is tried again', async (t) => {
    const service = await startService(engine, { PUSH_ALLOW_PRIVATE: 'on' })
    t.after(() => service.stop())
    const calls = outboundCalls(service)
    const tenant = await service.tenant()
    let requests = 0
    const raw = await startRaw(t, (socket) => {
      requests++
      socket.write(UPGRADE)
    })
    const upgrading = await calls.pushed(tenant, raw.url, 'up')
    await calls.publish(upgrading, 'up')
    assert.equal((await calls.state(upgrading, 'waiting')).last_error, 'HTTP 101')
    // Such an endpoint is refused now, but a store may have one from before.
    const malformed = await calls.pushed(tenant, raw.url, 'mal')
    await service.store.tx((tx) =>
      tx.run("update agents set delivery_endpoint = 'http://%ff@127.0.0.1/' where tenant_id = ? and id = ?", [
        tenant.id,
        malformed.id,
      ]),
    )
    await calls.publish(malformed, 'mal')
    assert.equal((await calls.state(malformed, 'waiting')).last_error, 'connection failed: URI malformed')
    await until(
      async () => /^sensorium_push_under_way 0$/m.test((await service.call('GET /metrics')).text),
      'no slot to be held',
    )
    await service.clock.advance(10_000)
    await until(() => requests === 2, 'the next attempt')
  })
})
