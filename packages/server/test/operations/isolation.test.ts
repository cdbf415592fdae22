// Tenants do not exist for each other. The cases come from the contract itself: a new operation is tested, and fails
// here until MAKE says how to create what its path names.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { operations, type Operation } from '@sensorium/contract'
import { exampleOf } from '../../src/operations/validate.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { startService, type Reply, type Service, type TestAgent, type TestTenant } from '../support/service.ts'

const ALL = (Object.values(operations) as Operation[]).filter(
  ({ base, access }) => base === 'v1' && access.scope !== 'public',
)

/** A tenant with one agent that owns one of everything. */
interface World {
  tenant: TestTenant
  agent: TestAgent
  colleague: TestAgent
  call(request: string, body?: unknown): Promise<Reply>
  /** The same call as the org-admin. */
  callAsAdmin(request: string, body?: unknown): Promise<Reply>
  /** The id for this place of a path, created when it is first needed. */
  id(place: string): Promise<string>
}

const EVENT = { specversion: '1.0', type: 'com.example.kept', source: '/isolation', id: 'evt-kept' }
const MEMORY = {
  type: 'semantic',
  scope: 'institutional',
  title: 'A secret of the house',
  content: 'The cellar has a second door',
}
const INTEREST = { priority: 0, enrichment_depth: 'none' }

/** How to create what a path names, by the path up to that place. */
const MAKE: Record<string, (world: World) => Promise<string>> = {
  '/agents/{id}': async ({ agent }) => agent.id,
  '/agents/{id}/keys/{key_id}': async ({ agent }) => agent.keyId,
  '/agents/{id}/interests/{interest_id}': async ({ agent, call }) =>
    (await call(`POST /v1/agents/${agent.id}/interests`, { ...INTEREST, event_type: 'com.example.interest' })).body.id,
  '/events/{id}': async ({ call }) => (await call('POST /v1/events', EVENT)).body.event_id,
  '/delivery/dlq/{id}': async ({ agent, call }) => {
    await call(`POST /v1/agents/${agent.id}/interests`, { ...INTEREST, event_type: 'com.example.dead' })
    await call('POST /v1/events', { ...EVENT, type: 'com.example.dead', id: 'evt-dead' })
    const { deliveries } = (await call('GET /v1/delivery/poll')).body
    const delivery_ids = deliveries.map(({ id }: { id: string }) => id)
    assert.equal((await call('POST /v1/delivery/nack', { delivery_ids, dead_letter: true })).body.nacked, 1)
    return delivery_ids[0]
  },
  '/channels/{id}': async ({ call }) => (await call('POST /v1/channels', { name: 'Corridor', type: 'open' })).body.id,
  '/channels/{id}/members/{participant_type}': async () => 'agent',
  '/channels/{id}/members/{participant_type}/{participant_id}': async ({ id, colleague, call }) => {
    const body = { participant_type: 'agent', participant_id: colleague.id }
    return (await call(`POST /v1/channels/${await id('/channels/{id}')}/members`, body)).body.participant_id
  },
  '/channels/{id}/feeds/{feed_id}': async ({ id, call }) =>
    (await call(`POST /v1/channels/${await id('/channels/{id}')}/feeds`, { event_type_glob: 'com.example.feed' })).body
      .id,
  '/memories/{id}': async ({ call }) => (await call('POST /v1/memories', MEMORY)).body.id,
  '/memories/{id}/relationships/{rel_id}': async ({ id, call }) => {
    const target = await call('POST /v1/memories', { ...MEMORY, title: 'Another' })
    const body = { target_memory_id: target.body.id, relationship_type: 'supports' }
    return (await call(`POST /v1/memories/${await id('/memories/{id}')}/relationships`, body)).body.id
  },
}

/** Valid bodies for operations whose examples in the contract do not form one. */
const BODIES: Record<string, unknown> = {
  promoteMemory: { scope: 'institutional' },
}

/** Operations that name a resource in their body: the resource, its kind, and the request that names it. */
const NAMED_IN_BODY: [
  operation: string,
  place: string,
  type: string,
  request: (own: World, id: string) => Promise<Reply<unknown>>,
][] = [
  [
    'addMember',
    '/agents/{id}',
    'agent',
    async ({ call, id }, participant_id) =>
      call(`POST /v1/channels/${await id('/channels/{id}')}/members`, { participant_type: 'agent', participant_id }),
  ],
  [
    'explainEvent',
    '/agents/{id}',
    'agent',
    ({ call }, agent_id) => call('POST /v1/events/explain', { event: EVENT, agent_id }),
  ],
  [
    'createRelationship',
    '/memories/{id}',
    'memory',
    async ({ call, id }, target_memory_id) =>
      call(`POST /v1/memories/${await id('/memories/{id}')}/relationships`, {
        target_memory_id,
        relationship_type: 'supports',
      }),
  ],
]

/** An id of the same form that was never used. */
const neverMade = (id: string): string =>
  /_[0-9a-z]{26}$/.test(id) ? id.replace(/_.{26}$/, '_01hv3k8z9q4m7t2x5c6w8r0s1d') : `${id}-never`

/** Every place of a path that names a resource, with the path up to it. */
const placesOf = (path: string): string[] =>
  [...path.matchAll(/\{\w+\}/g)].map(({ index, 0: name }) => path.slice(0, index + name.length))

onBothEngines((engine) => {
  let service: Service
  let theirs: World
  let ours: World

  async function makeWorld(): Promise<World> {
    const tenant = await service.tenant()
    const [agent, colleague] = [await tenant.agent(), await tenant.agent()]
    const made = new Map<string, Promise<string>>()
    const world: World = {
      tenant,
      agent,
      colleague,
      call: (request, body) => service.call(request, { token: agent.token, body }),
      callAsAdmin: (request, body) => service.call(request, { token: tenant.admin, body }),
      id(place) {
        const make = MAKE[place]
        assert.ok(make, `say in MAKE how to make what ${place} names`)
        if (!made.has(place)) made.set(place, make(world))
        return made.get(place)!.then((id) => {
          assert.equal(typeof id, 'string', `what ${place} names could not be made`)
          return id
        })
      },
    }
    return world
  }

  before(async () => {
    service = await startService(engine)
    theirs = await makeWorld()
    ours = await makeWorld()
  })
  after(() => service.stop())

  /** Fills the places of a path with these ids, in order. */
  const filled = (path: string, ids: readonly string[]): string => {
    let i = 0
    return path.replace(/\{\w+\}/g, () => encodeURIComponent(ids[i++]!))
  }

  async function ask(operation: Operation, ids: readonly string[], token: string): Promise<Reply> {
    const body = operation.body ? (BODIES[operation.id] ?? exampleOf(operation.body)) : undefined
    const reply = await service.call(`${operation.method} /v1${filled(operation.path, ids)}`, {
      token,
      body,
      headers: { 'x-request-id': 'same' },
    })
    // A response may repeat the ids of the request.
    const named = ids.reduce((text, id) => text.replaceAll(id, '<id>'), reply.text)
    return { ...reply, text: named }
  }

  /** Requests resources of the other tenant and ones that never existed, as each kind of principal, and compares. */
  async function assertUnseen(
    operation: Operation,
    foreign: readonly string[],
    random: readonly string[],
  ): Promise<void> {
    assert.notDeepEqual(foreign, random)
    const { agent, tenant } = ours
    for (const token of [agent.token, tenant.admin]) {
      const [one, other] = [await ask(operation, foreign, token), await ask(operation, random, token)]
      assert.notEqual(assertError(one, 'not_found')['resource_type'], 'path')
      assert.equal(one.text, other.text)
      assert.equal(one.status, other.status)
      const named = (reply: Reply): [string, string][] =>
        [...reply.headers].filter(([name]) => !['date', 'content-length'].includes(name))
      assert.deepEqual(named(one), named(other))
    }
  }

  // A PUT creates what does not exist, for another tenant's id as for an unused one: see external-ids.test.ts.
  for (const operation of ALL.filter(({ method, path }) => path.includes('{') && method !== 'PUT')) {
    const places = placesOf(operation.path)

    test(`[ISO-1] [HTTP-13] ${operation.method} ${operation.path}: a foreign id is like an unused one`, async () => {
      const foreign = await Promise.all(places.map((place) => theirs.id(place)))
      await assertUnseen(
        operation,
        foreign,
        foreign.map((id) => (id === 'agent' ? id : neverMade(id))),
      )
    })

    if (places.length > 1) {
      test(`[ISO-1] ${operation.method} ${operation.path}: so is a foreign last id`, async () => {
        const own = await Promise.all(places.slice(0, -1).map((place) => ours.id(place)))
        const foreign = await theirs.id(places.at(-1)!)
        await assertUnseen(operation, [...own, foreign], [...own, neverMade(foreign)])
      })
    }
  }

  for (const [name, place, resource_type, request] of NAMED_IN_BODY.filter(([name]) => name in operations)) {
    test(`[ISO-2] [HTTP-14] ${name} does not find resources of another tenant`, async () => {
      const foreign = await theirs.id(place)
      for (const id of [foreign, neverMade(foreign)]) {
        assertError(await request(ours, id), 'not_found', { resource_type, resource_id: id })
      }
    })
  }

  test('[ISO-3] no list or search contains anything of another tenant', async () => {
    for (const place of Object.keys(MAKE)) await theirs.id(place)
    const known = await Promise.all(
      Object.keys(MAKE)
        .filter((place) => !place.endsWith('{participant_type}'))
        .map((place) => theirs.id(place)),
    )
    const secrets = [...known, theirs.tenant.id, theirs.agent.id, theirs.colleague.id].filter(
      (id) => !id.startsWith('evt-'),
    )
    const isList = ({ method, path, produces }: Operation): boolean =>
      method === 'GET' && !path.includes('{') && !produces
    const lists = ALL.filter(isList).map(({ path }) => `GET /v1${path}`)
    assert.ok(lists.length >= 4)
    for (const token of [ours.agent.token, ours.tenant.admin]) {
      for (const list of lists) {
        const { text } = await service.call(list, { token })
        for (const secret of secrets) assert.equal(text.includes(secret), false, `${list} shows ${secret}`)
      }
      const search = await service.call('POST /v1/memories/search', {
        token,
        body: { query: MEMORY.content, limit: 100 },
      })
      for (const secret of secrets) assert.equal(search.text.includes(secret), false)
    }
  })

  test('[ISO-1] the resources of the other tenant are unchanged by all those requests', async () => {
    for (const place of ['/agents/{id}', '/channels/{id}', '/events/{id}', '/memories/{id}'] as const) {
      assert.equal((await theirs.call(`GET /v1${place.replace('{id}', await theirs.id(place))}`)).status, 200)
    }
    assert.equal((await theirs.call('GET /v1/delivery/dlq')).body.total, 1)
    const keys = await theirs.call(`GET /v1/agents/${theirs.agent.id}/keys`)
    assert.deepEqual(
      keys.body.keys.map(({ id }: { id: string }) => id),
      [theirs.agent.keyId],
    )
    assert.equal((await theirs.call(`GET /v1/agents/${theirs.agent.id}`)).body.name, 'Agent')
  })

  test('[ISO-4] [ISO-5] an event reaches its own tenant only, and its id is taken there only', async () => {
    const worlds = [await makeWorld(), await makeWorld()]
    for (const { agent, call } of worlds)
      await call(`POST /v1/agents/${agent.id}/interests`, { ...INTEREST, event_type: '*' })
    for (const [i, { call }] of worlds.entries()) {
      const published = await call('POST /v1/events', { ...EVENT, id: 'evt-same', data: { from: i } })
      assert.equal(`${published.status} ${published.body.status}`, '202 accepted')
    }
    for (const [i, { call }] of worlds.entries()) {
      const { deliveries } = (await call('GET /v1/delivery/poll')).body
      assert.deepEqual(
        deliveries.map(({ payload }: { payload: { data: unknown } }) => payload.data),
        [{ from: i }],
      )
    }
  })

  test('[ISO-6] the reach of an org-admin ends at its tenant', async () => {
    const { body } = await service.call('GET /v1/agents', { token: ours.tenant.admin })
    assert.deepEqual(body.agents.map(({ id }: { id: string }) => id).sort(), [ours.agent.id, ours.colleague.id].sort())
    assert.equal(body.total, 2)
  })
})
