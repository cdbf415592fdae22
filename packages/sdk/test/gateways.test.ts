// What proxies and gateways between the client and the service do to a response.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionError, createClient, SensoriumError, type ErrorCode } from '@sensorium/client'
import { ERRORS } from '@sensorium/contract'

const html = (status: number, headers: Record<string, string> = {}): Response =>
  new Response('<html>gateway</html>', { status, headers: { 'content-type': 'text/html', ...headers } })

/** Has the form of an error of the service, but no request id. */
const jsonPage = (status: number): Response =>
  Response.json({ error: { code: 'ResourceNotFound', message: 'no' } }, { status })

const refusal = (status: number): Response =>
  Response.json({ error: { code: 'x', message: 'no', request_id: 'r', details: {} } }, { status })

/** Responds from a list, and records the requested URLs. */
function scripted(...responses: (() => Response)[]): { fetch: typeof fetch; asked: Request[] } {
  const asked: Request[] = []
  return {
    asked,
    fetch: async (input, init) => {
      asked.push(new Request(input as string, init))
      return responses[asked.length - 1]!()
    },
  }
}

const clientOf = (given: typeof fetch, attempts = 2) =>
  createClient({ url: 'http://service', token: 't', fetch: given, attempts })

test('[SDK-20] a success without its body counts as broken off, and is retried', async () => {
  const { fetch, asked } = scripted(
    () => new Response('', { status: 200 }),
    () => Response.json({ acknowledged: 1 }),
  )
  assert.equal(await clientOf(fetch).deliveries.ack(['dlv_1']), 1)
  assert.equal(asked.length, 2)
  const empty = scripted(() => new Response('', { status: 200 }))
  await assert.rejects(clientOf(empty.fetch, 1).agents.list(), ConnectionError)
})

test('[SDK-3] an error page of a gateway gets the code of its status', async () => {
  // As a record, so that the type check notices a code of the catalogue that the client does not know.
  const catalogue: Readonly<Record<ErrorCode, { status: number }>> = ERRORS
  const refusals = Object.entries(catalogue).filter(([, { status }]) => status < 500 && status !== 400)
  for (const [code, { status }] of refusals) {
    const { fetch } = scripted(() => html(status))
    await assert.rejects(clientOf(fetch, 1).agents.get('agt_1'), (error: unknown) => {
      assert.ok(error instanceof SensoriumError)
      return error.code === code
    })
  }
  await assert.rejects(clientOf(async () => jsonPage(404), 1).agents.list(), { code: 'not_found', isOfService: false })
  await assert.rejects(clientOf(async () => refusal(404), 1).agents.list(), { code: 'x', isOfService: true })
})

test('[SDK-8] a Retry-After that is a date is honoured', async () => {
  const { fetch } = scripted(() => html(503, { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }))
  await assert.rejects(
    clientOf(fetch, 1).agents.list(),
    (error: unknown) => error instanceof SensoriumError && error.retryAfter! > 3_000 && error.retryAfter! <= 3_600,
  )
  const past = scripted(() => html(503, { 'retry-after': 'Mon, 01 Jan 2001 00:00:00 GMT' }))
  await assert.rejects(
    clientOf(past.fetch, 1).agents.list(),
    (error: unknown) => error instanceof SensoriumError && error.retryAfter === 0,
  )
})

test('[SDK-20] a page in place of a stream is an error, not a stream that ended', async () => {
  const signal = AbortSignal.timeout(30_000)
  const found = Promise.withResolvers<unknown>()
  const client = clientOf(async () => html(200))
  const worker = client.worker({ mode: 'sse', handle: () => {}, onError: found.resolve, signal })
  assert.ok((await found.promise) instanceof ConnectionError)
  await worker.stop()
  const told = Promise.withResolvers<unknown>()
  const ended = new AbortController()
  const live = client.live({}, { signal: ended.signal, onError: told.resolve })
  const first = live.next()
  assert.ok((await told.promise) instanceof ConnectionError)
  ended.abort()
  assert.equal((await first).done, true)
})

for (const mode of ['poll', 'sse'] as const) {
  test(`[SDK-20] ${mode}: a worker outlasts the refusals of a gateway, and one 401 of the service`, async (t) => {
    t.mock.method(Math, 'random', () => 0)
    const pages = [400, 401, 403, 404].map((status) => () => html(status))
    const handled = Promise.withResolvers<void>()
    const statuses: number[] = []
    const answers = [...pages, () => jsonPage(404), () => refusal(401), () => html(502), () => refusal(401)]
    const given: typeof fetch = async (input) => {
      const url = String(input)
      if (url.endsWith('/ack')) return Response.json({ acknowledged: 1 })
      const answer = answers.shift()
      if (answer) return answer()
      const one = { id: 'dlv_1', event_id: 'e', attempt_count: 1, payload: { type: 'a.b', id: 'e' } }
      if (url.includes('/poll')) return Response.json({ deliveries: [one], count: 1 })
      const text = `event: delivery\ndata: ${JSON.stringify(one)}\n\n`
      return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
    }
    const worker = clientOf(given, 1).worker({
      mode,
      handle: () => handled.resolve(),
      onError: (error) => error instanceof SensoriumError && statuses.push(error.status),
    })
    await Promise.race([handled.promise, worker.stopped])
    assert.deepEqual(statuses, [400, 401, 403, 404, 404, 401, 502, 401])
    await worker.stop()
  })

  test(`[SDK-20] ${mode}: a worker that the service itself refuses ends, by a 401 after the second`, async () => {
    for (const status of [400, 401, 403, 404]) {
      let asked = 0
      const worker = clientOf(async () => (asked++, refusal(status)), 1).worker({
        mode,
        handle: () => {},
        onError: () => {},
      })
      await assert.rejects(worker.stopped, (error: unknown) => (error as SensoriumError).status === status)
      assert.equal(asked, status === 401 ? 2 : 1)
    }
  })
}

test('[SDK-20] live throws the refusal of a wrong address, and outlasts one once it was open', async (t) => {
  t.mock.method(Math, 'random', () => 0)
  for (const page of [html, jsonPage])
    await assert.rejects(
      clientOf(async () => page(404))
        .live()
        .next(),
      { status: 404 },
    )
  const counts = (): Response =>
    new Response('event: stats\ndata: {}\n\n', { headers: { 'content-type': 'text/event-stream' } })
  const { fetch, asked } = scripted(
    () => html(502),
    counts,
    () => html(404),
    counts,
  )
  const statuses: number[] = []
  const live = clientOf(fetch).live({}, { onError: (error) => statuses.push((error as SensoriumError).status) })
  for (let n = 0; n < 2; n++) assert.equal((await live.next()).value?.kind, 'stats')
  await live.return()
  assert.deepEqual([asked.length, statuses], [4, [502, 404]])
})

test('[SDK-8] an export that could not begin is retried', async () => {
  const { fetch, asked } = scripted(
    () => html(503),
    () => html(200),
    () => new Response('{"id":"mem_1"}\n', { headers: { 'content-type': 'application/x-ndjson' } }),
  )
  const lines = []
  for await (const line of clientOf(fetch, 3).memory.exportLines()) lines.push(line)
  assert.deepEqual(lines, ['{"id":"mem_1"}'])
  assert.equal(asked.length, 3)
})

test('[SDK-20] an export follows no redirect', async () => {
  const { fetch, asked } = scripted(() => new Response(null, { status: 307, headers: { location: 'http://other/' } }))
  await assert.rejects(clientOf(fetch).memory.exportLines().next(), (error: unknown) => {
    assert.ok(error instanceof SensoriumError)
    return error.status === 307
  })
  assert.equal(asked[0]!.redirect, 'manual')
})

test('[SDK-1] the URL may end with the version of the API, and needs a scheme', async () => {
  for (const url of ['http://service', 'http://service/', 'http://service/v1', 'http://service/v1/']) {
    const { fetch, asked } = scripted(() => Response.json({ agents: [], total: 0 }))
    await createClient({ url, token: 't', fetch }).agents.list()
    assert.equal(asked[0]!.url, 'http://service/v1/agents')
  }
  for (const url of ['localhost:8080', 'ftp://service', ''])
    assert.throws(() => createClient({ url, token: 't' }), TypeError)
})

test('[SDK-3] an id of dots, which no URL can hold, is not found and requests nothing else', async () => {
  const { fetch, asked } = scripted()
  for (const id of ['.', '..'])
    await assert.rejects(
      clientOf(fetch).memory.forget(id),
      (error: unknown) => error instanceof SensoriumError && error.code === 'not_found',
    )
  assert.equal(asked.length, 0)
})
