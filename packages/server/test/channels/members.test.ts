// Joining, adding, leaving and removing, by every kind of caller, in every kind of channel.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Member } from '@sensorium/contract'
import { onBothEngines } from '../support/engines.ts'
import { startService, type Service, type TestTenant } from '../support/service.ts'
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

const NOBODY = { type: 'agent', id: 'agt_01hv3k8z9q4m7t2x5c6w8r0s1d' } as const

onBothEngines((engine) => {
  let service: Service
  let tenant: TestTenant
  let calls: ReturnType<typeof channelCalls>
  // One caller of each role, and two participants to be acted on.
  let people: Record<'org_admin' | 'owner' | 'admin' | 'member' | 'outsider' | 'target' | 'target2', Actor>
  let stranger: Actor
  let strangeAdmin: Actor

  before(async () => {
    service = await startService(engine)
    calls = channelCalls(service)
    tenant = await service.tenant()
    const other = await service.tenant()
    stranger = await someAgent(other)
    strangeAdmin = await orgAdmin(service, other)
    const agent = () => someAgent(tenant)
    people = {
      org_admin: await orgAdmin(service, tenant),
      owner: await agent(),
      admin: await agent(),
      member: await agent(),
      outsider: await agent(),
      target: await agent(),
      target2: await agent(),
    }
  })
  after(() => service.stop())

  /** A channel of the owner; unless it is direct, with an admin and a member as well. */
  async function staffed(type: string): Promise<string> {
    const { owner, admin, member } = people
    const { id } = await calls.open(owner, type)
    if (type === 'direct') return id
    assert.equal((await calls.add(owner, id, admin, 'admin')).status, 201)
    assert.equal((await calls.add(owner, id, member)).status, 201)
    return id
  }
  const rolesOf = async (id: string) =>
    Object.fromEntries(
      (await calls.members(people.org_admin, id)).map((member) => [member.participant_id, member.role]),
    )

  describe('adding', () => {
    test('[CHN-10] returns the member, and the list shows it first', async () => {
      const { owner, target, target2, org_admin } = people
      const { id } = await calls.open(owner, 'private')
      await service.clock.advance(1000)
      const reply = await calls.add(owner, id, target)
      assert.equal(reply.status, 201)
      const { id: memberId, ...rest } = reply.body as Member
      assert.match(memberId, /^mbr_/)
      assert.deepEqual(rest, {
        channel_id: id,
        participant_type: 'agent',
        participant_id: target.id,
        role: 'member',
        joined_at: new Date(service.clock.now()).toISOString(),
      })
      for (const [whom, role] of [
        [target2, 'admin'],
        [org_admin, 'owner'],
      ] as const) {
        const { status, body } = await calls.add(owner, id, whom, role)
        assert.deepEqual([status, body.participant_type, body.role], [201, whom.type, role])
      }
      const members = await calls.members(target, id)
      assert.deepEqual(
        members.map((member) => member.participant_id),
        [org_admin.id, target2.id, target.id, owner.id],
      )
      assert.deepEqual(members[2], reply.body)
    })

    test('[CHN-10] a missing or invalid field is refused', async () => {
      const { owner, target } = people
      const { id } = await calls.open(owner, 'private')
      const right = { participant_type: 'agent', participant_id: target.id, role: 'member' }
      for (const [field, value] of [
        ['participant_type', undefined],
        ['participant_type', 'team'],
        ['participant_type', null],
        ['participant_id', undefined],
        ['participant_id', ''],
        ['participant_id', 7],
        ['participant_id', 'a\0b'],
        ['role', 'guest'],
        ['role', null],
      ] as const) {
        const body = { ...right, [field]: value }
        const reply = await service.call<ErrorBody>(`POST /v1/channels/${id}/members`, { token: owner.token, body })
        assert.equal(reply.status, 400, `${field} ${String(value)}`)
        assert.equal(reply.body.error.details['field'], field)
      }
    })

    test('[CHN-11] a second time is a conflict that names the existing member', async () => {
      const { owner, target } = people
      const { id } = await calls.open(owner, 'direct')
      const first = await calls.add(owner, id, target)
      const before = await routingChanges(service, tenant.id)
      // In a full channel too the error is the conflict, not that the channel is full.
      for (const role of ['member', 'admin', 'owner']) {
        const again = await calls.add(owner, id, target, role)
        assert.equal(again.status, 409)
        assert.equal(again.body.error.code, 'conflict')
        assert.deepEqual(again.body.error.details, { idempotency_key: null, existing_resource_id: first.body.id })
      }
      assert.equal((await rolesOf(id))[target.id], 'member')
      assert.deepEqual(await routingChanges(service, tenant.id), before)
    })

    test('[CHN-11] a participant unknown in the tenant is not found, for all that see the channel', async () => {
      const { owner, outsider, target, org_admin } = people
      const { id } = await calls.open(owner, 'open')
      for (const by of [owner, outsider, org_admin]) {
        assertNotFound(await calls.add(by, id, NOBODY), 'agent', NOBODY.id)
        assertNotFound(await calls.add(by, id, stranger), 'agent', stranger.id)
        assertNotFound(await calls.add(by, id, { type: 'agent', id: 'x' }), 'agent', 'x')
        assertNotFound(await calls.add(by, id, { type: 'agent', id: org_admin.id }), 'agent', org_admin.id)
        assertNotFound(await calls.add(by, id, { type: 'org_admin', id: target.id }), 'org_admin', target.id)
        assertNotFound(await calls.add(by, id, strangeAdmin), 'org_admin', strangeAdmin.id)
      }
    })

    test('[CHN-10] an inactive agent can be a member', async () => {
      const { owner, org_admin } = people
      const sleeper = await someAgent(tenant)
      const { id } = await calls.open(owner, 'private')
      await service.call(`POST /v1/agents/${sleeper.id}/deactivate`, { token: org_admin.token })
      assert.equal((await calls.add(owner, id, sleeper)).status, 201)
    })

    test('[CHN-10] a retry with its Idempotency-Key returns the first member again', async () => {
      const { owner, target } = people
      const { id } = await calls.open(owner, 'private')
      const request = {
        token: owner.token,
        body: { participant_type: 'agent', participant_id: target.id },
        headers: { 'idempotency-key': 'add' },
      }
      const first = await service.call<Member>(`POST /v1/channels/${id}/members`, request)
      const second = await service.call<Member>(`POST /v1/channels/${id}/members`, request)
      assert.deepEqual([first.status, second.status, second.body], [201, 201, first.body])
    })
  })

  // Which caller may give which role to another participant, as the rules say, cell by cell.
  const ADDS: Record<string, Record<string, boolean>> = {
    org_admin: { owner: true, admin: true, member: true },
    owner: { owner: true, admin: true, member: true },
    admin: { owner: false, admin: true, member: true },
    member: { owner: false, admin: false, member: false },
    outsider: { owner: false, admin: false, member: false },
  }
  for (const type of ['open', 'private'] as const) {
    for (const [who, roles] of Object.entries(ADDS)) {
      if (type === 'private' && who === 'outsider') continue
      test(`[CHN-6] ${type} channel: ${who} adds and removes others`, async () => {
        const by = people[who as keyof typeof people]
        const { target, org_admin } = people
        const id = await staffed(type)
        for (const [role, allowed] of Object.entries(roles)) {
          const added = await calls.add(by, id, target, role)
          if (allowed) assert.equal(added.status, 201, added.text)
          else assertRule(added, 'role_required', `${who} adds ${role}`)
          // The same table holds for removing a participant with the role, whoever gave it.
          if (!allowed) assert.equal((await calls.add(org_admin, id, target, role)).status, 201)
          const removed = await calls.remove(by, id, target)
          if (allowed) assert.equal(removed.status, 204, removed.text)
          else {
            assertRule(removed, 'role_required', `${who} removes ${role}`)
            assert.equal((await rolesOf(id))[target.id], role)
            assert.equal((await calls.remove(org_admin, id, target)).status, 204)
          }
          assert.equal((await rolesOf(id))[target.id], undefined)
        }
      })
    }
  }

  describe('joining and leaving', () => {
    test('[CHN-5] any agent joins an open channel as a member and leaves it again', async () => {
      const { outsider } = people
      const id = await staffed('open')
      const joined = await calls.add(outsider, id, outsider)
      assert.deepEqual([joined.status, joined.body.role], [201, 'member'])
      const left = await calls.remove(outsider, id, outsider)
      assert.deepEqual([left.status, left.text], [204, ''])
      assert.equal((await calls.add(outsider, id, outsider, 'member')).status, 201)
    })

    test('[CHN-6] nobody joins an open channel with a higher role', async () => {
      const { outsider, member } = people
      const id = await staffed('open')
      for (const role of ['owner', 'admin']) {
        assertRule(await calls.add(outsider, id, outsider, role), 'role_required')
        assertRule(await calls.add(member, id, member, role), 'role_required')
      }
      const again = await calls.add(member, id, member)
      assert.equal(again.status, 409)
    })

    test('[CHN-5] an org-admin joins any channel with any role', async () => {
      const { org_admin } = people
      for (const type of ['open', 'private', 'direct']) {
        const id = await staffed(type)
        const joined = await calls.add(org_admin, id, org_admin, 'admin')
        assert.deepEqual([joined.status, joined.body.participant_type, joined.body.role], [201, 'org_admin', 'admin'])
        assert.equal((await calls.remove(org_admin, id, org_admin)).status, 204)
      }
    })

    test('[CHN-9] every member may leave a private channel, and then no longer sees it', async () => {
      const id = await staffed('private')
      for (const by of [people.member, people.admin]) {
        assert.equal((await calls.remove(by, id, by)).status, 204)
        assertNotFound(await calls.remove(by, id, by), 'channel', id)
      }
    })

    for (const type of ['open', 'private', 'direct']) {
      test(`[CHN-9] the last owner of a channel (${type}) cannot leave until there is another`, async () => {
        const { owner, target, org_admin } = people
        const id = await staffed(type)
        assertRule(await calls.remove(owner, id, owner), 'last_owner')
        assertRule(await calls.remove(org_admin, id, owner), 'last_owner')
        assert.equal((await calls.add(owner, id, target, 'owner')).status, 201)
        assert.equal((await calls.remove(owner, id, owner)).status, 204)
        assertRule(await calls.remove(target, id, target), 'last_owner')
      })
    }

    test('[CHN-9] an owner removes another owner', async () => {
      const { owner, target } = people
      const id = await staffed('private')
      await calls.add(owner, id, target, 'owner')
      assert.equal((await calls.remove(target, id, owner)).status, 204)
    })

    test('[CHN-6] an admin that tries to remove the only owner lacks the role', async () => {
      const { owner, admin } = people
      assertRule(await calls.remove(admin, await staffed('private'), owner), 'role_required')
    })
  })

  describe('removing', () => {
    test('[CHN-13] a non-member is not found, also for callers that may not remove', async () => {
      const { owner, member, outsider, target, org_admin } = people
      const id = await staffed('open')
      for (const by of [owner, member, outsider, org_admin]) {
        assertNotFound(await calls.remove(by, id, target), 'member', target.id)
        assertNotFound(await calls.remove(by, id, stranger), 'member', stranger.id)
        assertNotFound(await calls.remove(by, id, { type: 'agent', id: 'x' }), 'member', 'x')
        // An id under the wrong type names no member.
        assertNotFound(await calls.remove(by, id, { type: 'org_admin', id: owner.id }), 'member', owner.id)
      }
      const wrong = await service.call<ErrorBody>(`DELETE /v1/channels/${id}/members/team/${owner.id}`, {
        token: owner.token,
      })
      assertNotFound(wrong, 'member', owner.id)
    })

    test('[CHN-13] removing twice is not found the second time', async () => {
      const { owner, member } = people
      const id = await staffed('private')
      assert.equal((await calls.remove(owner, id, member)).status, 204)
      assertNotFound(await calls.remove(owner, id, member), 'member', member.id)
    })

    test('[CHN-13] an org-admin member is removed by its own id', async () => {
      const { owner, org_admin } = people
      const { id } = await calls.open(owner, 'private')
      await calls.add(owner, id, org_admin)
      assert.equal((await calls.remove(owner, id, org_admin)).status, 204)
      // An org-admin sees the channel without being a member.
      assert.equal((await calls.members(org_admin, id)).length, 1)
    })

    test('[CHN-16] every arrival and departure is recorded for the tenant’s routing, a refusal is not', async () => {
      const { owner, target, outsider } = people
      const { id } = await calls.open(owner, 'open')
      const changes = async () => (await routingChanges(service, tenant.id)).length
      const start = await changes()
      await calls.add(owner, id, target)
      await calls.remove(target, id, target)
      assert.deepEqual((await routingChanges(service, tenant.id)).slice(start), [`channel ${id}`, `channel ${id}`])
      await calls.remove(owner, id, owner)
      await calls.add(outsider, id, target)
      assert.equal(await changes(), start + 2)
    })
  })
})
