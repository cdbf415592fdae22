// Connections of misbehaving clients: places are given back, and no other client is locked out for long.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { inFlight } from '../support/in-flight.ts'
import { rawConnection, type RawConnection } from '../support/raw-http.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'

const MIB = 1_048_576

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)

  /** Without this pause the service would serve the metrics requests before the requests that they count. */
  const othersHaveTheirTurns = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  }
  /** The request for the metrics counts too. */
  async function nothingInHand(): Promise<void> {
    while ((await inFlight(service.url)) > 1) await othersHaveTheirTurns()
  }
  async function untilInHand(count: number): Promise<void> {
    while ((await inFlight(service.url)) - 1 < count) await othersHaveTheirTurns()
  }
  const connect = (): Promise<RawConnection> => rawConnection(service.url)
  /** Writes at once: an idle connection is closed, and on a busy machine the last of many would write too late. */
  const connectAndWrite = async (bytes: string): Promise<RawConnection> => {
    const connection = await connect()
    connection.write(bytes)
    return connection
  }
  const get = (path: string, ...lines: string[]): string =>
    [`GET ${path} HTTP/1.1`, 'Host: x', ...lines, '', ''].join('\r\n')
  /** Resolves when the bytes are written and the server, which is in the same process, has had a turn. */
  const handedOver = ({ socket }: RawConnection, bytes: string | Buffer): Promise<void> =>
    new Promise((resolve) => socket.write(bytes, () => setImmediate(resolve)))
  const bearer = (token: string): string => `Authorization: Bearer ${token}`
  /** The head of a request that announces a body and sends none of it. */
  const unsent = (path = '/v1/auth/token', ...lines: string[]): string =>
    [
      `POST ${path} HTTP/1.1`,
      'Host: x',
      'Content-Type: application/json',
      'Content-Length: 100',
      ...lines,
      '',
      '',
    ].join('\r\n')

  test('[SAFE-1] [SAFE-2] pipelined requests and a CONNECT in one segment leave no place taken', async () => {
    for (let i = 0; i < 12; i++) {
      const connection = await connect()
      connection.write(get('/healthz').repeat(300) + 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n')
      connection.socket.resume()
      await connection.closed
    }
    await nothingInHand()
  })

  test('[SAFE-1] a socket that closes ends all polls on it, also those that wait behind others', async () => {
    const agent = await tenant.agent()
    const connection = await connect()
    connection.write(get('/v1/delivery/poll?wait=20', bearer(agent.token)).repeat(20))
    await untilInHand(20)
    connection.socket.destroy()
    await nothingInHand()
    // None of those polls is left to take this delivery.
    await service.call(`POST /v1/agents/${agent.id}/test-event`, { token: tenant.admin })
    // A claim that was under way when the socket closed gives back its deliveries, so poll again.
    const poll = async () => (await service.call('GET /v1/delivery/poll', { token: agent.token })).body
    let body = await poll()
    for (let turn = 0; turn < 500 && body.count === 0; turn++) body = await poll()
    assert.deepEqual([body.count, body.deliveries[0].attempt_count], [1, 1])
  })

  test('[SAFE-2] CONNECT is refused in the envelope, after the requests before it', async () => {
    const connection = await connect()
    connection.write(get('/healthz') + get('/v1/agents') + 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\nmore')
    assert.deepEqual([(await connection.reply()).status, (await connection.reply()).status], [200, 401])
    const { status, headers, body } = await connection.reply()
    assert.deepEqual([status, headers['connection']], [405, 'close'])
    const { error } = JSON.parse(body)
    assert.deepEqual([error.code, error.request_id], ['method_not_allowed', headers['x-request-id']])
    await connection.closed
    await nothingInHand()
  })

  test('[SAFE-2] an Upgrade is ignored: the request is answered, and the connection goes on', async () => {
    const connection = await connect()
    for (const wanted of ['websocket', 'h2c']) {
      connection.write(get('/v1/agents', bearer(tenant.admin), 'Connection: Upgrade', `Upgrade: ${wanted}`))
      assert.equal((await connection.reply()).status, 200)
    }
    connection.socket.destroy()
    await nothingInHand()
  })

  test('[SAFE-3] [SAFE-4] [SAFE-5] a client that announces bodies and sends none locks nobody out', async () => {
    const agent = await tenant.agent()
    const held = await Promise.all(Array.from({ length: 512 }, () => connectAndWrite(unsent())))
    await untilInHand(512)
    // From the same address one more is refused, but health checks are served.
    const more = await connect()
    more.write(unsent('/v1/auth/token', 'Connection: close'))
    const refused = await more.reply()
    assert.equal(refused.status, 429)
    assert.equal(refused.headers['retry-after'], '1')
    assert.deepEqual(JSON.parse(refused.body).error.details, { retry_after_seconds: 1, limit: 512, window_seconds: 0 })
    for (const path of ['/healthz', '/readyz', '/metrics'])
      assert.equal((await service.call(`GET ${path}`)).status, 200, path)
    // After the grace period they are closed with a 408.
    const replies = Promise.all(held.map((connection) => connection.reply()))
    await service.clock.advance(7_000)
    for (const { status, headers, body } of await replies) {
      assert.deepEqual([status, headers['connection']], [408, 'close'])
      assert.equal(JSON.parse(body).error.code, 'request_timeout')
    }
    await Promise.all(held.map(({ closed }) => closed))
    await nothingInHand()
    assert.equal((await service.call('GET /v1/agents', { token: agent.token })).status, 200)
    more.socket.destroy()
  })

  test('[SAFE-3] a request of a known agent counts for the agent, and no longer for its address', async () => {
    const agent = await tenant.agent()
    const held: RawConnection[] = []
    const head = unsent('/v1/events', bearer(agent.token))
    // In parts: a request counts for its address while its token is looked up.
    for (let part = 0; part < 4; part++) {
      held.push(...(await Promise.all(Array.from({ length: 130 }, () => connectAndWrite(head)))))
      await untilInHand(held.length)
    }
    for (const { socket } of held) socket.destroy()
    await nothingInHand()
  })

  test('[SAFE-5] a body that comes slowly but steadily is taken', async () => {
    const connection = await connect()
    const body = JSON.stringify({ name: 'x', delivery_mode: 'poll', client_type: 'other' }).padEnd(120_000)
    connection.write(
      `POST /v1/agents HTTP/1.1\r\nHost: x\r\n${bearer(tenant.admin)}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    )
    await untilInHand(1)
    for (let at = 0; at < body.length; at += 10_000) {
      await handedOver(connection, body.slice(at, at + 10_000))
      await service.clock.advance(1_000)
    }
    assert.equal((await connection.reply()).status, 201)
    connection.socket.destroy()
  })

  /** Sends 10,000 bytes a second. */
  async function sendSlowly(connection: RawConnection, bytes: string, seconds: number): Promise<void> {
    for (let at = 0; at < seconds; at += 5) {
      await handedOver(connection, bytes.slice(at * 10_000, (at + 5) * 10_000))
      await service.clock.advance(5_000)
    }
  }
  const post = (path: string, type: string, token: string, length: number): string =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\n${bearer(token)}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`

  test('[SAFE-5] a body that has not arrived after a minute is refused, however steadily it comes', async () => {
    const connection = await connect()
    const body = ' '.repeat(700_000)
    connection.write(post('/v1/memories', 'application/json', tenant.admin, body.length))
    await untilInHand(1)
    const reply = connection.reply()
    await sendSlowly(connection, body, 60)
    const { status, headers, body: text } = await reply
    assert.deepEqual([status, headers['connection']], [408, 'close'])
    assert.equal(JSON.parse(text).error.code, 'request_timeout')
    connection.socket.destroy()
    await nothingInHand()
  })

  test('[SAFE-5] the time in which an import waits for its turn does not count', async () => {
    const agent = await tenant.agent()
    const line = JSON.stringify({ type: 'semantic', scope: 'agent', title: 'Pump 7', content: 'Leaks' })
    const head = post('/v1/memories/import', 'application/x-ndjson', agent.token, line.length)
    // An agent has one import under way. The first keeps its turn: its response waits behind a stream.
    const first = await connectAndWrite(get('/v1/delivery/stream', bearer(agent.token)) + head + line)
    const imported = async () => (await service.call('GET /v1/memories', { token: agent.token })).body.total
    while ((await imported()) === 0) await othersHaveTheirTurns()
    const last = await connectAndWrite(head)
    // An open stream does not count.
    await untilInHand(2)
    await service.clock.advance(90_000)
    first.socket.destroy()
    last.write(line)
    const { status, body } = await last.reply()
    assert.equal(status, 200, body)
    last.socket.destroy()
    await nothingInHand()
  })

  for (const close of [false, true]) {
    test(`[SAFE-6] a 413 reaches its sender ${close ? 'on a connection that closes' : ''}`, async () => {
      const connection = await connect()
      const size = 10 * MIB + 1
      connection.write(
        `POST /v1/memories HTTP/1.1\r\nHost: x\r\n${bearer(tenant.admin)}\r\nContent-Type: application/json\r\n` +
          `Content-Length: ${size}\r\n${close ? 'Connection: close\r\n' : ''}\r\n`,
      )
      // The body continues after the response was written, as with a slow sender or a busy server.
      const reply = await connection.reply()
      assert.equal(reply.status, 413)
      let failed: Error | null = null
      connection.socket.on('error', (error) => (failed = error))
      for (let sent = 0; sent < size; sent += MIB) {
        await handedOver(connection, Buffer.alloc(Math.min(MIB, size - sent), ' '))
      }
      if (close) await connection.closed
      else {
        connection.write(get('/healthz'))
        assert.equal((await connection.reply()).status, 200)
      }
      assert.equal(failed, null)
      connection.socket.destroy()
      await nothingInHand()
    })
  }

  test('[SAFE-6] discarding a refused body is bounded in time and size, and holds no place', async () => {
    const head = `POST /v1/memories HTTP/1.1\r\nHost: x\r\nContent-Length: ${1000 * MIB}\r\n\r\n`
    const silent = await connect()
    silent.write(head)
    assert.equal((await silent.reply()).status, 401)
    assert.equal(await inFlight(service.url), 1)
    await service.clock.advance(3_000)
    await silent.closed
    const endless = await connect()
    endless.write(head)
    assert.equal((await endless.reply()).status, 401)
    let open = true
    void endless.closed.then(() => (open = false))
    let sent = 0
    while (open) {
      sent += MIB
      await new Promise<void>((resolve) => void endless.socket.write(Buffer.alloc(MIB), () => setImmediate(resolve)))
    }
    assert.ok(sent < 200 * MIB, `${sent}`)
  })

  for (const path of ['/healthz', '/docs'])
    test(`[SAFE-6] a GET ${path} that announces a body holds no place once it has its response`, async () => {
      // As many as an address has places for health.
      const held = await Promise.all(
        Array.from({ length: 64 }, () => connectAndWrite(get(path, 'Content-Length: 1000000') + 'x')),
      )
      const replies = await Promise.all(held.map((connection) => connection.reply()))
      const inHand = await service.call('GET /metrics')
      for (const { socket } of held) socket.destroy()
      assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
      assert.equal(inHand.status, 200)
      assert.match(inHand.text, /^sensorium_http_in_flight 1$/m)
      await nothingInHand()
    })

  test('[SAFE-12] two Host headers are 400', async () => {
    const connection = await connect()
    connection.write(get('/healthz', 'HOST: y'))
    const { status, body } = await connection.reply()
    assert.equal(status, 400)
    assert.equal(JSON.parse(body).error.details.field, 'Host')
    connection.socket.destroy()
  })

  test('[SAFE-69] a transfer coding that is not read here is 400', async () => {
    for (const [coding, status] of [
      ['gzip, chunked', 400],
      ['identity, chunked', 400],
      ['Chunked', 401],
    ] as const) {
      const connection = await connect()
      const head = `POST /v1/events HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ${coding}\r\n\r\n`
      connection.write(`${head}2\r\n{}\r\n0\r\n\r\n`)
      const reply = await connection.reply()
      assert.equal(reply.status, status, reply.body)
      if (status === 400) assert.equal(JSON.parse(reply.body).error.details.field, 'Transfer-Encoding')
      connection.socket.destroy()
    }
  })

  test('[SAFE-11] a path has one spelling; escapes that an id needs are decoded', async () => {
    for (const path of ['/%6detrics', '/v1/%61gents', '/%6Fperator/tenants', '/v1/events/a%2Db', '/v1/events/%7Ea'])
      assert.equal((await service.call(`GET ${path}`, { token: tenant.admin })).status, 404, path)
    const { body } = await service.call('GET /%68ealthz')
    assert.deepEqual(body.error.details, { resource_type: 'path', resource_id: '/%68ealthz' })
    const id = 'orders/1 ä%:x'
    await service.call('POST /v1/events', {
      token: tenant.admin,
      body: { specversion: '1.0', type: 'a.b', source: '/s', id, data: {} },
    })
    const found = await service.call(`GET /v1/events/${encodeURIComponent(id)}`, { token: tenant.admin })
    assert.equal(found.body.event?.id, id)
  })

  test('[SAFE-11] a target with a fragment or without a leading slash is no path, an absolute URL counts as its path', async () => {
    for (const [target, status] of [
      ['*', 404],
      ['*healthz', 404],
      ['*v1/agents', 404],
      ['http://elsewhere/healthz', 200],
      ['HTTP://elsewhere/v1/agents?limit=1', 401],
      ['http://elsewhere/%68ealthz', 404],
      ['/healthz#', 404],
      ['/healthz#/x', 404],
      ['/v1/agents#?limit=1', 404],
      ['/v1/agents?name=#1', 401],
      ['http://elsewhere/metrics#', 404],
      ['http://elsewhere?a=/healthz', 200],
    ] as const) {
      const connection = await connect()
      connection.write(get(target))
      assert.equal((await connection.reply()).status, status, target)
      connection.socket.destroy()
    }
  })

  test('[SAFE-16] of 300 requests in one segment 256 are answered, one is refused, and the connection ends', async () => {
    // From an address that has not pipelined before: otherwise it would be read in slices, and answered in between.
    const connection = await rawConnection(service.url, '127.0.0.16')
    connection.write(get('/v1/agents').repeat(300))
    const statuses: number[] = []
    for (let n = 0; n < 257; n++) statuses.push((await connection.reply()).status)
    assert.deepEqual(new Set(statuses.slice(0, 256)), new Set([401]))
    assert.equal(statuses[256], 429)
    await connection.closed
    await nothingInHand()
  })

  test('[SAFE-32] a client that sends on after the last request of its connection is cut off', async () => {
    const agent = await (await service.tenant()).agent()
    const connection = await connect()
    // These polls wait, and would keep the connection open.
    connection.write(get('/v1/delivery/poll?wait=20', `Authorization: Bearer ${agent.token}`).repeat(256))
    // Write as much as the socket takes: each request would stay in memory until the polls are over.
    let isCut = false
    void connection.closed.then(() => (isCut = true))
    while (!isCut) {
      connection.write(get('/healthz').repeat(500))
      await new Promise(setImmediate)
    }
    await nothingInHand()
  })
})
