// The client against the real service.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import {
  createClient,
  SensoriumError,
  type Client,
  type DeadLetterItem,
  type ErrorBody,
  type NewEvent,
  type Published,
} from '@sensorium/client'
import { eachOf } from '../src/pages.ts'
import { onBothEngines } from '../../server/test/support/engines.ts'
import { serviceForSuite, tenantForSuite } from '../../server/test/support/service.ts'

test('[SDK-1] a key is minted with scopes that are a constant', async () => {
  const bodies: unknown[] = []
  const given: typeof fetch = async (_, init) => {
    bodies.push(JSON.parse(String(init!.body)))
    return Response.json({})
  }
  const scopes = ['send', 'receive'] as const
  await createClient({ url: 'http://service', token: 't', fetch: given }).keys.mint('agt_1', { scopes })
  assert.deepEqual(bodies, [{ scopes }])
})

test('[SDK-1] an attribute that is spelt as in other APIs does not compile', () => {
  // @ts-expect-error It would be another attribute than `replyto`, and nobody would reply.
  const misspelt: NewEvent = { type: 'a.b', replyTo: 'agt_1' }
  const extended: NewEvent = { type: 'a.b', replyto: 'agt_1', tenantzone: 'eu' }
  assert.deepEqual([misspelt, extended].map(Object.keys), [
    ['type', 'replyTo'],
    ['type', 'replyto', 'tenantzone'],
  ])
})

// The types are a part of this test: with `exactOptionalPropertyTypes` it does not compile if one refuses undefined.
test('[SDK-61] an undefined field means the same as a missing one', async () => {
  const sent: { url: string; body: Record<string, unknown> }[] = []
  const given: typeof fetch = async (url, init) => {
    const body = init!.body === undefined ? {} : (JSON.parse(String(init!.body)) as Record<string, unknown>)
    sent.push({ url: String(url), body })
    return Response.json({ results: [], agents: [], total: 0 })
  }
  const none = { subject: undefined, source: undefined, causationid: undefined, recipient: undefined, id: undefined }
  const events = { source: '/plant', traceparent: undefined }
  const asked = { type: 'asked', source: '/s', id: 'question', replyto: 'agt_1', specversion: '1.0' as const }
  const client = createClient({ url: 'http://service', token: 't', apiKey: undefined, fetch: given, events }).with(none)
  await client.publish({ type: 'x', ...none })
  await client.events.reply(asked, { type: 'answered', ...none, correlationid: undefined })
  await client.agents.register({ name: 'a', delivery_mode: 'poll', client_type: 'other', description: undefined })
  await client.memory.remember({ title: 't', content: 'c', type: undefined, scope: undefined, metadata: undefined })
  await client.memory.recall({ query: 'q', min_score: undefined, limit: undefined })
  await client.agents.list({ status: undefined, limit: 1 })
  const [published, reply, agent, memory, search, list] = sent as Required<typeof sent>
  const { id: _, time: __, ...event } = published!.body
  assert.deepEqual(event, { specversion: '1.0', type: 'x', source: '/plant' })
  const { recipient, correlationid, causationid } = reply!.body
  assert.deepEqual([recipient, correlationid, causationid], ['agt_1', 'question', 'question'])
  assert.deepEqual(agent!.body, { name: 'a', delivery_mode: 'poll', client_type: 'other' })
  assert.deepEqual(memory!.body, { type: 'semantic', scope: 'agent', title: 't', content: 'c' })
  assert.deepEqual(search!.body, { query: 'q' })
  assert.equal(list!.url, 'http://service/v1/agents?limit=1')
})

test('[SDK-4] removing items while walking through a list skips none', async () => {
  for (const removes of [() => true, (n: number) => n % 3 === 0, () => false]) {
    const list = Array.from({ length: 450 }, (_, n) => ({ id: `item-${n}`, n }))
    const walked: number[] = []
    const pages = eachOf('items', async ({ offset, limit }) => ({
      items: list.slice(offset, offset + limit),
      total: list.length,
    }))
    for await (const item of pages) {
      walked.push(item.n)
      if (removes(item.n)) list.splice(list.indexOf(item), 1)
    }
    assert.deepEqual(
      walked,
      Array.from({ length: 450 }, (_, n) => n),
    )
  }
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  let admin: Client
  before(async () => {
    admin = createClient({ url: service.url, apiKey: tenant.adminKey })
  })

  test('[SDK-1] a client made from a key publishes, polls, acknowledges and reads the receipt', async () => {
    const agent = await tenant.agent()
    const client = createClient({ url: `${service.url}/`, apiKey: agent.key })
    assert.equal((await client.agent())?.id, agent.id)
    await client.interests.create(agent.id, { event_type: 'com.example.*' })
    const published = await client.publish({ type: 'com.example.made', data: { n: 1 } })
    assert.deepEqual([published.status, published.recipients], ['accepted', 1])
    const { deliveries } = await client.deliveries.poll()
    assert.equal(deliveries[0]?.event_id, published.event_id)
    assert.equal(deliveries[0]?.payload['source'], `/agents/${agent.id}`)
    assert.equal(await client.deliveries.ack([deliveries[0]!.id]), 1)
    const receipt = await client.events.get(published.event_id)
    assert.equal(receipt.deliveries[0]?.state, 'acknowledged')
  })

  test('[SDK-17] a post reaches the other members of a channel, and a reply its sender', async () => {
    const [asking, asked] = [await tenant.agent(), await tenant.agent()]
    const [mine, theirs] = [asking, asked].map(({ key }) => createClient({ url: service.url, apiKey: key }))
    const room = await mine!.channels.create({ name: 'Room', type: 'open' })
    await theirs!.channels.addMember(room.id, { participant_type: 'agent', participant_id: asked.id })
    const post = { type: 'question.asked', replyto: asking.id, data: { text: 'Who is on call?' } }
    const { event_id, recipients } = await mine!.channels.post(room.id, post)
    assert.equal(recipients, 1)
    const gone = await mine!.channels.create({ name: 'Another room', type: 'open' })
    await mine!.channels.delete(gone.id)
    for (const id of [asked.id, 'a name', gone.id])
      await assert.rejects(mine!.channels.post(id, post), {
        status: 404,
        code: 'not_found',
        message: 'There is no such channel',
        details: { resource_type: 'channel', resource_id: id },
      })
    const answered = new Promise<void>((resolve, reject) => {
      const worker = theirs!.worker({
        async handle({ event, delivery, client }) {
          // The payload of a delivery has the type of an event, for those who poll without a worker.
          await client.events.reply(delivery.payload, { type: 'question.answered', data: { text: 'I am' } })
          await assert.rejects(client.events.reply({ ...event, replyto: '' }, { type: 'x' }), TypeError)
          void worker.stop().then(resolve, reject)
        },
        onError: reject,
      })
    })
    await answered
    const [reply] = (await mine!.deliveries.poll({ wait: 5 })).deliveries
    const { recipient, correlationid, causationid } = reply!.payload
    assert.deepEqual([recipient, correlationid, causationid], [asking.id, event_id, event_id])
  })

  test('[UI-5] a client reports the scopes of its key, from the token', async () => {
    const reader = await tenant.agent({ scopes: ['memory:read', 'receive'] })
    const client = createClient({ url: service.url, apiKey: reader.key })
    assert.deepEqual([...(await client.scopes())!].sort(), ['memory:read', 'receive'])
    assert.ok((await admin.scopes())!.includes('admin'), 'an org-admin holds every scope')
    assert.equal(await createClient({ url: service.url, token: reader.token }).scopes(), undefined)
  })

  test('[SDK-1] a client made from a token needs no key; without either there is no client', async () => {
    const agent = await tenant.agent()
    const client = createClient({ url: service.url, token: agent.token })
    assert.equal((await client.agents.get(agent.id)).id, agent.id)
    assert.equal(await client.agent(), undefined)
    assert.throws(() => createClient({ url: service.url }), TypeError)
  })

  test('[SDK-3] an error has its code, status, details and request id, and is not retried', async () => {
    const error = await admin.agents.get('agt_unknown', { requestId: 'my-request' }).catch((thrown: unknown) => thrown)
    assert.ok(error instanceof SensoriumError)
    assert.deepEqual(
      [error.status, error.code, error.details['resource_type'], error.requestId],
      [404, 'not_found', 'agent', 'my-request'],
    )
  })

  test('[SDK-4] a list is iterated over all its pages', async () => {
    const own = await service.tenant()
    const client = createClient({ url: service.url, apiKey: own.adminKey })
    const names = Array.from({ length: 205 }, (_, n) => `agent ${n}`)
    for (const name of names) await client.agents.register({ name, delivery_mode: 'poll', client_type: 'other' })
    const seen: string[] = []
    for await (const agent of client.agents.each({ status: 'active' })) seen.push(agent.name)
    assert.deepEqual(seen.sort(), names.sort())
  })

  test('[SDK-4] dead letters are iterated over by a filter, and have a name of their own', async () => {
    const agent = await tenant.agent()
    const client = createClient({ url: service.url, apiKey: agent.key })
    await client.interests.create(agent.id, { event_type: 'com.letter.*' })
    const results = await client.events.publishBatch([{ type: 'com.letter.one' }, { type: 'com.letter.two' }])
    const errors: ErrorBody[] = results.flatMap((result) => ('error' in result ? [result.error] : []))
    assert.deepEqual(errors, [])
    const { deliveries } = await client.deliveries.poll()
    await client.deliveries.nack(
      deliveries.map(({ id }) => id),
      { dead_letter: true, reason: undefined },
    )
    const letters: DeadLetterItem[] = []
    for await (const letter of client.deliveries.eachDeadLetter({ event_type: '*.two' })) letters.push(letter)
    assert.deepEqual(
      letters.map(({ payload }) => payload.type),
      ['com.letter.two'],
    )
  })

  test('[SDK-5] a call that is aborted rejects with the reason of its signal', async () => {
    const agent = await tenant.agent()
    const client = createClient({ url: service.url, apiKey: agent.key })
    await client.agent()
    const gone = new AbortController()
    const poll = client.deliveries.poll({ wait: 20 }, { signal: gone.signal })
    const reason = new Error('changed my mind')
    gone.abort(reason)
    await assert.rejects(poll, reason)
    await assert.rejects(client.agents.list({}, { signal: gone.signal }), reason)
  })

  test('[SDK-6] memory: remember, recall, relate, explore, forget', async () => {
    const agent = await tenant.agent()
    const { memory } = createClient({ url: service.url, apiKey: agent.key })
    const pump = await memory.remember({ title: 'Pump 7 runs hot', content: 'The coolant valve sticks.' })
    const valve = await memory.remember({ title: 'Valve', content: 'Order spares from Hansen.', type: 'procedural' })
    const [best] = await memory.recall({ query: 'coolant valve', limit: 1 })
    assert.equal(best?.memory.id, pump.id)
    await memory.relate(pump.id, valve.id, 'related_to', { strength: 0.5 })
    const [reached] = await memory.explore(pump.id)
    assert.deepEqual([reached?.memory.id, reached?.cumulative_strength], [valve.id, 0.5])
    assert.equal((await memory.promote(valve.id, 'institutional')).scope, 'institutional')
    await memory.forget(pump.id)
    await assert.rejects(memory.get(pump.id), { code: 'not_found' })
  })

  test('[SDK-7] a batch is published in one call, each event on its own', async () => {
    const agent = await tenant.agent()
    const client = createClient({ url: service.url, apiKey: agent.key, events: { source: '/batch' } })
    const results = await client.events.publishBatch([{ type: 'a.b' }, { type: '' }, { type: 'a.c', id: 'given' }])
    assert.deepEqual(
      results.map((result) => ('error' in result ? result.error.code : result.status)),
      ['accepted', 'invalid_event', 'accepted'],
    )
    assert.equal((await client.events.get('given')).event!.source, '/batch')
  })

  test('[SDK-8] a publish that is repeated with its idempotency key is done once', async () => {
    const agent = await tenant.agent()
    const ofAgent = () => createClient({ url: service.url, apiKey: agent.key })
    const publish = (n: number, idempotencyKey: string) =>
      ofAgent().publish({ type: 'a.b', data: { n } }, { idempotencyKey })
    const first = await publish(1, 'once')
    assert.deepEqual(await publish(1, 'once'), first)
    assert.notEqual((await publish(1, 'another')).event_id, first.event_id)
    await assert.rejects(publish(2, 'once'), { code: 'conflict' })
    // Another agent may use the same key for an event of its own.
    const other = createClient({ url: service.url, apiKey: (await tenant.agent()).key })
    const same = await other.publish({ type: 'a.b', data: { n: 1 } }, { idempotencyKey: 'once' })
    assert.deepEqual([same.status, same.event_id === first.event_id], ['accepted', false])
    // An id of the caller's own stays.
    const named = { type: 'a.b', id: 'named' }
    for (let n = 0; n < 2; n++)
      assert.equal((await ofAgent().publish(named, { idempotencyKey: 'named' })).status, 'accepted')
    // Equal events of a batch are several events.
    const batch = () => ofAgent().events.publishBatch([{ type: 'a.b' }, { type: 'a.b' }], { idempotencyKey: 'batch' })
    const results = (await batch()) as Published[]
    assert.deepEqual(await batch(), results)
    assert.equal(new Set(results.map(({ event_id }) => event_id)).size, 2)
  })

  test('[SDK-8] an idempotency key may have any characters, and those of Latin-1 mean what they always did', async () => {
    const { token } = await tenant.agent()
    const client = createClient({ url: service.url, token, attempts: 1 })
    const publish = (n: number, idempotencyKey: string) =>
      client.publish({ type: 'a.b', source: '/s', data: { n } }, { idempotencyKey })
    const first = await publish(1, 'order-\u20ac17')
    assert.deepEqual(await publish(1, 'order-\u20ac17'), first)
    await assert.rejects(publish(2, 'order-\u20ac17'), { code: 'conflict' })
    assert.equal((await publish(2, 'order-\u20a417')).status, 'accepted')
    // As fetch sends it, which is how earlier releases of the client did: a byte for each character.
    const key = 'order-\u00fc17'
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key }
    const body = JSON.stringify({ specversion: '1.0', type: 'a.b', source: '/s', id: 'earlier' })
    assert.equal((await fetch(`${service.url}/v1/events`, { method: 'POST', headers, body })).status, 202)
    await assert.rejects(publish(1, key), { code: 'conflict' })
  })

  // The last test, because it moves the clock past the end of every token that the others use.
  test('[SDK-2] a token is renewed before it ends, and exchanged again when it is refused', async () => {
    const agent = await tenant.agent()
    let exchanges = 0
    const counting: typeof fetch = (input, init) => {
      if (String(input).endsWith('/auth/token')) exchanges++
      return fetch(input, init)
    }
    const client = createClient({ url: service.url, apiKey: agent.key, fetch: counting })
    await Promise.all([client.agents.get(agent.id), client.agents.get(agent.id)])
    assert.equal(exchanges, 1, 'calls at the same time share an exchange')
    await client.agents.get(agent.id)
    assert.equal(exchanges, 1)
    // An hour later, by the service's clock, the token it holds has ended.
    await service.clock.jump(3_700_000)
    await client.agents.get(agent.id)
    assert.equal(exchanges, 2)
  })
})
