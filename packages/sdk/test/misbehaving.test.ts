// The client against servers that misbehave as no service should.
import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { ConnectionError, createClient, SensoriumError } from '@sensorium/client'
import { readStream } from '../src/stream.ts'
import { tokensFromKey } from '../src/tokens.ts'
import { backoff } from '../src/wait.ts'

const KEY = `ak_live_${'k'.repeat(32)}`

async function farEnd(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('[SDK-20] any Retry-After means a wait of some minutes at most, never a timer that ends at once', () => {
  for (const asked of [1e9, 1e308, Number.MAX_SAFE_INTEGER, 301])
    assert.equal(
      backoff(0, asked, () => 0),
      300_000,
    )
  assert.equal(
    backoff(0, -5, () => 0),
    0,
  )
})

test('[SDK-20] a redirect is not followed: neither key nor token reaches another address', async (t) => {
  let reached = 0
  const elsewhere = await farEnd(t, (_, response) => {
    reached++
    response.end('{}')
  })
  for (const status of [301, 302, 307, 308]) {
    const url = await farEnd(t, (_, response) => response.writeHead(status, { location: `${elsewhere}/v1/x` }).end())
    for (const credential of [{ apiKey: KEY }, { token: 't' }]) {
      const client = createClient({ url, ...credential })
      const isTold = (error: unknown): boolean => error instanceof SensoriumError && error.status === status
      await assert.rejects(client.agents.list(), isTold)
      await assert.rejects(client.publish({ type: 'a.b', source: '/s' }), isTold)
      const worker = client.worker({ handle: () => {}, mode: 'sse', onError: () => {} })
      await worker.stop()
    }
  }
  assert.equal(reached, 0)
})

test('[SDK-20] a response that is not JSON, not of the API or empty is an error, not a crash', async (t) => {
  const bodies: [number, string][] = [
    [200, '<html>a gateway</html>'],
    [502, '<html>bad gateway</html>'],
    [400, ''],
    [403, '"just a string"'],
    [404, 'null'],
    [418, '{"error":"not an object"}'],
  ]
  for (const [status, body] of bodies) {
    const url = await farEnd(t, (_, response) => response.writeHead(status).end(body))
    const client = createClient({ url, token: 't', attempts: 1 })
    await assert.rejects(client.agents.get('agt_1'), (error: unknown) => {
      assert.ok(error instanceof SensoriumError || error instanceof ConnectionError, String(error))
      return error.message.length > 0
    })
  }
})

test('[SDK-20] a worker survives nonsensical responses, and reports them', async (t) => {
  const sent = ['{}', '{"deliveries":null}', '[]', '"x"', '{"deliveries":[{"id":"dlv_1","event_id":"e","payload":{}}]}']
  const url = await farEnd(t, (request, response) => {
    response.end(
      request.url!.includes('/poll') ? (sent.shift() ?? '{"deliveries":[],"count":0}') : '{"acknowledged":1}',
    )
  })
  const errors: unknown[] = []
  const seen = Promise.withResolvers<void>()
  const client = createClient({ url, token: 't' })
  const worker = client.worker({ handle: () => seen.resolve(), onError: (error) => errors.push(error) })
  await seen.promise
  await worker.stop()
  assert.equal(errors.length, 4)
})

test('[SDK-20] a refusal of a stream whose body never ends counts by its status', async (t) => {
  const url = await farEnd(t, (_, response) => {
    response.writeHead(403, { 'content-type': 'application/json' }).write('{"error":')
  })
  const isTold = (error: unknown): boolean => error instanceof SensoriumError && error.status === 403
  // Long enough for a busy machine to connect: what ends before the status has come is no refusal.
  const client = createClient({ url, token: 't', timeoutMs: 1_000 })
  const refused = Promise.withResolvers<unknown>()
  const worker = client.worker({ mode: 'sse', handle: () => {}, onError: refused.resolve })
  assert.ok(isTold(await refused.promise))
  await worker.stop()
  await assert.rejects(client.memory.exportLines().next(), isTold)
  // A caller that gives up while the body is outstanding is not told of the refusal.
  const giveUp = new AbortController()
  const reason = new Error('enough')
  const abortAtBody: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    setImmediate(() => giveUp.abort(reason))
    return response
  }
  const patient = createClient({ url, token: 't', fetch: abortAtBody })
  await assert.rejects(patient.memory.exportLines({}, { signal: giveUp.signal }).next(), reason)
})

const streamOf = (...pieces: string[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start: (control) => pieces.forEach((piece) => control.enqueue(new TextEncoder().encode(piece))),
  })

test('[SDK-20] a stream that falls silent is closed', async () => {
  const found: unknown[] = []
  const stream = readStream(streamOf('event: delivery\ndata: {"id":"dlv_1"}\n\n', ': still here\n\n'), 20)
  await assert.rejects(async () => {
    for await (const { data } of stream) found.push(JSON.parse(data))
  }, ConnectionError)
  assert.deepEqual(found, [{ id: 'dlv_1' }])
})

test('[SDK-20] a stream that breaks off is a failed connection, with the error of the runtime', async () => {
  const cause = new TypeError('terminated')
  const broken = new ReadableStream<Uint8Array>({ pull: (control) => control.error(cause) })
  await assert.rejects(readStream(broken).next(), (error: unknown) => {
    assert.ok(error instanceof ConnectionError)
    return error.message === 'the stream broke off' && error.cause === cause
  })
})

test('[SDK-20] a stream with an endless event does not fill the memory', async () => {
  const piece = new Uint8Array(8 * 1024 * 1024).fill(97)
  let pulled = 0
  const endless = new ReadableStream<Uint8Array>({
    pull(control) {
      pulled++
      control.enqueue(piece)
    },
  })
  await assert.rejects(async () => {
    for await (const delivery of readStream(endless)) assert.fail(JSON.stringify(delivery))
  }, ConnectionError)
  assert.ok(pulled < 16, `${pulled} pieces were read`)
})

test('[SDK-20] a wrong clock does not make every call exchange the key again', async () => {
  let exchanges = 0
  const tokens = tokensFromKey(async () => {
    exchanges++
    return { access_token: 't', token_type: 'Bearer', expires_at: '2001-01-01T00:00:00Z', agent: null } as never
  })
  for (let i = 0; i < 5; i++) await tokens.get()
  assert.equal(exchanges, 1)
})

test('[SDK-2] a late refusal of a token that was renewed meanwhile does not renew it again', async () => {
  let exchanges = 0
  const tokens = tokensFromKey(async () => ({ access_token: `t${++exchanges}`, expires_in: 3_600 }) as never)
  assert.equal(await tokens.get(), 't1')
  tokens.refused('t1')
  assert.equal(await tokens.get(), 't2')
  tokens.refused('t1')
  assert.equal(await tokens.get(), 't2')
})

test('[SDK-13] a delivery that came again while its handler ran is given back by a stop', async (t) => {
  const delivery = { id: 'dlv_1', event_id: 'e', attempt_count: 1, payload: { type: 'a.b', id: 'e' } }
  const cameAgain = Promise.withResolvers<void>()
  const given: unknown[] = []
  let polls = 0
  const url = await farEnd(t, async (request, response) => {
    if (request.url!.includes('/poll')) {
      polls++
      // The third poll is sent after the second one was processed.
      if (polls === 3) cameAgain.resolve()
      if (polls <= 2) response.end(JSON.stringify({ deliveries: [delivery], count: 1 }))
      return
    }
    let body = ''
    for await (const chunk of request) body += String(chunk)
    if (request.url!.endsWith('/extend')) return void response.end('{"extended":1}')
    given.push([request.url, JSON.parse(body).reason])
    // The first is refused. It would have given back the delivery as it came again, too.
    response.writeHead(given.length === 1 ? 409 : 200).end('{"nacked":1}')
  })
  const fails = Promise.withResolvers<void>()
  let handled = 0
  const worker = createClient({ url, token: 't' }).worker({
    concurrency: 4,
    onError: () => {},
    handle() {
      handled++
      return fails.promise
    },
  })
  await cameAgain.promise
  const stopped = worker.stop()
  fails.reject(new Error('no luck'))
  await stopped
  assert.equal(handled, 1)
  assert.deepEqual(given, [
    ['/v1/delivery/nack', 'no luck'],
    ['/v1/delivery/nack', 'the worker was stopped'],
  ])
})
