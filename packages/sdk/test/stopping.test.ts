// Calls and workers that are stopped, at every point where they may be.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, type Client } from '@sensorium/client'
import { delivery, streams } from './streams.ts'

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const KEY = `ak_live_${'k'.repeat(32)}`

/** A server that never responds to requests that `held` selects, and responds to others with `{}`. */
function farEnd(held: (request: Request) => boolean): { fetch: typeof fetch; asked(path: string): Promise<void> } {
  const waiting = new Map<string, PromiseWithResolvers<void>>()
  const askedFor = (path: string): PromiseWithResolvers<void> => {
    const found = waiting.get(path) ?? Promise.withResolvers<void>()
    waiting.set(path, found)
    return found
  }
  return {
    asked: (path) => askedFor(path).promise,
    fetch: async (input, init) => {
      const request = new Request(input as string, init)
      askedFor(new URL(request.url).pathname).resolve()
      if (!held(request)) return Response.json({})
      return new Promise((_, reject) =>
        request.signal.addEventListener('abort', () => reject(request.signal.reason as Error), { once: true }),
      )
    },
  }
}

test('[SDK-5] every call that waits for the first token ends with its signal', async () => {
  const { fetch, asked } = farEnd(() => true)
  const client = createClient({ url: 'http://service', apiKey: KEY, fetch })
  const calls: Record<string, (client: Client, signal: AbortSignal) => Promise<unknown>> = {
    publish: (client, signal) => client.publish({ type: 'a.b' }, { signal }),
    publishBatch: (client, signal) => client.events.publishBatch([{ type: 'a.b' }], { signal }),
    explain: (client, signal) => client.events.explain({ type: 'a.b' }, undefined, { signal }),
    ensure: (client, signal) => client.ensure({ interests: [{ event_type: 'a.b' }] }, { signal }),
    export: (client, signal) => client.memory.exportLines({}, { signal }).next(),
    agent: (client, signal) => client.agent({ signal }),
    scopes: (client, signal) => client.scopes({ signal }),
  }
  for (const [name, call] of Object.entries(calls)) {
    const ended = new AbortController()
    const result = call(client, ended.signal)
    await asked('/v1/auth/token')
    const reason = new Error(`${name} was given up`)
    ended.abort(reason)
    await assert.rejects(result, reason)
  }
})

for (const mode of ['poll', 'sse'] as const)
  test(`[SDK-13] a worker (${mode}) that waits for its first token stops at once`, async () => {
    const { fetch, asked } = farEnd(() => true)
    const worker = createClient({ url: 'http://service', apiKey: KEY, fetch }).worker({ mode, handle: () => {} })
    await asked('/v1/auth/token')
    await worker.stop()
    await worker.stopped
  })

test('[SDK-5] live ends with its signal while it waits for the first token', async () => {
  const { fetch, asked } = farEnd(() => true)
  const ended = new AbortController()
  const client = createClient({ url: 'http://service', apiKey: KEY, fetch })
  const next = client.live({}, { signal: ended.signal }).next()
  await asked('/v1/auth/token')
  ended.abort()
  assert.equal((await next).done, true)
})

test('[SDK-20] a stream that does not open in time is aborted', async () => {
  const { fetch } = farEnd(({ url }) => url.includes('/stream'))
  const told = Promise.withResolvers<unknown>()
  const client = createClient({ url: 'http://service', token: 't', timeoutMs: 1, fetch })
  const worker = client.worker({ mode: 'sse', handle: () => {}, onError: told.resolve })
  assert.match(String(await told.promise), /ConnectionError/)
  await worker.stop()
})

test('[SDK-8] the wait of a poll is added to the timeout of an attempt', async (t) => {
  // Neither a socket nor the timer of an attempt keeps the process alive here.
  const alive = setInterval(() => {}, 60_000)
  t.after(() => clearInterval(alive))
  const { fetch } = farEnd(() => true)
  const client = createClient({ url: 'http://service', token: 't', timeoutMs: 1, attempts: 1, fetch })
  const ended = new AbortController()
  const poll = client.deliveries.poll({ wait: 20 }, { signal: ended.signal })
  await assert.rejects(client.deliveries.poll({}), /no response within/)
  const reason = new Error('enough')
  ended.abort(reason)
  await assert.rejects(poll, reason)
})

test('[SDK-10] a stream that is reopened does not exceed the concurrency', async () => {
  const { client, told, taken } = streams([delivery('one')], [delivery('two')])
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  const begun: string[] = []
  const worker = client.worker({
    mode: 'sse',
    concurrency: 1,
    async handle({ event }) {
      begun.push(event.id)
      if (event.id === 'one') await first.promise
      else second.resolve()
    },
  })
  await taken[1]
  // A delivery that is read is handled in the same turn.
  await nextTurn()
  assert.deepEqual(begun, ['one'])
  first.resolve()
  await second.promise
  await worker.stop()
  // The second is started after its lease was found to be held still.
  assert.deepEqual(told, ['ack dlv_one', 'extend dlv_two', 'ack dlv_two'])
})

test('[SDK-13] an extension of a lease that is under way does not outlive its worker', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const now = t.mock.method(performance, 'now', () => 0)
  const { fetch, asked } = farEnd(({ url }) => url.endsWith('/extend'))
  const extensions: AbortSignal[] = []
  let polls = 0
  const given: typeof fetch = (input, init) => {
    const { pathname } = new URL(String(input))
    if (pathname.endsWith('/extend')) extensions.push(init!.signal!)
    if (!pathname.endsWith('/poll')) return fetch(input, init)
    if (polls++ === 0) return Promise.resolve(Response.json({ deliveries: [delivery('slow')], count: 1 }))
    return new Promise((_, reject) => init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason)))
  }
  const begun = Promise.withResolvers<void>()
  const errors: unknown[] = []
  const worker = createClient({ url: 'http://service', token: 't', fetch: given }).worker({
    onError: (error) => errors.push(error),
    async handle() {
      begun.resolve()
      await asked('/v1/delivery/extend')
    },
  })
  await begun.promise
  now.mock.mockImplementation(() => 700)
  t.mock.timers.tick(700)
  await worker.stop()
  assert.deepEqual([extensions.map(({ aborted }) => aborted), errors], [[true], []])
})

test('[SDK-13] a second stop with a grace period ends what the first one waited for', async () => {
  const { client, told } = streams([delivery('slow')])
  const begun = Promise.withResolvers<void>()
  const worker = client.worker({
    mode: 'sse',
    handle() {
      begun.resolve()
      return new Promise(() => {})
    },
  })
  await begun.promise
  const patient = worker.stop()
  await worker.stop(0)
  await patient
  assert.deepEqual(told, ['nack dlv_slow'])
})

const LAST_CALLS = {
  'ack dlv_one': async () => {},
  'nack dlv_one': () => new Promise(() => {}),
  'extend dlv_two': async () => {},
}
for (const [call, handle] of Object.entries(LAST_CALLS))
  test(`[SDK-13] ${call} is given up a second after the grace period, if the service does not respond`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { client, hears, unanswered } = streams([delivery('one'), delivery('two')])
    unanswered.add(call)
    const begun = Promise.withResolvers<void>()
    const errors: unknown[] = []
    const worker = client.worker({
      mode: 'sse',
      concurrency: 1,
      leaseSeconds: 30,
      onError: (error) => errors.push(String(error)),
      handle() {
        begun.resolve()
        return handle()
      },
    })
    await begun.promise
    await nextTurn()
    // The time in which acknowledgements are gathered.
    t.mock.timers.tick(5)
    if (!call.startsWith('nack')) await hears(call)
    let isStopped = false
    const stopped = worker.stop(2000).then(() => (isStopped = true))
    t.mock.timers.tick(2000)
    await hears(call)
    t.mock.timers.tick(999)
    await nextTurn()
    assert.equal(isStopped, false)
    t.mock.timers.tick(1)
    await stopped
    assert.deepEqual(errors, ['Error: the worker was stopped before the service responded'])
  })

for (const endless of [Number.POSITIVE_INFINITY, 2 ** 31])
  test(`[SDK-13] no timer is set for ${endless} ms, after which it would fire at once`, async (t) => {
    const timeouts = t.mock.method(globalThis, 'setTimeout')
    const { client, told } = streams([delivery('slow')])
    const begun = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const worker = client.worker({
      mode: 'sse',
      async handle({ signal }) {
        begun.resolve()
        await held.promise
        assert.equal(signal.aborted, false)
      },
    })
    await begun.promise
    const stopped = worker.stop(endless)
    held.resolve()
    await stopped
    assert.deepEqual(told, ['ack dlv_slow'])
    const patient = createClient({
      url: 'http://service',
      token: 't',
      timeoutMs: endless,
      attempts: 1,
      fetch: farEnd(() => false).fetch,
    })
    assert.deepEqual(await patient.agents.get('agt_1'), {})
    await assert.rejects(patient.memory.exportLines({}).next(), /is no application\/x-ndjson/)
    assert.ok(timeouts.mock.calls.every(({ arguments: [, ms = 0] }) => ms < 2 ** 31))
  })

test('[SDK-10] a worker without onError logs errors to the console', async (t) => {
  const said = t.mock.method(console, 'error', () => {})
  const { client } = streams([delivery('bad')])
  const failed = Promise.withResolvers<void>()
  const worker = client.worker({
    mode: 'sse',
    handle() {
      failed.resolve()
      throw new Error('no such pump')
    },
  })
  await failed.promise
  await worker.stop()
  assert.match(said.mock.calls.map(({ arguments: [text] }) => String(text)).join('\n'), /no such pump/)
})

const BROKEN_LOGGERS = {
  throws() {
    throw new Error('no disk')
  },
  rejects: async () => Promise.reject(new Error('no disk')),
}
for (const [how, onError] of Object.entries(BROKEN_LOGGERS))
  test(`[SDK-10] a delivery is given back also if onError ${how}, and the console gets both errors`, async (t) => {
    const said = t.mock.method(console, 'error', () => {})
    const { client, hears } = streams([delivery('bad')])
    const worker = client.worker({
      mode: 'sse',
      onError,
      handle() {
        throw new Error('no such pump')
      },
    })
    await hears('nack dlv_bad')
    await worker.stop()
    const lines = said.mock.calls.map(({ arguments: [text] }) => String(text)).join('\n')
    assert.match(lines, /no such pump\n.*no disk/)
  })

test('[SDK-10] a handled delivery that can no longer be acknowledged is reported', async () => {
  const { client, lost, hears } = streams([delivery('late')])
  lost.add('dlv_late')
  const errors: unknown[] = []
  const worker = client.worker({ mode: 'sse', handle: () => {}, onError: (error) => errors.push(error) })
  await hears('ack dlv_late')
  await worker.stop()
  assert.match(errors.join(), /^Error: 1 of 1 handled deliveries were settled before/)
})

test('[SDK-10] a concurrency that is not a whole number from 1 is refused', () => {
  const client = createClient({ url: 'http://service', token: 't' })
  for (const concurrency of [0, -1, 0.5, Number.NaN])
    assert.throws(() => client.worker({ concurrency, handle: () => {} }), RangeError)
})

test('[SDK-10] a worker without a handler is refused at once, and takes nothing', () => {
  const client = createClient({ url: 'http://service', token: 't', fetch: () => assert.fail('a call was made') })
  for (const options of [{}, { handler: () => {} }, { handle: 'later' }])
    assert.throws(() => client.worker(options as never), { name: 'TypeError', message: 'handle takes a function' })
})

test('[SDK-7] an attribute that is undefined counts as left out', async () => {
  const bodies: unknown[] = []
  const given: typeof fetch = async (input, init) => {
    bodies.push(await new Request(input as string, init).json())
    return Response.json({ event_id: 'e', status: 'accepted' })
  }
  const client = createClient({ url: 'http://service', token: 't', fetch: given, events: { source: '/mine' } })
  const left: undefined = undefined
  await client.publish({ type: 'a.b', id: left, source: left, time: left } as never)
  const [event] = bodies as Record<string, unknown>[]
  assert.equal(event!['source'], '/mine')
  assert.match(String(event!['id']), /^[0-9a-f-]{36}$/)
  await client.interests.create('agt_1', { event_type: 'a', priority: left, enrichment_depth: left } as never)
  assert.deepEqual(bodies[1], { event_type: 'a', priority: 0, enrichment_depth: 'none' })
  await client.memory.remember({ title: 't', content: 'c', type: left, scope: left } as never)
  assert.deepEqual(bodies[2], { title: 't', content: 'c', type: 'semantic', scope: 'agent' })
})
