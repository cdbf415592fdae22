// A model learns who it is, and names itself.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import { connectMcp, useTool } from './tools.ts'

interface Agents {
  you?: { id: string; name: string; team_id: string | null }
  agents: { id: string }[]
}

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)

  test('[MCP-50] list_agents and the instructions say which agent the caller is, on any page', async () => {
    const agent = await tenant.agent()
    const { body } = await service.call(`GET /v1/agents/${agent.id}`, { token: agent.token })
    const client = await connectMcp(service.url, agent.key)
    for (const given of [{}, { offset: 100 }]) {
      const { result } = await useTool<Agents>(client, 'list_agents', given)
      assert.deepEqual(result.you, { id: agent.id, name: body.name, team_id: body.team_id })
    }
    assert.match(client.getInstructions()!, new RegExp(`You are the agent ${agent.id}`))
    await client.close()
    const admin = await connectMcp(service.url, tenant.admin)
    const asked = await useTool<Agents>(admin, 'list_agents')
    assert.ok(asked.result.agents.some(({ id }) => id === agent.id))
    assert.equal(asked.result.you, undefined)
    assert.doesNotMatch(admin.getInstructions()!, /You are the agent/)
    await admin.close()
  })

  test('[MCP-50] a reply to "me" comes to the caller', async () => {
    const [asks, answers] = [await tenant.agent(), await tenant.agent()]
    const [mine, theirs] = await Promise.all([asks, answers].map(({ key }) => connectMcp(service.url, key)))
    await useTool(mine!, 'publish_event', { type: 'com.shop.asked', recipient: answers.id, reply_to: 'me' })
    const box = await useTool<{ deliveries: { reply_to: string }[] }>(theirs!, 'check_mailbox')
    assert.equal(box.result.deliveries[0]!.reply_to, asks.id)
    await Promise.all([mine!, theirs!].map((client) => client.close()))
    const admin = await connectMcp(service.url, tenant.admin)
    const refused = await useTool(admin, 'publish_event', { type: 'com.shop.asked', reply_to: 'me' })
    assert.ok(refused.isError && JSON.stringify(refused.result).includes('An org-admin receives no replies'))
    await admin.close()
  })

  test('[MCP-50] list_channels says of which channels the caller is a member', async () => {
    const [owner, other] = [await tenant.agent(), await tenant.agent()]
    const make = async (type: string): Promise<string> =>
      (await service.call('POST /v1/channels', { token: owner.token, body: { name: type, type } })).body.id
    const [open, hidden] = [await make('open'), await make('private')]
    const memberOf = async (key: string): Promise<Record<string, boolean>> => {
      const client = await connectMcp(service.url, key)
      const { result } = await useTool<{ channels: { id: string; member: boolean }[] }>(client, 'list_channels')
      await client.close()
      return Object.fromEntries(result.channels.map(({ id, member }) => [id, member]))
    }
    assert.deepEqual(await memberOf(owner.key), { [open]: true, [hidden]: true })
    assert.deepEqual(await memberOf(other.key), { [open]: false })
    const plain = await service.call('GET /v1/channels', { token: owner.token })
    assert.equal('member' in plain.body.channels[0], false)
    const asked = await service.call('GET /v1/channels?membership=true', { token: tenant.admin })
    assert.deepEqual(
      asked.body.channels.map(({ member }: { member: boolean }) => member),
      [false, false],
    )
  })
})
