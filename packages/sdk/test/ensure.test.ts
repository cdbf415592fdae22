// Start-up code: what exists is brought to what is described.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createClient, type Client, type Description } from '@sensorium/client'
import { onBothEngines } from '../../server/test/support/engines.ts'
import { startService, type Service } from '../../server/test/support/service.ts'

const agent = (external_id: string, name = external_id) =>
  ({ external_id, name, delivery_mode: 'poll', client_type: 'other' }) as const

onBothEngines((engine) => {
  let service: Service
  let client: Client
  before(async () => {
    service = await startService(engine)
    const tenant = await service.tenant()
    client = createClient({ url: service.url, apiKey: tenant.adminKey })
  })
  after(() => service.stop())

  /** Everything that `ensure` is about, as the service shows it. */
  async function everything(): Promise<unknown> {
    const { agents } = await client.agents.list()
    const { channels } = await client.channels.list()
    return {
      agents: await Promise.all(
        agents.map(async (agent) => ({
          agent,
          interests: (await client.interests.list(agent.id)).interests,
          keys: (await client.keys.list(agent.id)).keys,
        })),
      ),
      channels: await Promise.all(
        channels.map(async (channel) => ({
          channel,
          members: (await client.channels.members(channel.id)).members,
          feeds: (await client.channels.feeds(channel.id)).feeds,
        })),
      ),
    }
  }

  test('[SDK-17] it makes what is missing, a second run changes nothing, and what differs is changed', async () => {
    const description: Description = {
      agents: [agent('sensor'), agent('triage')],
      interests: [
        { agent: 'triage', event_type: 'com.plant.*', filter_expression: 'data.celsius > 80' },
        { agent: 'triage', event_type: 'com.shop.*', priority: 2 },
      ],
      channels: [{ external_id: 'plant', name: 'Plant', type: 'open', members: ['sensor', 'triage'] }],
      feeds: [{ channel: 'plant', event_type_glob: 'com.plant.alarm' }],
      mintKeys: true,
    }
    const made = await client.ensure(description)
    const first = await everything()
    await service.clock.advance(5)
    assert.deepEqual(await client.ensure(description), made)
    assert.deepEqual(await everything(), first)

    await client.ensure({
      ...description,
      agents: [agent('sensor'), agent('triage', 'Triage, renamed')],
      interests: [{ agent: 'triage', event_type: 'com.shop.*', priority: 9 }],
      feeds: [{ channel: 'plant', event_type_glob: 'com.plant.**' }],
    })
    const { triage } = made.agents
    assert.equal((await client.agents.get(triage!.id)).name, 'Triage, renamed')
    const { interests } = await client.interests.list(triage!.id)
    assert.deepEqual(
      interests.map(({ event_type, priority }) => [event_type, priority]),
      [['com.shop.*', 9]],
    )
    const { feeds } = await client.channels.feeds(made.channels['plant']!.id)
    assert.deepEqual(
      feeds.map(({ event_type_glob }) => event_type_glob),
      ['com.plant.**'],
    )
    assert.deepEqual((await client.keys.list(triage!.id)).keys, [], 'the keys it minted are revoked')
  })

  test('[SDK-17] without leave to mint keys it says what it cannot do, and a name that is not described is refused', async () => {
    const interests = [{ agent: 'lonely', event_type: 'a.b' }]
    await assert.rejects(client.ensure({ agents: [agent('lonely')], interests }), /mintKeys/)
    await assert.rejects(client.ensure({ interests }), /no agent lonely/)
  })
})
