// Arguments that a tool does not have, leases that are extended or lost, and channels that are joined.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TOOLS } from '../../src/mcp/make-mcp-server.ts'
import { exampleOf } from '../../src/operations/validate.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import { connectMcp, useTool } from './tools.ts'

test('[MCP-41] the example of every argument is one that could be sent', () => {
  for (const { name, input } of TOOLS)
    for (const [argument, schema] of Object.entries((input as { properties: Record<string, object> }).properties))
      assert.doesNotMatch(JSON.stringify(exampleOf(schema)), /"example"/, `${name}.${argument}`)
})

test('[MCP-2] tools name the defaults of their arguments, and ask for data that filters can read', () => {
  const argumentsOf = (name: string) =>
    (TOOLS.find((tool) => tool.name === name)!.input as { properties: Record<string, Record<string, unknown>> })
      .properties
  const { type, scope } = argumentsOf('remember')
  const { with_memories } = argumentsOf('subscribe')
  assert.deepEqual([type!['default'], scope!['default'], with_memories!['default']], ['semantic', 'agent', 'none'])
  assert.match(String(argumentsOf('publish_event')['data']!['description']), /an object, not a string/)
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)

  test('[MCP-30] [MCP-41] an argument that a tool does not have is refused with the nearest that it has, and a missing one by its name', async () => {
    const agent = await tenant.agent()
    const client = await connectMcp(service.url, agent.token)
    type Refused = { error: { code: string; details: { field: string; expected: string } } }
    const wrong = { event_type: 'mcp.*', filter_expression: 'data.n > 1', enrichment: 'light' }
    const { isError, result } = await useTool<Refused>(client, 'subscribe', wrong)
    assert.equal(isError, true)
    assert.deepEqual([result.error.code, result.error.details.field], ['validation_failed', 'filter_expression'])
    const listed = await useTool<{ subscriptions: object[] }>(client, 'list_subscriptions')
    assert.deepEqual(listed.result.subscriptions, [], 'nothing was done')
    const near = await useTool<Refused>(client, 'subscribe', { event_type: 'mcp.*', filtr: 'true' })
    assert.match(near.result.error.details.expected, /the nearest is filter$/)
    const missing = await useTool<Refused>(client, 'publish_event', { data: { celsius: 90 } })
    assert.deepEqual(missing.result.error.details.field, 'type', 'and not `data`')
    const instead = await useTool<Refused>(client, 'publish_event', { event_type: 'mcp.x' })
    assert.equal(instead.result.error.details.field, 'event_type')
    assert.match(instead.result.error.details.expected, /the nearest is type$/)
    for (const { name, input } of TOOLS) {
      const required = Object.fromEntries(
        ((input as { required?: string[] }).required ?? []).map((field) => [
          field,
          field.endsWith('_ids') ? ['x'] : field === 'seconds' ? 1 : 'team',
        ]),
      )
      const relation = name === 'relate' ? { relationship_type: 'supports' } : {}
      const reply = await useTool<Refused>(client, name, { ...required, ...relation, surplus: 1 })
      assert.equal(reply.result.error?.details.field, 'surplus', name)
    }
    await client.close()
  })

  test('[MCP-30] a refusal of the API names the argument of the tool', async () => {
    const agent = await tenant.agent()
    const client = await connectMcp(service.url, agent.token)
    type Refused = { error: { message: string; details: { field: string } } }
    const given = { event_type: 'mcp.*', filter: 'total over 100' }
    const { error } = (await useTool<Refused>(client, 'subscribe', given)).result
    assert.deepEqual([error.details.field, error.message.split(':')[0]], ['filter', 'filter'])
    await client.close()
  })

  test('[MCP-30] a refusal says subscription where the API says interest, and nothing that the tool does not take', async () => {
    const agent = await tenant.agent()
    const client = await connectMcp(service.url, agent.token)
    type Refused = { error: { code: string; message: string; details: Record<string, unknown> } }
    const same = { event_type: 'mcp.interest.*' }
    const { result: made } = await useTool<{ subscription_id: string }>(client, 'subscribe', same)
    const message = 'This agent has a subscription with the same type and filter'
    assert.deepEqual((await useTool<Refused>(client, 'subscribe', same)).result.error, {
      code: 'business_rule_violation',
      message: `${message}: to change it, unsubscribe from it first`,
      details: { rule: 'interest_conflict', message, existing_subscription_id: made.subscription_id },
    })
    const gone = await useTool<Refused>(client, 'unsubscribe', { subscription_id: 'interest' })
    assert.deepEqual(gone.result.error, {
      code: 'not_found',
      message: 'There is no such subscription: subscription_id is one from list_subscriptions',
      details: { resource_type: 'subscription', resource_id: 'interest' },
    })
    const never = { title: 'a', content: 'b', expires_at: 'tomorrow' }
    const { error } = (await useTool<Refused>(client, 'remember', never)).result
    assert.deepEqual([error.details['field'], /null/.test(error.message)], ['expires_at', false])
    await client.close()
  })

  test('[MCP-51] a refusal says how to mend the call', async () => {
    const scopes = ['send', 'receive', 'memory:read', 'memory:write', 'channel:read', 'channel:write']
    const [agent, colleague] = [await tenant.agent({ scopes }), await tenant.agent()]
    const client = await connectMcp(service.url, agent.token)
    const remembered = async (token: string) => {
      const body = { type: 'semantic', scope: 'institutional', title: 'a', content: 'b' }
      return (await service.call('POST /v1/memories', { token, body })).body.id as string
    }
    const [own, other] = [await remembered(agent.token), await remembered(colleague.token)]
    const room = await service.call('POST /v1/channels', {
      token: colleague.token,
      body: { name: 'Room', type: 'open' },
    })
    const received = await service.call('POST /v1/events', {
      token: colleague.token,
      body: { specversion: '1.0', type: 'x', source: '/s', id: `received-${engine.name}`, recipient: agent.id },
    })
    const same = { memory_id: own, target_memory_id: other, relationship_type: 'supports' }
    await useTool(client, 'relate', same)
    const uses: [string, object, RegExp][] = [
      ['publish_event', { type: 'x', recipient: 'Claude' }, /no such agent: recipient is an id from list_agents or/],
      ['explain_event', { type: 'x', agent_id: 'Bob' }, /no such agent: agent_id is an id from list_agents/],
      ['post_to_channel', { channel_id: room.body.id, text: 'hi' }, /: join_channel makes you a member/],
      ['post_to_channel', { channel_id: `${room.body.id}x`, text: 'hi' }, /: channel_id is an id from list_channels$/],
      ['join_channel', { channel_id: 'Room' }, /no such channel: channel_id is an id from list_channels$/],
      ['trace_event', { event_id: received.body.event_id }, /no such event: you can trace the events that you publish/],
      ['get_memory', { memory_id: 'pump 7' }, /no such memory: ids of memories come from recall$/],
      ['update_memory', { memory_id: other, title: 'c' }, /: remember your own, and relate it to this one/],
      ['forget', { memory_id: other }, /: get_memory shows its owner as agent_id.*; or if it is wrong, remember what/],
      ['promote_memory', { memory_id: other, scope: 'institutional' }, /: get_memory shows its owner.*; or remember/],
      ['relate', same, /: it exists already$/],
      ['recall', { q: 'pump' }, /; required and missing: query$/],
    ]
    for (const [name, given, expected] of uses) {
      const { isError, result } = await useTool<{ error: { message: string } }>(client, name, given)
      assert.equal(isError, true, name)
      assert.match(result.error.message, expected, name)
    }
    await client.close()
    // An org-admin can trace the events of everybody.
    const admin = await connectMcp(service.url, tenant.admin)
    const { result } = await useTool<{ error: { message: string } }>(admin, 'trace_event', { event_id: 'none' })
    assert.match(result.error.message, /no such event: event_id is the id that publish_event returned/)
    await admin.close()
  })

  test('[MCP-51] a memory is promoted to the own team unless another is named', async () => {
    const agent = await tenant.agent({ team: 'support', scopes: ['memory:read', 'memory:write'] })
    const client = await connectMcp(service.url, agent.token)
    const { result: kept } = await useTool<{ id: string }>(client, 'remember', { title: 'a', content: 'b' })
    await useTool(client, 'promote_memory', { memory_id: kept.id, scope: 'team' })
    const whole = await useTool<{ memory: { team_id: string } }>(client, 'get_memory', { memory_id: kept.id })
    assert.equal(whole.result.memory.team_id, 'support')
    await client.close()
  })

  test('[MCP-50] an org-admin is told that it has no subscriptions', async () => {
    const client = await connectMcp(service.url, tenant.admin)
    const uses = {
      subscribe: { event_type: 'mcp.*' },
      list_subscriptions: {},
      unsubscribe: { subscription_id: 'int_x' },
    }
    for (const [name, given] of Object.entries(uses)) {
      const { result } = await useTool<{ error: { code: string; message: string } }>(client, name, given)
      assert.equal(result.error.code, 'not_found', name)
      assert.equal(result.error.message, 'An org-admin has no subscriptions; use the key of an agent')
    }
    await client.close()
  })

  test('[MCP-31] a lease is extended, and each tool names the deliveries that it could not settle', async () => {
    const agent = await tenant.agent()
    const client = await connectMcp(service.url, agent.token)
    await useTool(client, 'subscribe', { event_type: 'lease.*' })
    for (const n of [1, 2, 3])
      await useTool(client, 'publish_event', { type: 'lease.x', id: `lease-${engine.name}-${n}` })
    const box = await useTool<{ deliveries: { delivery_id: string }[] }>(client, 'check_mailbox')
    const [one, two, three] = box.result.deliveries.map(({ delivery_id }) => delivery_id)
    const longer = { delivery_ids: [one, two], seconds: 600 }
    assert.deepEqual((await useTool(client, 'extend_lease', longer)).result, { extended: 2 })
    await service.clock.jump(31_000)
    const again = await useTool<{ deliveries: { delivery_id: string }[] }>(client, 'check_mailbox')
    assert.deepEqual(
      again.result.deliveries.map(({ delivery_id }) => delivery_id),
      [three],
    )
    const back = await useTool(client, 'give_back', { delivery_ids: [three, 'dlv_x'], dead_letter: true })
    assert.deepEqual(back.result, { given_back: 1, not_given_back: ['dlv_x'] })
    const longest = await useTool(client, 'extend_lease', { delivery_ids: [two, three, two], seconds: 600 })
    assert.deepEqual(longest.result, { extended: 1, not_extended: [three] })
    const settled = await useTool(client, 'acknowledge', { delivery_ids: [one, three, one] })
    assert.deepEqual(settled.result, { acknowledged: 1, not_acknowledged: [three] })
    assert.deepEqual((await useTool(client, 'acknowledge', { delivery_ids: [one] })).result, { acknowledged: 0 })
    assert.deepEqual((await useTool(client, 'acknowledge', { delivery_ids: [two] })).result, { acknowledged: 1 })
    // Others were acknowledged since.
    assert.deepEqual((await useTool(client, 'acknowledge', { delivery_ids: [one] })).result, { acknowledged: 0 })
    const both = await useTool(client, 'acknowledge', { delivery_ids: [three, one] })
    assert.deepEqual(both.result, { acknowledged: 0, not_acknowledged: [three] })
    const admin = await connectMcp(service.url, tenant.admin)
    assert.deepEqual((await useTool(admin, 'acknowledge', { delivery_ids: [three] })).result, { acknowledged: 0 })
    await admin.close()
    await client.close()
  })

  test('[MCP-32] an open channel is joined and left, once and again; a private one is not joined', async () => {
    const [owner, agent] = [await tenant.agent(), await tenant.agent()]
    const made = async (type: string) =>
      (await service.call('POST /v1/channels', { token: owner.token, body: { name: type, type } })).body.id as string
    const [open, closed] = [await made('open'), await made('private')]
    const client = await connectMcp(service.url, agent.token)
    for (const was_member of [false, true])
      assert.deepEqual((await useTool(client, 'join_channel', { channel_id: open })).result, {
        channel_id: open,
        member: true,
        was_member,
      })
    const post = { channel_id: open, text: 'Here I am' }
    assert.equal((await useTool<{ recipients: number }>(client, 'post_to_channel', post)).result.recipients, 1)
    assert.equal((await useTool(client, 'join_channel', { channel_id: closed })).isError, true)
    const member = { participant_type: 'agent', participant_id: agent.id }
    await service.call(`POST /v1/channels/${closed}/members`, { token: owner.token, body: member })
    for (const channel_id of [open, closed])
      for (const was_member of [true, false])
        assert.deepEqual((await useTool(client, 'leave_channel', { channel_id })).result, {
          channel_id,
          member: false,
          was_member,
        })
    await client.close()
    for (const [key, why] of [
      [owner.key, /owner/],
      [tenant.admin, /An org-admin leaves a channel through the API/],
    ] as const) {
      const who = await connectMcp(service.url, key)
      const refused = await useTool(who, 'leave_channel', { channel_id: open })
      assert.equal(refused.isError, true)
      assert.match(JSON.stringify(refused.result), why)
      await who.close()
    }
  })
})
