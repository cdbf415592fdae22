// Direct channels, which have two members.
import assert from 'node:assert/strict'
import { before, beforeEach, test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import { assertNotFound, assertRule, channelCalls, orgAdmin, routingChanges, someAgent, type Actor } from './tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const calls = channelCalls(service)
  let people: Record<'org_admin' | 'owner' | 'outsider' | 'target' | 'target2', Actor>
  let id: string
  before(async () => {
    people = {
      org_admin: await orgAdmin(service, tenant),
      owner: await someAgent(tenant),
      outsider: await someAgent(tenant),
      target: await someAgent(tenant),
      target2: await someAgent(tenant),
    }
  })
  beforeEach(async () => {
    id = (await calls.open(people.owner, 'direct')).id
  })

  test('[CHN-8] takes two members and refuses a third, whoever adds it', async () => {
    const { owner, target, target2, org_admin } = people
    assert.equal((await calls.add(owner, id, target, 'admin')).status, 201)
    const before = await routingChanges(service, tenant.id)
    assertRule(await calls.add(owner, id, target2), 'direct_channel_full')
    assertRule(await calls.add(target, id, target2), 'direct_channel_full')
    assertRule(await calls.add(org_admin, id, org_admin), 'direct_channel_full')
    const members = await calls.members(org_admin, id)
    assert.deepEqual(members.map(({ participant_id }) => participant_id).sort(), [owner.id, target.id].sort())
    assert.deepEqual(await routingChanges(service, tenant.id), before)
  })

  test('[CHN-8] has room again when one has left', async () => {
    const { owner, target, target2 } = people
    await calls.add(owner, id, target)
    assert.equal((await calls.remove(target, id, target)).status, 204)
    assert.equal((await calls.add(owner, id, target2)).status, 201)
  })

  test('[CHN-6] a plain member manages nothing', async () => {
    const { owner, target, target2 } = people
    await calls.add(owner, id, target)
    assertRule(await calls.add(target, id, target2), 'role_required')
    assertRule(await calls.remove(target, id, owner), 'role_required')
    assertRule(await calls.feed(target, id), 'role_required')
  })

  test('[CHN-4] the second member sees it, and no others', async () => {
    const { owner, target, outsider, org_admin } = people
    await calls.add(owner, id, target)
    for (const by of [owner, target, org_admin]) assert.equal((await calls.members(by, id)).length, 2)
    assertNotFound(await service.call(`GET /v1/channels/${id}`, { token: outsider.token }), 'channel', id)
  })
})
