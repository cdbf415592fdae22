// Retries, against servers that misbehave.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionError, createClient, SensoriumError } from '@sensorium/client'
import { onBothEngines } from '../../server/test/support/engines.ts'
import { serviceForSuite, tenantForSuite } from '../../server/test/support/service.ts'
import { backoff, isLast } from '../src/wait.ts'
import { randomFrom, startProxy, type Treatment } from './proxy.ts'

const TREATMENTS: readonly Treatment[] = ['pass', 'drop', 'lose', 'delay', 'truncate', 'repeat', 'error']

/** Responds from a list, and records the requests. */
function scripted(responses: (() => Response | Error)[]): { fetch: typeof fetch; asked: Request[] } {
  const asked: Request[] = []
  return {
    asked,
    fetch: async (input, init) => {
      asked.push(new Request(input as string, init))
      const response = responses[asked.length - 1]!()
      if (response instanceof Error) throw response
      return response
    },
  }
}

const failed =
  (status: number, headers: Record<string, string> = {}) =>
  (): Response =>
    Response.json({ error: { code: 'x', message: 'm', request_id: 'r', details: {} } }, { status, headers })

test('[SDK-8] 408, 429, 5xx, a lost and a broken response are retried under one key', async () => {
  const { fetch, asked } = scripted([
    failed(429, { 'retry-after': '0' }),
    failed(408),
    failed(503),
    () => new TypeError('fetch failed'),
    () => new Response('{"event_id": "e', { status: 202 }),
    () => Response.json({ event_id: 'e', status: 'accepted', recipients: 0 }, { status: 202 }),
  ])
  const client = createClient({ url: 'http://service', token: 't', fetch, events: { source: '/s' } })
  assert.equal((await client.publish({ type: 'a.b', id: 'e' })).status, 'accepted')
  const keys = new Set(asked.map((request) => request.headers.get('idempotency-key')))
  assert.equal(asked.length, 6)
  assert.equal(keys.size, 1)
  assert.match([...keys][0]!, /^[0-9a-f-]{36}$/)
  assert.equal(asked[0]!.headers.get('prefer'), 'handling=strict')
})

test('[SDK-8] the client gives up after its attempts, with the last error', async () => {
  const away = scripted([() => new TypeError('x'), () => new TypeError('x')])
  const client = createClient({ url: 'http://service', token: 't', fetch: away.fetch, attempts: 2 })
  await assert.rejects(client.agents.list(), ConnectionError)
  const busy = scripted([failed(503), failed(500)])
  const other = createClient({ url: 'http://service', token: 't', fetch: busy.fetch, attempts: 2 })
  await assert.rejects(other.agents.list(), (error) => error instanceof SensoriumError && error.status === 500)
})

test('[SDK-8] `onRetry` hears of each attempt that is followed by another one', async () => {
  const { fetch } = scripted([failed(503), () => new TypeError('x'), () => Response.json({ agents: [], total: 0 })])
  const heard: [string, boolean][] = []
  const onRetry = (error: unknown, waitMs: number): void => void heard.push([(error as Error).name, waitMs >= 0])
  const client = createClient({ url: 'http://service', token: 't', fetch, onRetry })
  await client.agents.list()
  assert.deepEqual(heard, [
    ['SensoriumError', true],
    ['ConnectionError', true],
  ])
  const last = createClient({
    url: 'http://service',
    token: 't',
    fetch: scripted([failed(503)]).fetch,
    attempts: 1,
    onRetry,
  })
  await assert.rejects(last.agents.list(), SensoriumError)
  assert.equal(heard.length, 2)
})

test('[SDK-8] what no header can carry is refused at once, without a request', async () => {
  const { fetch, asked } = scripted([])
  const client = createClient({ url: 'http://service', token: 't', fetch })
  const wrong = [{ idempotencyKey: 'a\nb' }, { requestId: '\u20ac' }, { headers: { 'x-mine': 'a\0b' } }]
  for (const options of wrong) await assert.rejects(client.publish({ type: 'a.b', source: '/s' }, options), TypeError)
  await assert.rejects(client.memory.exportLines({}, { requestId: '\u20ac' }).next(), TypeError)
  assert.throws(() => createClient({ url: 'http://service', token: 'sec\nret' }), { message: /^no header can carry/ })
  assert.equal(asked.length, 0)
})

test('[SDK-41] a call waits for a service that is away, and not for one that fails', () => {
  assert.equal(isLast(undefined, 8, 59_000, true), false)
  assert.equal(isLast(undefined, 8, 60_000, true), true)
  assert.equal(isLast(undefined, 7, 60_000, true), false, 'attempts that take long are not fewer')
  assert.equal(isLast(undefined, 8, 0, false), true)
  assert.equal(isLast(3, 3, 0, true), true, 'attempts that the caller sets')
})

test('[SDK-41] a call outlasts a restart of nearly a minute, and gives up after it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  t.mock.method(Math, 'random', () => 1)
  const away = [failed(503), () => new TypeError('refused'), failed(502), failed(504)]
  let tried = 0
  let comesBackAt = Number.POSITIVE_INFINITY
  const fetch: typeof globalThis.fetch = async () => {
    if (tried >= comesBackAt) return Response.json({ event_id: 'e', status: 'accepted' }, { status: 202 })
    const response = away[tried++ % away.length]!()
    if (response instanceof Error) throw response
    return response
  }
  const client = createClient({ url: 'http://service', token: 't', fetch, events: { source: '/s' } })
  /** Publishes, and lets the waits pass. Returns the result, and for how long it waited. */
  async function published(): Promise<[unknown, number]> {
    const call = client.publish({ type: 'a.b' }).catch((error: unknown) => error)
    let result: unknown
    void call.then((value) => (result = value))
    for (let waited = 0; ; waited += 100) {
      for (let turn = 0; turn < 5 && result === undefined; turn++) await new Promise(setImmediate)
      if (result !== undefined) return [result, waited]
      t.mock.timers.tick(100)
    }
  }
  const [error, waited] = await published()
  assert.ok(error instanceof SensoriumError || error instanceof ConnectionError)
  assert.ok(waited >= 60_000 && waited < 85_000, `${waited} ms`)
  comesBackAt = tried - 1
  tried = 0
  const [response] = await published()
  assert.equal((response as { status: string }).status, 'accepted')
})

test('[SDK-50] a call that is asked to wait for too long fails at once, and waits otherwise', async () => {
  const busy = [failed(429, { 'retry-after': '0' }), failed(503, { 'retry-after': '3' })]
  const patience = { url: 'http://service', token: 't', maxRetryAfter: 0 }
  const asksFor3 = (error: unknown): boolean => error instanceof SensoriumError && error.retryAfter === 3
  const called = scripted(busy)
  await assert.rejects(createClient({ ...patience, fetch: called.fetch }).agents.list(), asksFor3)
  const exported = scripted(busy)
  await assert.rejects(
    createClient({ ...patience, fetch: exported.fetch })
      .memory.export()
      .next(),
    asksFor3,
  )
  assert.deepEqual([called.asked.length, exported.asked.length], [2, 2])
})

test('[SDK-50] an import waits as asked, whatever the longest wait of a call is', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  const done = { created: 1, updated: 0, skipped: 0, failed: 0, errors: [] }
  const { fetch, asked } = scripted([failed(429, { 'retry-after': '60' }), () => Response.json(done)])
  const client = createClient({ url: 'http://service', token: 't', fetch, maxRetryAfter: 2 })
  const imported = client.memory.import(['{}'])
  const turns = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  }
  await turns()
  t.mock.timers.tick(59_999)
  await turns()
  assert.equal(asked.length, 1)
  t.mock.timers.tick(1_000)
  assert.deepEqual(await imported, done)
})

const key = (): Response => Response.json({ access_token: 't', token_type: 'Bearer', expires_in: 900 })

test('[SDK-2] a token that is refused is renewed once, and the next refusal is the result', async () => {
  const { fetch, asked } = scripted([key, failed(401), key, failed(401), key, failed(404)])
  const client = createClient({ url: 'http://service', apiKey: 'k', fetch })
  await assert.rejects(client.memory.forget('mem_1'), { status: 401 })
  assert.equal(asked.length, 4)
})

test('[SDK-8] a DELETE that finds nothing fails if no earlier attempt can have succeeded', async () => {
  const limited = scripted([failed(429, { 'retry-after': '0' }), failed(404)])
  const expired = scripted([key, failed(401), key, failed(404)])
  const notFound = (error: unknown): boolean => error instanceof SensoriumError && error.status === 404
  const client = createClient({ url: 'http://service', token: 't', fetch: limited.fetch })
  await assert.rejects(client.memory.forget('mem_1'), notFound)
  const other = createClient({ url: 'http://service', apiKey: 'k', fetch: expired.fetch })
  await assert.rejects(other.memory.forget('mem_1'), notFound)
  assert.equal(expired.asked.length, 4)
})

test('[SDK-8] a retried DELETE that finds nothing has succeeded', async () => {
  for (const first of [() => new TypeError('lost'), failed(500)]) {
    const { fetch } = scripted([first, failed(404)])
    await createClient({ url: 'http://service', token: 't', fetch }).memory.forget('mem_1')
  }
  const first = scripted([failed(404)])
  const other = createClient({ url: 'http://service', token: 't', fetch: first.fetch })
  await assert.rejects(other.memory.forget('mem_1'), { status: 404 })
})

test('[SDK-8] the back-off doubles, has full jitter and a maximum, and honours Retry-After', () => {
  for (let attempt = 0; attempt < 12; attempt++) {
    assert.equal(
      backoff(attempt, 0, () => 0),
      0,
    )
    assert.equal(
      backoff(attempt, 0, () => 1),
      Math.min(20_000, 100 * 2 ** attempt),
    )
    assert.equal(
      backoff(attempt, 7, () => 0),
      7_000,
    )
  }
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)

  for (const seed of [1, 2, 3]) {
    test(`[SDK-9] a network that drops, delays, repeats and truncates loses and doubles nothing (seed ${seed})`, async () => {
      const random = randomFrom(seed)
      const agent = await tenant.agent()
      const proxy = await startProxy(service.url, ({ url }) => {
        // A poll whose response is lost holds its leases until they lapse, which no client can change.
        const bad = url!.includes('/poll') ? ['drop', 'delay', 'error'] : TREATMENTS
        return random() < 0.5 ? 'pass' : (bad[Math.floor(random() * bad.length)] as Treatment)
      })
      const client = createClient({ url: proxy.url, apiKey: agent.key, attempts: 30, events: { source: '/chaos' } })
      await client.interests.create(agent.id, { event_type: `chaos.${seed}` })
      const wanted = Array.from({ length: 40 }, (_, n) => `c-${seed}-${n}`)
      const handled: string[] = []
      let finished!: () => void
      const all = new Promise<void>((resolve) => (finished = resolve))
      const worker = client.worker({
        concurrency: 4,
        handle: ({ event }) => {
          handled.push(event.id)
          if (new Set(handled).size === wanted.length) finished()
        },
      })
      const published = await Promise.all(wanted.map((id) => client.publish({ type: `chaos.${seed}`, id })))
      assert.ok(published.every(({ event_id }, n) => event_id === wanted[n]))
      await all
      await worker.stop()
      assert.deepEqual(handled.sort(), wanted.sort(), 'each once')
      const queue = await client.agents.queue(agent.id)
      assert.deepEqual([queue.pending, queue.leased, queue.dead_lettered], [0, 0, 0], 'each acknowledged')
      for (const treatment of TREATMENTS) assert.ok(proxy.given.get(treatment)! > 0, treatment)
      await proxy.close()
    })
  }
})
