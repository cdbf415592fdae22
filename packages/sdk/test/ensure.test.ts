// Start-up code describes the wanted state, and runs at every start.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, type Client, type Description, type Ensured, type EnsureOptions } from '@sensorium/client'
import { onBothEngines } from '../../server/test/support/engines.ts'
import { OPERATOR_TOKEN, serviceForSuite, type TestTenant } from '../../server/test/support/service.ts'

const agent = (external_id: string, name = external_id) => ({
  external_id,
  name,
  delivery_mode: 'poll' as const,
  client_type: 'other',
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  let tenant: TestTenant
  let admin: Client

  const fresh = async (): Promise<void> => {
    tenant = await service.tenant()
    admin = createClient({ url: service.url, apiKey: tenant.adminKey })
  }

  const TEAM: Description = {
    agents: [agent('triage', 'Triage'), agent('billing')],
    interests: [
      { agent: 'triage', event_type: 'com.shop.*', filter_expression: 'data.total > 100', priority: 5 },
      { agent: 'triage', event_type: 'com.mail.*' },
      { agent: 'billing', event_type: 'com.bank.*' },
    ],
    channels: [{ external_id: 'incidents', name: 'Incidents', type: 'private', members: ['triage', 'billing'] }],
    feeds: [{ channel: 'incidents', event_type_glob: 'com.plant.*', filter_expression: 'has(data.alarm)' }],
  }

  test('[SDK-18][SDK-19] what is described exists afterwards, and running it again changes nothing', async () => {
    await fresh()
    const first = await admin.ensure(TEAM, { mintKeys: true })
    assert.deepEqual(Object.keys(first.agents), ['triage', 'billing'])
    assert.deepEqual(
      first.interests.map(({ event_type, priority, enrichment_depth }) => [event_type, priority, enrichment_depth]),
      [
        ['com.shop.*', 5, 'none'],
        ['com.mail.*', 0, 'none'],
        ['com.bank.*', 0, 'none'],
      ],
    )
    // The second run needs no key: there is nothing to create.
    assert.deepEqual(await admin.ensure(TEAM), first)
    assert.deepEqual(await createClient({ url: service.url, token: tenant.admin }).ensure(TEAM), first)
    const { members } = await admin.channels.members(first.channels['incidents']!.id)
    assert.equal(members.length, 3)
    for (const { id } of Object.values(first.agents)) assert.deepEqual((await admin.keys.list(id)).keys, [])
    // The setup works: an alarm of a pump reaches all of them.
    assert.equal((await admin.publish({ type: 'com.plant.pump', data: { alarm: true } })).recipients, 3)
  })

  test('[SDK-19] an interest of nobody is refused, and the error says which key is needed', async () => {
    await assert.rejects(admin.ensure({ interests: [{ event_type: 'com.shop.*' }] }), {
      name: 'TypeError',
      message: /use a key of the agent, or name it and set mintKeys/,
    })
  })

  test('[SDK-18] what is no longer described is removed, or kept on request', async () => {
    await fresh()
    const { agents, channels } = await admin.ensure(TEAM, { mintKeys: true })
    const changed: Description = {
      ...TEAM,
      agents: [agent('triage', 'Triage II')],
      channels: [{ external_id: 'incidents', name: 'Incidents', type: 'private', members: ['triage'] }],
      interests: [
        { agent: 'triage', event_type: 'com.shop.*', filter_expression: 'data.total > 500' },
        { agent: 'triage', event_type: 'com.mail.*', priority: 2, enrichment_depth: 'light' },
      ],
      feeds: [{ channel: 'incidents', event_type_glob: 'com.plant.pump.*' }],
    }
    const kept = await admin.ensure(changed, { mintKeys: true, keepOthers: true })
    const triage = agents['triage']!.id
    const room = channels['incidents']!.id
    const shown = async () => ({
      interests: (await admin.interests.list(triage)).interests.map((i) => `${i.event_type} ${i.priority}`).sort(),
      feeds: (await admin.channels.feeds(room)).feeds.map((feed) => feed.event_type_glob).sort(),
    })
    assert.equal(kept.agents['triage']!.name, 'Triage II')
    assert.deepEqual(await shown(), {
      interests: ['com.mail.* 2', 'com.shop.* 0', 'com.shop.* 5'],
      feeds: ['com.plant.*', 'com.plant.pump.*'],
    })
    await admin.ensure(changed)
    assert.deepEqual(await shown(), { interests: ['com.mail.* 2', 'com.shop.* 0'], feeds: ['com.plant.pump.*'] })
    // What the description does not mention stays: the other agent and its interest.
    const { interests } = await admin.interests.list(agents['billing']!.id)
    assert.equal(interests.length, 1)
  })

  test('[SDK-18] several processes that start concurrently create everything once', async () => {
    await fresh()
    const clients = Array.from({ length: 4 }, () => createClient({ url: service.url, apiKey: tenant.adminKey }))
    const all = await Promise.all(clients.map((client) => client.ensure(TEAM, { mintKeys: true })))
    const last = await admin.ensure(TEAM)
    for (const { agents, channels, interests } of all) {
      assert.deepEqual([agents, channels], [last.agents, last.channels])
      assert.deepEqual(interests, last.interests)
    }
    const { feeds } = await admin.channels.feeds(last.channels['incidents']!.id)
    assert.equal(feeds.length, 1)
  })

  test('[SDK-18] a feed that another process created at the same moment is not left twice', async () => {
    await fresh()
    const described: Description = {
      channels: [{ external_id: 'incidents', name: 'Incidents', type: 'private' }],
      feeds: [{ channel: 'incidents', event_type_glob: 'com.plant.*' }],
    }
    let first: Promise<Ensured> | undefined
    // The other process runs as a whole between the list of feeds and the creation of the missing one.
    const late: typeof fetch = async (input, init) => {
      if (init?.method === 'POST' && String(input).endsWith('/feeds')) await (first ??= admin.ensure(described))
      return fetch(input, init)
    }
    const second = createClient({ url: service.url, apiKey: tenant.adminKey, fetch: late })
    const { feeds, channels } = await second.ensure(described, { keepOthers: true })
    assert.deepEqual(feeds, (await first)!.feeds)
    assert.deepEqual((await admin.channels.feeds(channels['incidents']!.id)).feeds, feeds)
  })

  test('[SDK-18][SDK-19] an agent describes itself; interests of others need a key of theirs', async () => {
    await fresh()
    const one = await tenant.agent({ scopes: ['interests:read', 'interests:write'] })
    const client = createClient({ url: service.url, apiKey: one.key })
    const { interests } = await client.ensure({ interests: [{ event_type: 'a.*' }] })
    assert.equal(interests[0]!.agent_id, one.id)
    await assert.rejects(admin.ensure({ interests: [{ event_type: 'a.*' }] }), TypeError)
    const described: Description = { agents: [agent('triage')], interests: [{ agent: 'triage', event_type: 'b.*' }] }
    await assert.rejects(admin.ensure(described), /mintKeys/)
    // A filter that does not parse is refused, and the minted key is still removed.
    const wrong: Description = {
      agents: [agent('triage')],
      interests: [{ agent: 'triage', event_type: 'b.*', filter_expression: 'data.n >' }],
    }
    await assert.rejects(admin.ensure(wrong, { mintKeys: true }), { code: 'validation_failed' })
    const { agents } = await admin.ensure({ agents: [agent('triage')] })
    assert.deepEqual((await admin.keys.list(agents['triage']!.id)).keys, [])
    // So it is if the caller gives up meanwhile.
    const aborting = new AbortController()
    const abortAtInterest: typeof fetch = async (input, init) => {
      if (init?.method === 'POST' && String(input).endsWith('/interests')) aborting.abort()
      return fetch(input, init)
    }
    const hasty = createClient({ url: service.url, apiKey: tenant.adminKey, fetch: abortAtInterest })
    await assert.rejects(hasty.ensure(described, { mintKeys: true, signal: aborting.signal }), { name: 'AbortError' })
    assert.deepEqual((await admin.keys.list(agents['triage']!.id)).keys, [])
  })

  test('[SDK-18] an interest that cannot be replaced stays', async () => {
    await fresh()
    const withPriority = (priority: number): Description => ({
      agents: [agent('triage')],
      interests: [{ agent: 'triage', event_type: 'com.shop.*', filter_expression: 'data.total > 1', priority }],
    })
    const { agents, interests } = await admin.ensure(withPriority(1), { mintKeys: true })
    const list = async () => (await admin.interests.list(agents['triage']!.id)).interests
    // Nothing is removed if no key may be minted, or if the new interest is not valid.
    await assert.rejects(admin.ensure(withPriority(2)), /mintKeys/)
    await assert.rejects(admin.ensure(withPriority(-1), { mintKeys: true }), { code: 'validation_failed' })
    assert.deepEqual(await list(), interests)
    // The second request to create it is the one after the removal.
    for (const fails of ['is refused', 'is aborted']) {
      const aborting = new AbortController()
      let creations = 0
      const failing: typeof fetch = async (input, init) => {
        if (init?.method !== 'POST' || !String(input).endsWith('/interests') || ++creations !== 2)
          return fetch(input, init)
        assert.deepEqual(await list(), [])
        if (fails === 'is refused') return Response.json({}, { status: 403 })
        aborting.abort()
        return fetch(input, init)
      }
      const unlucky = createClient({ url: service.url, apiKey: tenant.adminKey, fetch: failing })
      await assert.rejects(unlucky.ensure(withPriority(2), { mintKeys: true, signal: aborting.signal }))
      assert.deepEqual(
        (await list()).map(({ event_type, filter_expression, priority }) => [event_type, filter_expression, priority]),
        [['com.shop.*', 'data.total > 1', 1]],
        fails,
      )
    }
    // A key that a caller without types passes is not used: a replayed refusal would hide that nothing was created.
    const keyed = { mintKeys: true, idempotencyKey: 'boot-1' } as EnsureOptions
    assert.equal((await admin.ensure(withPriority(3), keyed)).interests[0]?.priority, 3)
    // A tenant whose quota is used up can still replace one.
    const settings = { token: OPERATOR_TOKEN, body: { quota_interests: 1 } }
    assert.equal((await service.call(`PATCH /operator/tenants/${tenant.slug}/settings`, settings)).status, 200)
    const changed = await admin.ensure(withPriority(2), { mintKeys: true })
    assert.deepEqual(await list(), changed.interests)
    assert.equal(changed.interests[0]!.priority, 2)
  })
})

const MISSPELT: [wrong: object, options: object, message: string][] = [
  [{ agent: [agent('triage')] }, {}, 'there is no member agent in the description. Did you mean agents?'],
  [{ chanels: [] }, {}, 'there is no member chanels in the description. Did you mean channels?'],
  [
    { toString: [] },
    {},
    'there is no member toString in the description. Known are agents, channels, feeds, interests',
  ],
  [{}, { mintKey: true }, 'there is no member mintKey in the options. Did you mean mintKeys?'],
  [{}, { keep_others: true }, 'there is no member keep_others in the options. Did you mean keepOthers?'],
  [{ interests: [{ event_type: '*', filter: 'true' }] }, {}, 'there is no member filter in interests[0]. Did you mean filter_expression?'], // biome-ignore format: one case a line
  [{ channels: [{ member: ['triage'] }] }, {}, 'there is no member member in channels[0]. Did you mean members?'],
  [{ feeds: [{ channel: 'c', event_type: '*' }] }, {}, 'there is no member event_type in feeds[0]. Did you mean event_type_glob?'], // biome-ignore format: one case a line
  [{ agents: [agent('a'), { ...agent('b'), deliverymode: 'poll' }] }, {}, 'there is no member deliverymode in agents[1]. Did you mean delivery_mode?'], // biome-ignore format: one case a line
]

for (const [wrong, options, message] of MISSPELT)
  test(`[SDK-71] ensure refuses what it does not know, before anything is done: ${message}`, async () => {
    const asked: unknown[] = []
    const client = createClient({
      url: 'http://localhost:1',
      token: 'none',
      fetch: async (input) => Promise.reject(new Error(String(asked.push(input)))),
    })
    await assert.rejects(client.ensure(wrong as Description, options as EnsureOptions), {
      name: 'TypeError',
      message: `ensure: ${message}`,
    })
    assert.deepEqual(asked, [])
  })

test('[SDK-61][SDK-71] an unknown member that is undefined means the same as a missing one', async () => {
  const client = createClient({
    url: 'http://localhost:1',
    token: 'none',
    fetch: async () => Response.json({ agent: null }),
  })
  const ensured = await client.ensure({ agent: undefined } as Description, { mintKey: undefined } as EnsureOptions)
  assert.deepEqual(ensured, { agents: {}, channels: {}, interests: [], feeds: [] })
})
