// Connections that carry more than one good request: several requests, broken bytes, a client that disconnects.
import assert from 'node:assert/strict'
import net from 'node:net'
import { before, test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { inFlight } from '../support/in-flight.ts'
import { serviceForSuite } from '../support/service.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  let token: string
  let port: number
  before(async () => {
    token = (await service.tenant('connected')).admin
    port = Number(new URL(service.url).port)
  })

  /** Returns everything that is received until the connection is closed. */
  const exchange = (bytes: string): Promise<string> =>
    new Promise((resolve, reject) => {
      let answer = ''
      const socket = net.connect(port, '127.0.0.1', () => socket.write(bytes))
      socket.setEncoding('latin1').on('data', (text) => (answer += text))
      socket.on('error', reject).on('close', () => resolve(answer))
    })

  const brokenGet = (path: string): string => head(`GET ${path} HTTP/1.1`, 'Transfer-Encoding: chunked') + 'zz\r\n'
  const head = (first: string, ...lines: string[]): string =>
    [first, 'Host: localhost', `Authorization: Bearer ${token}`, ...lines, '', ''].join('\r\n')
  const publish = (id: string, ...lines: string[]): string => {
    const body = JSON.stringify({ specversion: '1.0', id, source: '/s', type: 'a.b', data: {} })
    return (
      head('POST /v1/events HTTP/1.1', 'Content-Type: application/json', `Content-Length: ${body.length}`, ...lines) +
      body
    )
  }
  const statuses = (answer: string): string[] =>
    [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status!)

  for (const [what, bytes] of Object.entries({
    'after a close': ['Connection: close', 'junk'],
    'on a kept connection': ['X-Other: 1', 'junk\r\n\r\n'],
  })) {
    test(`[HTTP-3] broken bytes ${what} do not replace the response before them`, async () => {
      const id = `before-junk-${what.length}`
      assert.deepEqual(statuses(await exchange(publish(id, bytes[0]!) + bytes[1]!)), ['202'])
      assert.equal((await service.call(`GET /v1/events/${id}`, { token })).status, 200)
    })
  }

  test('[HTTP-3] requests before a broken one are answered in their order', async () => {
    const answer = await exchange(publish('first') + publish('second') + 'junk\r\n\r\n')
    assert.deepEqual(statuses(answer), ['202', '202'])
    assert.ok(answer.indexOf('"first"') < answer.indexOf('"second"'))
  })

  test('[HTTP-1] [HTTP-2] a request whose body breaks is refused under its own id', async () => {
    const answer = await exchange(
      head(
        'POST /v1/events HTTP/1.1',
        'Content-Type: application/json',
        'Transfer-Encoding: chunked',
        'X-Request-Id: mine-1',
      ) + 'zz\r\n',
    )
    assert.deepEqual(statuses(answer), ['400'])
    assert.match(answer, /x-request-id: mine-1/i)
    assert.match(answer, /"request_id":"mine-1"/)
  })

  for (const path of [
    '/healthz',
    '/readyz',
    '/metrics',
    '/openapi.json',
    '/docs',
    '/v1/agents',
    '/v1/delivery/poll',
    '/v1/delivery/stream',
    '/nowhere',
  ]) {
    test(`[HTTP-3] a broken body behind GET ${path} is answered once, and the service goes on`, async () => {
      const answer = await exchange(brokenGet(path))
      assert.equal(statuses(answer).length, 1, answer)
      assert.equal((await service.call('GET /healthz')).status, 200)
      assert.match((await service.call('GET /metrics')).text, /^sensorium_streams 0$/m)
    })
  }

  test('[HTTP-3] bytes that are no HTTP request are refused in the envelope', async () => {
    assert.match(await exchange('nonsense\r\n\r\n'), /^HTTP\/1\.1 400 [^]*"code":"validation_failed"/)
  })

  test('[HTTP-25] a client that disconnects while its stream is being opened is subtracted once', async () => {
    const agent = await (await service.tenant('hanging-up')).agent()
    await Promise.all(
      Array.from(
        { length: 40 },
        () =>
          new Promise<void>((resolve) => {
            const socket = net.connect(port, '127.0.0.1', () => {
              socket.write(
                `GET /v1/delivery/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${agent.token}\r\n\r\n`,
                () => socket.resetAndDestroy(),
              )
            })
            socket.on('error', () => {}).on('close', () => resolve())
          }),
      ),
    )
    // This connection is opened after all of those, so once it is answered they have been accepted.
    await exchange(head('GET /healthz HTTP/1.1', 'Connection: close'))
    // The request for the metrics counts too.
    for (let turn = 0; turn < 200 && (await inFlight(service.url)) > 1; turn++) await new Promise(setImmediate)
    assert.equal(await inFlight(service.url), 1)
  })

  test('[HTTP-6] a path is recognised with a query, and as an absolute URL from a proxy', async () => {
    const reply = await service.call('PUT /v1/agents?x=1', { token })
    assert.equal(reply.status, 405)
    assert.equal(reply.headers.get('allow'), 'GET, HEAD, POST')
    assert.match(
      await exchange(head('PUT http://elsewhere/v1/agents HTTP/1.1', 'Connection: close')),
      /^HTTP\/1\.1 405/,
    )
    assert.match(await exchange(head('PUT /v1/agents/%ff HTTP/1.1', 'Connection: close')), /^HTTP\/1\.1 404/)
  })

  test('[IDEM-1] an idempotency key holds for the path, whatever its query', async () => {
    const body = { name: 'one', type: 'open' }
    const made = await service.call('POST /v1/channels', { token, body, headers: { 'idempotency-key': 'spelt' } })
    const again = await service.call('POST /v1/channels?x=1', { token, body, headers: { 'idempotency-key': 'spelt' } })
    assert.equal(made.status, 201)
    assert.deepEqual(again.body, made.body)
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    const odd = await service.call('POST /v1/channels/%00/feeds', {
      token,
      body: { event_type_glob: 'a.*' },
      headers: { 'idempotency-key': 'odd' },
    })
    assert.equal(odd.status, 404)
  })
})
