// Agents and channels by the ids that they have in another system.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { AGENT, serviceForSuite, tenantForSuite, type Service } from '../support/service.ts'

const CHANNEL = { name: 'Incidents', type: 'open' }

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)

  const put = (kind: 'agents' | 'channels', id: string, body: object, token = tenant.admin) =>
    service.call(`PUT /v1/${kind}/by-external-id/${encodeURIComponent(id)}`, { token, body })
  const post = (kind: 'agents' | 'channels', body: object, token = tenant.admin) =>
    service.call(`POST /v1/${kind}`, { token, body })

  test('[OPS-25] the first PUT creates the agent, a repeat changes nothing, another body changes it', async () => {
    const made = await put('agents', 'crm/4711 ü', { ...AGENT, description: 'Looks out', team_id: 'blue' })
    assert.equal(made.status, 201)
    assert.equal(made.body.external_id, 'crm/4711 ü')
    await service.clock.advance(1000)
    const again = await put('agents', 'crm/4711 ü', { ...AGENT, description: 'Looks out', team_id: 'blue' })
    assert.deepEqual([again.status, again.body], [200, made.body])
    const changed = await put('agents', 'crm/4711 ü', { ...AGENT, name: 'Guard', client_type: 'claude' })
    assert.equal(changed.status, 200)
    assert.deepEqual(changed.body, {
      ...made.body,
      name: 'Guard',
      client_type: 'claude',
      description: null,
      team_id: null,
      updated_at: new Date(service.clock.now()).toISOString(),
    })
    const seen = await service.call(`GET /v1/agents/${made.body.id}`, { token: tenant.admin })
    assert.deepEqual(seen.body, changed.body)
  })

  test('[OPS-25] a PUT keeps the endpoint, status and keys of an agent', async () => {
    const { body: agent } = await put('agents', 'kept', AGENT)
    const endpoint = { delivery_endpoint: 'https://agent.example.com/inbox' }
    await service.call(`PATCH /v1/agents/${agent.id}`, { token: tenant.admin, body: endpoint })
    await service.call(`POST /v1/agents/${agent.id}/deactivate`, { token: tenant.admin })
    const { body } = await put('agents', 'kept', { ...AGENT, name: 'Renamed' })
    assert.deepEqual(
      [body.id, body.name, body.status, body.delivery_endpoint],
      [agent.id, 'Renamed', 'inactive', endpoint.delivery_endpoint],
    )
  })

  test('[OPS-25] [MEM-9] an agent that moves to another team sees with its token what that team sees', async () => {
    const { body: agent } = await put('agents', 'mover', { ...AGENT, team_id: 'red' })
    const key = await service.call(`POST /v1/agents/${agent.id}/keys`, {
      token: tenant.admin,
      body: { scopes: ['memory:read', 'memory:write'] },
    })
    const token = await tenant.token(key.body.key)
    const memory = { type: 'semantic', scope: 'team', title: 'Valve', content: 'It is stuck' }
    const remember = (caller: string, team_id?: string) =>
      service.call('POST /v1/memories', { token: caller, body: { ...memory, ...(team_id ? { team_id } : {}) } })
    const ofTeams = {
      red: (await remember(tenant.admin, 'red')).body.id,
      blue: (await remember(tenant.admin, 'blue')).body.id,
    }
    const seenBy = async (at: Service): Promise<unknown> => {
      const { body } = await at.call('GET /v1/memories?scope=team', { token })
      return body.memories.map(({ id }: { id: string }) =>
        id === ofTeams.red ? 'red' : id === ofTeams.blue ? 'blue' : id,
      )
    }
    const other = service.store.isShared ? await service.another() : service
    assert.deepEqual([await seenBy(service), await seenBy(other)], [['red'], ['red']])
    await put('agents', 'mover', { ...AGENT, team_id: 'blue' })
    assert.deepEqual(await seenBy(service), ['blue'])
    assert.equal((await service.call(`GET /v1/memories/${ofTeams.red}`, { token })).status, 404)
    await service.clock.advance(1_000)
    assert.deepEqual(await seenBy(other), ['blue'])
    assert.equal((await remember(token)).body.team_id, 'blue')
    await put('agents', 'mover', AGENT)
    assertError(await remember(token), 'validation_failed')
    if (other !== service) await other.stop()
  })

  test('[OPS-25] of many concurrent PUTs one creates the agent and the others find it', async () => {
    const replies = await Promise.all(Array.from({ length: 8 }, () => put('agents', 'at once', AGENT)))
    assert.deepEqual(
      replies.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 200, 200, 200, 200, 200, 200, 201],
    )
    assert.equal(new Set(replies.map(({ body }) => body.id)).size, 1)
  })

  test('[OPS-24] an external id is unique among the agents and among the channels of a tenant', async () => {
    const agent = await post('agents', { ...AGENT, external_id: 'unique' })
    assert.deepEqual([agent.status, agent.body.external_id], [201, 'unique'])
    assertError(await post('agents', { ...AGENT, external_id: 'unique' }), 'conflict', {
      idempotency_key: null,
      existing_resource_id: agent.body.id,
    })
    const channel = await post('channels', { ...CHANNEL, external_id: 'unique' })
    assert.deepEqual([channel.status, channel.body.external_id], [201, 'unique'])
    assertError(await post('channels', { ...CHANNEL, external_id: 'unique' }), 'conflict', {
      idempotency_key: null,
      existing_resource_id: channel.body.id,
    })
    const other = await service.tenant()
    assert.equal((await post('agents', { ...AGENT, external_id: 'unique' }, other.admin)).status, 201)
    assert.equal((await put('channels', 'unique', CHANNEL, other.admin)).status, 201)
    // Without an external id there is nothing to conflict with.
    assert.equal('external_id' in (await post('agents', AGENT)).body, false)
    assert.equal((await post('agents', AGENT)).status, 201)
  })

  test('[OPS-24] an invalid external id is 400, and so is a body with a different one', async () => {
    for (const kind of ['agents', 'channels'] as const) {
      const body = kind === 'agents' ? AGENT : CHANNEL
      for (const id of ['x'.repeat(256), ' ', '\0'])
        assertError(await put(kind, id, body), 'validation_failed', { field: 'external_id' })
      assert.equal((await put(kind, '🙂'.repeat(255), body)).status, 201)
      assertError(await put(kind, 'a', { ...body, external_id: 'b' }), 'validation_failed', {
        field: 'external_id',
        example: 'a',
      })
      assert.equal((await put(kind, 'a', { ...body, external_id: 'a' })).status, 201)
      for (const external_id of ['', 'x'.repeat(256), 7])
        assertError(await post(kind, { ...body, external_id }), 'validation_failed', { field: 'external_id' })
    }
  })

  test('[OPS-26] a channel is created with the caller as owner; owners, admins and org-admins change it', async () => {
    const [owner, member, admin] = [await tenant.agent(), await tenant.agent(), await tenant.agent()]
    const made = await put('channels', 'room', CHANNEL, owner.token)
    assert.equal(made.status, 201)
    const members = await service.call(`GET /v1/channels/${made.body.id}/members`, { token: owner.token })
    assert.deepEqual([members.body.members[0].participant_id, members.body.members[0].role], [owner.id, 'owner'])
    for (const [agent, role] of [
      [member, 'member'],
      [admin, 'admin'],
    ] as const) {
      await service.call(`POST /v1/channels/${made.body.id}/members`, {
        token: owner.token,
        body: { participant_type: 'agent', participant_id: agent.id, role },
      })
    }
    assert.deepEqual((await put('channels', 'room', CHANNEL, owner.token)).body, made.body)
    assertError(
      await put('channels', 'room', { ...CHANNEL, name: 'Taken over' }, member.token),
      'business_rule_violation',
      {
        rule: 'role_required',
        channel_id: made.body.id,
      },
    )
    await service.clock.advance(1000)
    for (const [token, name] of [
      [admin.token, 'By an admin'],
      [tenant.admin, 'By the org-admin'],
    ] as const) {
      const changed = await put('channels', 'room', { ...CHANNEL, name, description: 'For all' }, token)
      assert.deepEqual([changed.status, changed.body.id, changed.body.name], [200, made.body.id, name])
    }
    const described = { ...CHANNEL, name: 'By the org-admin', description: 'For some' }
    assert.equal((await put('channels', 'room', described, tenant.admin)).body.description, 'For some')
    assertError(
      await put('channels', 'room', { ...CHANNEL, type: 'private' }, owner.token),
      'business_rule_violation',
      {
        rule: 'channel_type_fixed',
        channel_id: made.body.id,
      },
    )
  })

  test('[OPS-24] a caller that does not see a channel does not learn that it has the id', async () => {
    const [owner, stranger] = [await tenant.agent(), await tenant.agent()]
    const body = { ...CHANNEL, type: 'private' }
    assert.equal((await put('channels', 'hidden', body, owner.token)).status, 201)
    const refused = { idempotency_key: null, existing_resource_id: null }
    assertError(await put('channels', 'hidden', body, stranger.token), 'conflict', refused)
    assertError(await post('channels', { ...body, external_id: 'hidden' }, stranger.token), 'conflict', refused)
  })
})
