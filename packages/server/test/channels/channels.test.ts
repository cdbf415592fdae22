// Creating channels, and which callers see which.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Channel } from '@sensorium/contract'
import { listChannels } from '../../src/channels/list.ts'
import type { Principal } from '../../src/auth/principal.ts'
import type { Db, Value } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite, type TestTenant } from '../support/service.ts'
import {
  assertNotFound,
  channelCalls,
  orgAdmin,
  routingChanges,
  someAgent,
  type Actor,
  type ErrorBody,
} from './tools.ts'

const UNKNOWN = 'chn_01hv3k8z9q4m7t2x5c6w8r0s1d'
const NO_FEED = 'fed_01hv3k8z9q4m7t2x5c6w8r0s1d'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  let other: TestTenant
  let admin: Actor
  let ann: Actor
  let bob: Actor
  let stranger: Actor
  const calls = channelCalls(service)
  before(async () => {
    other = await service.tenant()
    admin = await orgAdmin(service, tenant)
    ann = await someAgent(tenant)
    bob = await someAgent(tenant)
    stranger = await someAgent(other)
  })

  describe('creating', () => {
    test('[CHN-1] a channel shows its fields, and its creator is its owner', async () => {
      const reply = await service.call<Channel>('POST /v1/channels', {
        token: ann.token,
        body: { name: 'Incidents', description: 'What is on fire', type: 'private', colour: 'red' },
      })
      assert.equal(reply.status, 201)
      const now = new Date(service.clock.now()).toISOString()
      const { id, ...rest } = reply.body
      assert.match(id, /^chn_/)
      assert.deepEqual(rest, {
        tenant_id: tenant.id,
        name: 'Incidents',
        description: 'What is on fire',
        type: 'private',
        created_by_type: 'agent',
        created_by_id: ann.id,
        created_at: now,
        updated_at: now,
      })
      const members = await calls.members(ann, id)
      assert.deepEqual(
        members.map(({ id: _, ...member }) => member),
        [{ channel_id: id, participant_type: 'agent', participant_id: ann.id, role: 'owner', joined_at: now }],
      )
      assert.equal((await routingChanges(service, tenant.id)).at(-1), `channel ${id}`)
    })

    test('[CHN-1] an org-admin creates one as org_admin and owns it', async () => {
      const channel = await calls.open(admin, 'direct')
      assert.equal(channel.created_by_type, 'org_admin')
      assert.equal(channel.created_by_id, admin.id)
      const [member] = await calls.members(admin, channel.id)
      assert.deepEqual(
        [member!.participant_type, member!.participant_id, member!.role],
        ['org_admin', admin.id, 'owner'],
      )
    })

    const bad: [field: string, body: object][] = [
      ['name', { type: 'open' }],
      ['name', { name: '', type: 'open' }],
      ['name', { name: ' \t ', type: 'open' }],
      ['name', { name: 'x'.repeat(256), type: 'open' }],
      ['name', { name: 7, type: 'open' }],
      ['type', { name: 'x' }],
      ['type', { name: 'x', type: 'secret' }],
      ['type', { name: 'x', type: null }],
      ['description', { name: 'x', type: 'open', description: 7 }],
    ]
    for (const [field, body] of bad) {
      test(`[CHN-2] ${JSON.stringify(body).slice(0, 60)} is refused for its ${field}`, async () => {
        const reply = await service.call<ErrorBody>('POST /v1/channels', { token: ann.token, body })
        assert.equal(reply.status, 400)
        assert.equal(reply.body.error.code, 'validation_failed')
        assert.equal(reply.body.error.details['field'], field)
      })
    }

    test('[CHN-2] every type is accepted; a description is a text, null or left out', async () => {
      for (const [type, more] of [
        ['open', {}],
        ['private', { description: null }],
        ['direct', { description: '' }],
      ] as const) {
        const reply = await service.call<Channel>('POST /v1/channels', {
          token: ann.token,
          body: { name: 'x', type, ...more },
        })
        assert.equal(reply.status, 201)
        assert.equal(reply.body.type, type)
        assert.equal(reply.body.description, 'description' in more ? more.description : null)
      }
    })

    test('[CHN-1] a retry with its Idempotency-Key creates one channel', async () => {
      const request = {
        token: ann.token,
        body: { name: 'Once', type: 'private' },
        headers: { 'idempotency-key': 'once' },
      }
      const first = await service.call<Channel>('POST /v1/channels', request)
      const second = await service.call<Channel>('POST /v1/channels', request)
      assert.deepEqual([first.status, second.status, second.body.id], [201, 201, first.body.id])
      assert.equal(second.headers.get('idempotent-replayed'), 'true')
    })
  })

  describe('listing', () => {
    let own: TestTenant
    let chief: Actor
    let reader: Actor
    let made: Channel[]

    before(async () => {
      own = await service.tenant()
      chief = await orgAdmin(service, own)
      reader = await someAgent(own)
      const writer = await someAgent(own)
      made = []
      for (const type of ['open', 'private', 'direct', 'open', 'private', 'direct'])
        made.push(await calls.open(writer, type))
      await calls.add(writer, made[1]!.id, reader)
      await calls.add(writer, made[2]!.id, reader)
      // The agent is a member of an open channel: it must not be listed twice.
      await calls.add(reader, made[3]!.id, reader)
    })

    const list = (by: Actor, query = '') =>
      service.call<{ channels: Channel[]; total: number } & ErrorBody>(`GET /v1/channels${query}`, { token: by.token })

    test('[CHN-3] an agent sees the open ones and its own, newest first', async () => {
      const { status, body } = await list(reader)
      assert.equal(status, 200)
      assert.deepEqual(body, { channels: [made[3], made[2], made[1], made[0]], total: 4 })
    })

    test('[CHN-3] an org-admin sees all of its tenant', async () => {
      const { body } = await list(chief)
      assert.deepEqual(body, { channels: made.toReversed(), total: 6 })
    })

    test('[CHN-3] pages join without a gap, and the total stays the same', async () => {
      for (const [by, all] of [
        [reader, 4],
        [chief, 6],
      ] as const) {
        const whole = (await list(by)).body.channels
        for (let offset = 0; offset <= all; offset++) {
          const { body } = await list(by, `?offset=${offset}&limit=2`)
          assert.deepEqual(body, { channels: whole.slice(offset, offset + 2), total: all })
        }
      }
    })

    test('[CHN-3] an offset or limit out of range is refused', async () => {
      for (const [query, field] of [
        ['?limit=0', 'limit'],
        ['?limit=201', 'limit'],
        ['?offset=-1', 'offset'],
        ['?limit=x', 'limit'],
      ]) {
        const reply = await list(reader, query)
        assert.equal(reply.status, 400)
        assert.equal(reply.body.error.details['field'], field)
      }
    })

    test('[CHN-3] an agent of another tenant sees none of them', async () => {
      const { body } = await list(stranger)
      assert.deepEqual(body, { channels: [], total: 0 })
    })

    if (engine.name === 'sqlite')
      test('[CHN-3] every page is read from indexes in their order', async () => {
        const asked: [sql: string, values: readonly Value[]][] = []
        const watched: Db = {
          ...service.store,
          rows(sql, values = []) {
            asked.push([sql, values])
            return service.store.rows(sql, values)
          },
        }
        for (const { type: kind, id } of [reader, chief]) {
          await listChannels(watched, { kind, id, tenantId: own.id } as Principal, { offset: 0, limit: 50 })
        }
        assert.equal(asked.length, 4)
        for (const [sql, values] of asked) {
          const plan = await service.store.rows<{ detail: string }>(`explain query plan ${sql}`, values)
          const steps = plan.map(({ detail }) => detail)
          const slow = steps.filter((step) => /SCAN|TEMP B-TREE/.test(step) && step !== 'SCAN CONSTANT ROW')
          assert.deepEqual(slow, [], sql)
          // Private channels of others are not even read.
          if (!sql.includes('channel_members')) continue
          const whole = steps.filter(
            (step) => / channels USING .*\(tenant_id=\?\)/.test(step) && !step.includes('channels_open'),
          )
          assert.deepEqual(whole, [], sql)
          assert.ok(
            steps.some((step) => step.includes('channel_members_by_participant (tenant_id=? AND participant_id=?)')),
            sql,
          )
        }
      })
  })

  describe('one channel', () => {
    test('[CHN-12] members and org-admins get a channel as it was created', async () => {
      for (const type of ['open', 'private', 'direct']) {
        const channel = await calls.open(ann, type)
        for (const by of [ann, admin]) {
          const reply = await service.call(`GET /v1/channels/${channel.id}`, { token: by.token })
          assert.equal(reply.status, 200)
          assert.deepEqual(reply.body, channel)
        }
      }
    })

    test('[CHN-5] an open channel is seen by every agent of the tenant', async () => {
      const channel = await calls.open(ann, 'open')
      assert.deepEqual((await service.call(`GET /v1/channels/${channel.id}`, { token: bob.token })).body, channel)
      assert.equal((await calls.members(bob, channel.id)).length, 1)
      assert.deepEqual(await calls.feeds(bob, channel.id), [])
    })

    // Every operation below a channel, with a valid body.
    const everything = (id: string, feedId = NO_FEED): [request: string, body?: object][] => [
      [`GET /v1/channels/${id}`],
      [`GET /v1/channels/${id}/members`],
      [`POST /v1/channels/${id}/members`, { participant_type: 'agent', participant_id: bob.id }],
      [`DELETE /v1/channels/${id}/members/agent/${ann.id}`],
      [`GET /v1/channels/${id}/feeds`],
      [`POST /v1/channels/${id}/feeds`, { event_type_glob: '*' }],
      [`DELETE /v1/channels/${id}/feeds/${feedId}`],
    ]

    for (const type of ['private', 'direct']) {
      test(`[CHN-4] a ${type} channel is not found for others, whatever they try`, async () => {
        const channel = await calls.open(ann, type)
        const { body: feed } = await calls.feed(ann, channel.id)
        for (const [request, body] of everything(channel.id, feed.id)) {
          assertNotFound(
            await service.call(request, { token: bob.token, ...(body ? { body } : {}) }),
            'channel',
            channel.id,
          )
        }
        assert.equal((await calls.members(ann, channel.id)).length, 1)
        assert.equal((await calls.feeds(ann, channel.id)).length, 1)
      })
    }

    for (const type of ['open', 'private', 'direct']) {
      test(`[CHN-4] a ${type} channel of another tenant is not found, not even for an org-admin`, async () => {
        const channel = await calls.open(ann, type)
        const { body: feed } = await calls.feed(ann, channel.id)
        const foreignAdmin = await orgAdmin(service, other)
        for (const [request, body] of everything(channel.id, feed.id)) {
          for (const { token } of [stranger, foreignAdmin]) {
            assertNotFound(await service.call(request, { token, ...(body ? { body } : {}) }), 'channel', channel.id)
          }
        }
      })
    }

    test('[CHN-4] a malformed id is not found like an unknown one', async () => {
      for (const id of [UNKNOWN, 'x', ann.id, UNKNOWN.toUpperCase(), `${UNKNOWN}0`]) {
        for (const [request, body] of everything(id)) {
          assertNotFound(await service.call(request, { token: admin.token, ...(body ? { body } : {}) }), 'channel', id)
        }
      }
      const nul = await service.call('GET /v1/channels/chn_%00', { token: admin.token })
      assert.equal(nul.status, 404)
    })

    test('[CHN-4] reading needs channel:read, changing channel:write', async () => {
      const channel = await calls.open(ann, 'open')
      const { body: feed } = await calls.feed(ann, channel.id)
      const mute = await someAgent(tenant, ['send', 'receive', 'admin'])
      const requests: [string, object?][] = [
        ['GET /v1/channels'],
        ['POST /v1/channels', { name: 'x', type: 'open' }],
        ...everything(channel.id, feed.id),
      ]
      for (const [request, body] of requests) {
        const reply = await service.call<ErrorBody>(request, { token: mute.token, ...(body ? { body } : {}) })
        assert.equal(reply.status, 403, request)
        const needed = request.startsWith('GET') ? 'channel:read' : 'channel:write'
        assert.deepEqual(reply.body.error.details, { required_scope: needed })
        const allowed = await someAgent(tenant, [needed])
        const again = await service.call<ErrorBody>(request, { token: allowed.token, ...(body ? { body } : {}) })
        assert.notEqual(again.status, 403, request)
      }
    })
  })
})
