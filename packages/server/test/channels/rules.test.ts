// The rules on their own: after any sequence of requests a channel has an owner, and a direct one at most two members.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CHANNEL_TYPES, MEMBER_ROLES, type ChannelType, type MemberRole } from '@sensorium/contract'
import fc from 'fast-check'
import {
  isChannelVisible,
  refuseAdding,
  refuseAddingFeed,
  refuseTooManyMembers,
  refuseDeletingFeed,
  refuseRemoving,
  type ChannelCaller,
  type Participant,
  type Membership,
} from '../../src/channels/rules.ts'

const PEOPLE: Participant[] = [
  { type: 'org_admin', id: 'boss' },
  ...['a', 'b', 'c', 'd'].map((id) => ({ type: 'agent', id }) as const),
  // The same id under another type is another participant.
  { type: 'agent', id: 'boss' },
]
const anybody = fc.constantFrom(...PEOPLE)
const step = fc.record({ add: fc.boolean(), caller: anybody, target: anybody, role: fc.constantFrom(...MEMBER_ROLES) })

const nameOf = ({ type, id }: Participant): string => `${type} ${id}`

test('[CHN-8] [CHN-9] after any sequence of changes there is an owner, and a direct channel has at most two', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...CHANNEL_TYPES),
      anybody,
      fc.array(step, { maxLength: 60 }),
      (type, creator, steps) => {
        const members = new Map<string, Membership>([[nameOf(creator), { ...creator, role: 'owner' }]])
        const owners = () => [...members.values()].filter(({ role }) => role === 'owner').length
        for (const { add, caller: who, target, role } of steps) {
          const caller: ChannelCaller = { ...who, role: members.get(nameOf(who))?.role ?? null }
          const power = caller.type === 'org_admin' ? 'owner' : caller.role
          const self = nameOf(who) === nameOf(target)
          if (!isChannelVisible(type, caller)) continue
          const there = members.get(nameOf(target))
          if (add) {
            if (
              there ||
              refuseAdding(type, caller, { ...target, role }) ||
              refuseTooManyMembers(type, members.size + 1)
            )
              continue
            // No caller gives a role above its own, and only a caller without a role adds itself, to an open channel.
            if (role === 'owner') assert.equal(power, 'owner')
            if (role === 'admin') assert.ok(power === 'owner' || power === 'admin')
            if (role === 'member' && power !== 'owner' && power !== 'admin') assert.ok(self && type === 'open')
            members.set(nameOf(target), { ...target, role })
          } else {
            if (!there || refuseRemoving(caller, there, owners())) continue
            if (!self && there.role === 'owner') assert.equal(power, 'owner')
            if (!self) assert.ok(power === 'owner' || power === 'admin')
            members.delete(nameOf(target))
          }
          assert.ok(owners() >= 1)
          assert.ok(type !== 'direct' || members.size <= 2)
        }
      },
    ),
    { numRuns: 2000 },
  )
})

test('[CHN-9] a member that is not the last owner may always leave', () => {
  fc.assert(
    fc.property(anybody, fc.constantFrom(...MEMBER_ROLES), fc.integer({ min: 1, max: 5 }), (who, role, owners) => {
      const refusal = refuseRemoving({ ...who, role }, { ...who, role }, role === 'owner' ? owners : 1)
      assert.equal(refusal?.rule, role === 'owner' && owners === 1 ? 'last_owner' : undefined)
    }),
  )
})

// Rows: standing of the caller. Columns: sees, adds a feed, deletes a feed; each for open, private, direct.
const agent = (role: MemberRole | null): ChannelCaller => ({ type: 'agent', id: 'a', role })
const admin = (role: MemberRole | null): ChannelCaller => ({ type: 'org_admin', id: 'boss', role })
const TABLE: [title: string, caller: ChannelCaller, sees: string, adds: string, deletes: string][] = [
  ['an org-admin outside', admin(null), 'yes yes yes', 'yes yes yes', 'yes yes yes'],
  ['an org-admin as plain member', admin('member'), 'yes yes yes', 'yes yes yes', 'yes yes yes'],
  ['an owner', agent('owner'), 'yes yes yes', 'yes yes yes', 'yes yes yes'],
  ['an admin', agent('admin'), 'yes yes yes', 'yes yes yes', 'yes yes yes'],
  ['a member', agent('member'), 'yes yes yes', 'yes no no', 'no no no'],
  ['an agent outside', agent(null), 'yes no no', 'no no no', 'no no no'],
]
for (const [title, caller, sees, adds, deletes] of TABLE) {
  test(`[CHN-4] [CHN-6] [CHN-7] what ${title} sees, and which feeds it manages`, () => {
    const ask = (may: (type: ChannelType) => boolean) =>
      CHANNEL_TYPES.map((type) => (may(type) ? 'yes' : 'no')).join(' ')
    assert.equal(
      ask((type) => isChannelVisible(type, caller)),
      sees,
    )
    assert.equal(
      ask((type) => refuseAddingFeed(type, caller) === null),
      adds,
    )
    assert.equal(
      ask(() => refuseDeletingFeed(caller) === null),
      deletes,
    )
  })
}

test('[CHN-6] [CHN-8] a refusal names its rule and says why', () => {
  const refusals = [
    refuseAdding('open', agent(null), { type: 'agent', id: 'a', role: 'owner' }),
    refuseAdding('private', agent('member'), { type: 'agent', id: 'b', role: 'member' }),
    refuseAdding('private', agent('admin'), { type: 'agent', id: 'b', role: 'owner' }),
    refuseRemoving(agent('admin'), { type: 'agent', id: 'b', role: 'owner' }, 2),
    refuseRemoving(agent('member'), { type: 'agent', id: 'b', role: 'member' }, 2),
    refuseTooManyMembers('direct', 3),
  ]
  assert.deepEqual(
    refusals.map((refusal) => refusal?.rule),
    ['role_required', 'role_required', 'role_required', 'role_required', 'role_required', 'direct_channel_full'],
  )
  for (const refusal of refusals) assert.ok(refusal!.message.length > 10)
  assert.equal(refuseTooManyMembers('direct', 2), null)
  assert.equal(refuseTooManyMembers('private', 1000), null)
})
