// The feeds of a channel: which callers create and delete them, and what a feed may contain.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Feed } from '@sensorium/contract'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import {
  assertNotFound,
  assertRule,
  channelCalls,
  orgAdmin,
  routingChanges,
  someAgent,
  type Actor,
  type ErrorBody,
} from './tools.ts'

const NO_FEED = 'fed_01hv3k8z9q4m7t2x5c6w8r0s1d'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const calls = channelCalls(service)
  let people: Record<'org_admin' | 'owner' | 'admin' | 'member' | 'outsider', Actor>
  before(async () => {
    const agent = () => someAgent(tenant)
    people = {
      org_admin: await orgAdmin(service, tenant),
      owner: await agent(),
      admin: await agent(),
      member: await agent(),
      outsider: await agent(),
    }
  })

  async function staffed(type: string): Promise<string> {
    const { owner, admin, member } = people
    const { id } = await calls.open(owner, type)
    await calls.add(owner, id, admin, 'admin')
    await calls.add(owner, id, member)
    return id
  }

  test('[CHN-14] a feed shows its fields', async () => {
    const { owner, member } = people
    const id = await staffed('private')
    const plain = await calls.feed(owner, id, { event_type_glob: 'com.example.*', active: false })
    assert.equal(plain.status, 201)
    const { id: feedId, ...rest } = plain.body as Feed
    assert.match(feedId, /^fed_/)
    const created_at = new Date(service.clock.now()).toISOString()
    assert.deepEqual(rest, {
      channel_id: id,
      event_type_glob: 'com.example.*',
      filter_expression: null,
      active: true,
      created_at,
    })
    const none = await calls.feed(owner, id, { event_type_glob: '*', filter_expression: null })
    assert.deepEqual([none.status, none.body.filter_expression], [201, null])
    const filtered = await calls.feed(owner, id, {
      event_type_glob: '*',
      filter_expression: 'data.total > 100 && region == "eu"',
    })
    assert.deepEqual([filtered.status, filtered.body.filter_expression], [201, 'data.total > 100 && region == "eu"'])
    // The same again is another feed: a member still receives an event once.
    const twin = await calls.feed(owner, id, { event_type_glob: '*', filter_expression: null })
    assert.equal(twin.status, 201)
    assert.deepEqual(await calls.feeds(member, id), [twin.body, filtered.body, none.body, plain.body])
  })

  const bad: [field: string, body: object][] = [
    ['event_type_glob', {}],
    ['event_type_glob', { event_type_glob: '' }],
    ['event_type_glob', { event_type_glob: '  ' }],
    ['event_type_glob', { event_type_glob: 5 }],
    ['event_type_glob', { event_type_glob: 'x'.repeat(513) }],
    ['filter_expression', { event_type_glob: '*', filter_expression: 5 }],
    ['filter_expression', { event_type_glob: '*', filter_expression: '' }],
    ['filter_expression', { event_type_glob: '*', filter_expression: `1 == 1${' '.repeat(4096)}` }],
  ]
  for (const [field, body] of bad) {
    test(`[CHN-14] ${JSON.stringify(body).slice(0, 60)} is refused`, async () => {
      const { id } = await calls.open(people.owner, 'private')
      const reply = await calls.feed(people.owner, id, body)
      assert.equal(reply.status, 400)
      assert.equal(reply.body.error.code, 'validation_failed')
      assert.equal(reply.body.error.details['field'], field)
      assert.deepEqual(await calls.feeds(people.owner, id), [])
    })
  }

  test('[CHN-14] a filter that does not parse is refused with the place where it fails', async () => {
    const { owner, member } = people
    const id = await staffed('private')
    for (const [filter, position] of [
      ['data.total >', 12],
      ['data.total > 100)', 16],
      ['"open', 0],
    ] as const) {
      const reply = await calls.feed(owner, id, { event_type_glob: '*', filter_expression: filter })
      assert.equal(reply.status, 400)
      const { field, value, expected, example } = reply.body.error.details
      assert.deepEqual([field, value], ['filter_expression', filter])
      assert.match(String(expected), new RegExp(`position ${position}\\b`))
      // The example in the error is a valid value.
      assert.equal((await calls.feed(owner, id, { event_type_glob: '*', filter_expression: example })).status, 201)
      // A malformed request is refused before permissions and existence are checked.
      const broken = { event_type_glob: '*', filter_expression: filter }
      assert.equal((await calls.feed(member, id, broken)).status, 400)
      assert.equal((await calls.feed(owner, 'chn_x', broken)).status, 400)
    }
  })

  test('[CHN-14] a filter is compiled before the transaction, and holds up no writer', async () => {
    const { id } = await calls.open(people.owner, 'private')
    // On SQLite nobody else can begin a transaction meanwhile.
    await service.store.tx(async () => {
      const reply = await calls.feed(people.owner, id, { event_type_glob: '*', filter_expression: 'data.total >' })
      assert.equal(reply.status, 400)
    })
  })

  // Which callers may add feeds, and which may delete them.
  const TABLE: Record<string, Record<string, [adds: boolean, deletes: boolean]>> = {
    open: {
      org_admin: [true, true],
      owner: [true, true],
      admin: [true, true],
      member: [true, false],
      outsider: [false, false],
    },
    private: { org_admin: [true, true], owner: [true, true], admin: [true, true], member: [false, false] },
  }
  for (const [type, row] of Object.entries(TABLE)) {
    for (const [who, [adds, deletes]] of Object.entries(row)) {
      const may = `${adds ? 'adds' : 'cannot add'} and ${deletes ? 'deletes' : 'cannot delete'}`
      test(`[CHN-6] [CHN-7] ${type} channel: ${who} ${may} feeds`, async () => {
        const by = people[who as keyof typeof people]
        const id = await staffed(type)
        const added = await calls.feed(by, id)
        if (adds) assert.equal(added.status, 201, added.text)
        else assertRule(added, 'role_required')
        const feed = adds ? added.body : (await calls.feed(people.owner, id)).body
        const deleted = await calls.unfeed(by, id, feed.id)
        if (deletes) assert.equal(deleted.status, 204, deleted.text)
        else assertRule(deleted, 'role_required')
        assert.equal((await calls.feeds(people.owner, id)).length, deletes ? 0 : 1)
      })
    }
  }

  test('[CHN-15] deleting answers 204 once, then 404', async () => {
    const { owner, member } = people
    const id = await staffed('open')
    const { body: feed } = await calls.feed(owner, id)
    const first = await calls.unfeed(owner, id, feed.id)
    assert.deepEqual([first.status, first.text], [204, ''])
    assertNotFound(await calls.unfeed(owner, id, feed.id), 'feed', feed.id)
    assertNotFound(await calls.unfeed(member, id, feed.id), 'feed', feed.id)
    assert.deepEqual(await calls.feeds(owner, id), [])
  })

  test('[CHN-15] a feed of another channel, an unknown and a malformed id are not found', async () => {
    const { owner } = people
    const id = await staffed('open')
    const { body: feed } = await calls.feed(owner, await staffed('open'))
    for (const wrong of [feed.id, NO_FEED, 'x', id]) assertNotFound(await calls.unfeed(owner, id, wrong), 'feed', wrong)
  })

  test('[CHN-16] every feed that comes or goes is recorded for the tenant’s routing, a refusal is not', async () => {
    const { owner, outsider } = people
    const { id } = await calls.open(owner, 'open')
    const start = (await routingChanges(service, tenant.id)).length
    const { body: feed } = await calls.feed(owner, id)
    await calls.feed(outsider, id)
    await calls.unfeed(outsider, id, feed.id)
    await calls.unfeed(owner, id, feed.id)
    await calls.unfeed(owner, id, feed.id)
    assert.deepEqual((await routingChanges(service, tenant.id)).slice(start), [`feed ${feed.id}`, `feed ${feed.id}`])
  })

  test('[CHN-14] a retry with its Idempotency-Key creates one feed, and a refusal is kept too', async () => {
    const { owner } = people
    const { id } = await calls.open(owner, 'private')
    const send = (key: string, body: object) =>
      service.call<Feed & ErrorBody>(`POST /v1/channels/${id}/feeds`, {
        token: owner.token,
        body,
        headers: { 'idempotency-key': key },
      })
    const first = await send('a', { event_type_glob: '*' })
    assert.deepEqual((await send('a', { event_type_glob: '*' })).body, first.body)
    assert.equal((await send('a', { event_type_glob: 'x' })).body.error.details['existing_resource_id'], first.body.id)
    assert.equal((await send('b', { event_type_glob: '*', filter_expression: '(' })).status, 400)
    assert.equal((await send('b', { event_type_glob: '*', filter_expression: '(' })).status, 400)
    assert.equal((await calls.feeds(owner, id)).length, 1)
  })
})
