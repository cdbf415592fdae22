// Pipelining clients are read in turns: with real sockets, counting turns of the event loop.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import net, { type AddressInfo, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { makeSocketTurns } from '../../src/http/socket-turns.ts'

/** A server that records which sockets were read in each turn, and which addresses had sockets that rested. */
async function server(now?: () => number, take: (request: IncomingMessage) => unknown = () => {}) {
  const turns: Set<Socket>[] = []
  /** How many requests each turn had. */
  const counts: number[] = []
  const sockets = new Set<Socket>()
  /** Every socket that was read, once for each request. */
  const read: Socket[] = []
  const resting = new Set<string>()
  const reading = makeSocketTurns(now)
  let current: Set<Socket> | null = null
  let requests = 0
  let done: () => void = () => {}
  let wanted = Infinity
  const listening = http.createServer(async (request, response) => {
    if (!current) {
      turns.push((current = new Set()))
      counts.push(0)
      setImmediate(() => (current = null))
    }
    current.add(request.socket)
    counts[counts.length - 1]!++
    read.push(request.socket)
    reading.read(request.socket)
    for (const socket of sockets) if (socket.isPaused()) resting.add(socket.remoteAddress!)
    await take(request)
    response.end()
    if (++requests === wanted) done()
  })
  listening.on('connection', (socket: Socket) => {
    reading.opened(socket)
    sockets.add(socket)
    socket.once('close', () => reading.closed(socket))
  })
  listening.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  after(() => {
    listening.closeAllConnections()
    listening.close()
  })
  const count = (n: number): Promise<void> => new Promise((resolve) => ((wanted = n), (done = resolve)))
  return {
    turns,
    counts,
    read,
    sockets,
    resting,
    port: (listening.address() as AddressInfo).port,
    /** Resolves when `n` requests have come in total. */
    count,
    /** Resolves when so many connections are accepted: a turn accepts one. */
    async accepted(n: number): Promise<void> {
      while (sockets.size < n) await new Promise((resolve) => setImmediate(resolve))
    },
    /** Sends requests and waits until all have come. */
    async ask(socket: Socket, requests = 1): Promise<void> {
      const answered = count(read.length + requests)
      socket.write(REQUEST.repeat(requests))
      await answered
    },
  }
}

async function connect(port: number, localAddress: string): Promise<Socket> {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress })
  await once(socket, 'connect')
  socket.resume()
  after(() => socket.destroy())
  return socket
}

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

test('[SAFE-31] forty sockets that pipeline are read one in a turn, and all of them are read', async () => {
  const { port, turns, count } = await server()
  const loud = await Promise.all(Array.from({ length: 40 }, () => connect(port, '127.0.0.2')))
  const all = count(40 * 100)
  for (const socket of loud) socket.write(REQUEST.repeat(100))
  await all
  // Once they are known to pipeline: one socket in each turn, and one more whose response lets Node read on.
  const most = Math.max(...turns.slice(1).map((sockets) => sockets.size))
  assert.ok(most <= 2, `${most} sockets were read in one turn`)
})

test('[SAFE-31] sockets of another address are not made to wait', async () => {
  const { port, sockets, resting, count } = await server()
  await Promise.all(Array.from({ length: 20 }, () => connect(port, '127.0.0.3')))
  const loud = await Promise.all(Array.from({ length: 20 }, () => connect(port, '127.0.0.2')))
  const all = count(20 * 100)
  for (const socket of loud) socket.write(REQUEST.repeat(100))
  await all
  assert.equal(sockets.size, 40)
  assert.deepEqual([...resting], ['127.0.0.2'])
})

test('[SAFE-31] beside others a pipelining socket rests four times as long as it took; others are read', async () => {
  // On this clock a request takes ten seconds, and nothing else takes any time.
  const { port, read, ask } = await server(() => read.length * 10_000)
  const [other, quiet] = [await connect(port, '127.0.0.3'), await connect(port, '127.0.0.2')]
  await ask(quiet)
  await ask(await connect(port, '127.0.0.2'), 100)
  // That took a thousand seconds, so the next one rests while four hundred requests of others are read.
  const second = await connect(port, '127.0.0.2')
  second.write(REQUEST.repeat(100))
  const before = read.length
  for (let i = 0; i < 20; i++) {
    await ask(quiet)
    await ask(other)
  }
  assert.equal(read.length - before, 40, 'the second one that pipelines was read')
})

test('[SAFE-31] a slice with few requests that leaves some behind is followed by the same rest', async () => {
  const { port, read, count } = await server(() => read.length * 100)
  const long = `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(100)}\r\n\r\n`
  const ofSlice = Math.floor(1_024 / long.length)
  // While it is alone it is known to pipeline, but does not rest.
  let answered = count(100)
  ;(await connect(port, '127.0.0.2')).write(REQUEST.repeat(100))
  await answered
  const other = await connect(port, '127.0.0.3')
  answered = count(read.length + ofSlice)
  ;(await connect(port, '127.0.0.2')).write(long.repeat(100))
  await answered
  const before = read.length
  for (let i = 0; i < 3 * ofSlice; i++) {
    answered = count(read.length + 1)
    other.write(REQUEST)
    await answered
  }
  assert.equal(read.length - before, 3 * ofSlice, 'the next slice was read')
})

test('[SAFE-31] of two hundred sockets that send at once 64 are read in a turn, then sixteen per turn', async () => {
  const { port, turns, count, accepted } = await server()
  await connect(port, '127.0.0.3')
  const many = await Promise.all(Array.from({ length: 200 }, () => connect(port, '127.0.0.2')))
  await accepted(201)
  const all = count(200)
  for (const socket of many) socket.write(REQUEST)
  await all
  const sizes = turns.map((sockets) => sockets.size)
  assert.ok(Math.max(...sizes) <= 64, `${Math.max(...sizes)} sockets were read in one turn`)
  const rested = sizes.indexOf(64)
  if (rested !== -1) assert.ok(Math.max(0, ...sizes.slice(rested + 1)) <= 17, `then ${sizes.slice(rested + 1)}`)
})

test('[SAFE-31] of many addresses that send at once 64 sockets are read in a turn, then 32 per turn', async () => {
  const { port, turns, resting, count, accepted } = await server()
  const single = await connect(port, '127.0.0.3')
  const addresses = Array.from({ length: 10 }, (_, i) => `127.0.0.${i + 10}`)
  const many = await Promise.all(
    addresses.flatMap((address) => Array.from({ length: 40 }, () => connect(port, address))),
  )
  await accepted(401)
  const all = count(401)
  for (const socket of [single, ...many]) socket.write(REQUEST)
  await all
  const sizes = turns.map((sockets) => sockets.size)
  // Each address has one more read before it rests.
  // Then two more of each address that has had none.
  assert.ok(Math.max(...sizes) <= 64 + 2 * addresses.length, `${sizes} sockets were read in a turn`)
  const rested = sizes.findIndex((size) => size >= 64)
  if (rested !== -1) assert.ok(Math.max(0, ...sizes.slice(rested + 2)) <= 33, `then ${sizes.slice(rested + 1)}`)
  assert.ok(!resting.has('127.0.0.3'))
})

test('[SAFE-53] of a flooding address sixteen sockets are read in a turn, then eight per turn', async () => {
  const { port, turns, count, ask } = await server()
  const other = await connect(port, '127.0.0.3')
  const many = await Promise.all(Array.from({ length: 50 }, () => connect(port, '127.0.0.2')))
  for (let i = 0; i < 16; i++) await ask(other)
  for (let i = 16; i < 256; i++) await ask(many[i % 50]!)
  const before = turns.length
  const all = count(256 + 50)
  for (const socket of many) socket.write(REQUEST)
  await all
  const sizes = turns.slice(before).map((sockets) => sockets.size)
  assert.ok(Math.max(...sizes) <= 16, `${sizes}`)
  const rested = sizes.indexOf(16)
  if (rested !== -1) assert.ok(Math.max(0, ...sizes.slice(rested + 1)) <= 9, `then ${sizes.slice(rested + 1)}`)
})

test('[SAFE-53] an address that is found to flood in the middle of a turn rests at once', async () => {
  const { port, turns, count, ask } = await server()
  const other = await connect(port, '127.0.0.3')
  const many = await Promise.all(Array.from({ length: 200 }, () => connect(port, '127.0.0.2')))
  for (let i = 0; i < 16; i++) await ask(other)
  for (let i = 16; i < 216; i++) await ask(many[i - 16]!)
  // The fortieth request reveals the flood, when more than sixteen were already read in the turn.
  const before = turns.length
  const all = count(216 + 200)
  for (const socket of many) socket.write(REQUEST)
  await all
  const sizes = turns.slice(before).map((sockets) => sockets.size)
  assert.ok(Math.max(...sizes) <= 41, `${sizes}`)
})

/** Requests in a kibibyte. A turn as counted here may hold the end of one slice and the beginning of the next. */
const OF_A_SLICE = Math.ceil(1_024 / REQUEST.length)

test('[SAFE-50] input of an address that has pipelined is parsed a kibibyte per turn, all in order', async () => {
  const { port, read, count, counts } = await server()
  const first = await connect(port, '127.0.0.2')
  let all = count(100)
  first.write(REQUEST.repeat(100))
  await all
  const second = await connect(port, '127.0.0.2')
  for (const socket of [second, first]) {
    const began = counts.length
    all = count(read.length + 1_000)
    socket.write(REQUEST.repeat(1_000))
    await all
    const most = Math.max(...counts.slice(began))
    assert.ok(most <= 2 * OF_A_SLICE, `${most} requests were parsed in one turn`)
  }
})

test('[SAFE-50] a long body behind pipelined requests arrives complete, and so do the requests after it', async () => {
  const bodies: string[] = []
  const { port, count } = await server(undefined, async (request) => {
    let text = ''
    for await (const chunk of request) text += chunk as string
    if (text) bodies.push(text)
  })
  const socket = await connect(port, '127.0.0.2')
  let all = count(100)
  socket.write(REQUEST.repeat(100))
  await all
  const body = Array.from({ length: 60_000 }, (_, i) => i).join()
  all = count(100 + 41)
  socket.write(
    `${REQUEST.repeat(20)}POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}${REQUEST.repeat(20)}`,
  )
  await all
  assert.deepEqual(
    bodies.map((text) => text === body),
    [true],
  )
})

test('[SAFE-50] a client that does not pipeline is read by Node alone, also beside one that does', async () => {
  const { port, sockets, ask } = await server()
  const quiet = await connect(port, '127.0.0.2')
  await ask(quiet, 1)
  const parses = [...sockets][0]!.listeners('data')[0]
  await ask(await connect(port, '127.0.0.2'), 100)
  await ask(quiet, 1)
  assert.deepEqual([...sockets][0]!.listeners('data'), [parses])
})

test('[SAFE-36] an address may have 24,576 connections, and gets room as they close', () => {
  const reading = makeSocketTurns()
  const socket = (remoteAddress: string): Socket => ({ remoteAddress }) as Socket
  const open = Array.from({ length: 24_576 }, () => socket('192.0.2.1'))
  assert.ok(open.every((one) => reading.opened(one)))
  const over = socket('192.0.2.1')
  assert.equal(reading.opened(over), false)
  assert.equal(reading.opened(socket('192.0.2.2')), true)
  reading.closed(over)
  reading.closed(open[0]!)
  assert.equal(reading.opened(socket('192.0.2.1')), true)
})

test('[SAFE-40] while a socket sends a body in tiny pieces, the others of its address rest', () => {
  const reading = makeSocketTurns()
  const paused: unknown[] = []
  const socket = (remoteAddress: string): Socket => {
    const one = {
      remoteAddress,
      destroyed: false,
      resume: () => {},
      pause: () => paused.push(one),
      listeners: () => [],
    }
    Object.assign(one, { isPaused: () => paused.includes(one), once: () => one })
    return one as unknown as Socket
  }
  const [crumbling, beside, other] = [socket('192.0.2.1'), socket('192.0.2.1'), socket('192.0.2.2')]
  for (const one of [crumbling, beside, other]) reading.opened(one)
  for (let i = 0; i < 256; i++) reading.readPiece(crumbling)
  assert.deepEqual(paused, [])
  reading.readPiece(crumbling)
  assert.deepEqual(paused, [beside])
})
