// Memories for an event are searched ahead of the poll that takes it, and the result is the same as if that poll had
// searched.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { interest, poll, publish } from '../events/tools.ts'
import { memoryCalls } from '../memory/tools.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite, type TestAgent } from '../support/service.ts'

interface Block {
  memories: { id: string; title: string; score: number }[]
}

onBothEngines((engine) => {
  describe('searched ahead', () => {
    const service = serviceForSuite(engine)
    const tenant = tenantForSuite(service)
    let agent: TestAgent
    before(async () => {
      agent = await tenant.agent({ team: 'blue' })
      await interest(service, agent, { event_type: 'com.plant.*', enrichment_depth: 'light' })
      for (const [title, content] of [
        ['Pump 7 runs hot since its rebuild', 'Above 90 degrees it has always been the coolant valve.'],
        ['VPN', 'My vpn is broken again; a restart of the client helps.'],
        ['Forklift in hall 3', 'The forklift in hall 3 loses oil and is repaired on Friday.'],
      ])
        await remember(title!, content!)
      await happen('pump 7 is hot') // an agent that was enriched lately is expected to poll again
      await titles()
    })

    async function remember(title: string, content: string, scope = 'agent', token = agent.token): Promise<string> {
      const body = { type: 'semantic', scope, title, content }
      const made = await service.call('POST /v1/memories', { token, body })
      assert.equal(made.status, 201, made.text)
      const { id } = made.body
      await service.app.memory.embedding.idle()
      return id
    }
    async function happen(...messages: string[]): Promise<void> {
      for (const message of messages)
        await publish(service, agent.token, { type: 'com.plant.alarm.raised', data: { message } })
    }
    async function titles(token = agent.token): Promise<string[][]> {
      const deliveries = await poll(service, token)
      return deliveries.map(({ payload }) => (payload['enrichment'] as Block).memories.map(({ title }) => title))
    }
    /** How many deliveries were enriched with a search made ahead, and with one made by the poll. */
    async function searches(): Promise<{ ahead: number; now: number }> {
      const { text } = await service.call('GET /metrics')
      const count = (made: string): number =>
        Number(new RegExp(`^sensorium_enrichment_searches_total\\{made="${made}"\\} (\\d+)$`, 'm').exec(text)![1])
      return { ahead: count('ahead'), now: count('now') }
    }
    /** The memories in the deliveries of a poll, and where its searches were made. */
    async function polled(token?: string): Promise<{ said: string[][]; ahead: number; now: number }> {
      const was = await searches()
      const said = await titles(token)
      const is = await searches()
      return { said, ahead: is.ahead - was.ahead, now: is.now - was.now }
    }

    test('[ENR-7] a search between publish and poll finds what the poll would find', async () => {
      await happen('pump 7 is hot', 'the forklift has lost oil', 'an invoice was paid')
      await service.app.ahead.idle()
      assert.deepEqual(await polled(), {
        said: [['Pump 7 runs hot since its rebuild'], ['Forklift in hall 3'], []],
        ahead: 3,
        now: 0,
      })
    })

    test('[ENR-7] a memory added meanwhile is included, a deleted one is not', async () => {
      await happen('the gate of hall 9 is stuck')
      await service.app.ahead.idle()
      const id = await remember('Gate of hall 9', 'When the gate of hall 9 is stuck its sensor is dirty.')
      assert.deepEqual(await polled(), { said: [['Gate of hall 9']], ahead: 0, now: 1 })
      await happen('the gate of hall 9 is stuck again')
      await service.app.ahead.idle()
      await service.call(`DELETE /v1/memories/${id}`, { token: agent.token })
      assert.deepEqual((await polled()).said, [[]])
    })

    test('[ENR-7] a contradiction added meanwhile counts', async () => {
      const old = await remember('Boiler code', 'The code of the boiler room is 1111.')
      const fresh = await remember('Boiler code now', 'The code of the boiler room has been changed, it is 2222.')
      await happen('what is the code of the boiler room')
      await titles()
      await happen('what is the code of the boiler room')
      await service.app.ahead.idle()
      await service.call(`POST /v1/memories/${fresh}/relationships`, {
        token: agent.token,
        body: { target_memory_id: old, relationship_type: 'contradicts' },
      })
      const { said, now } = await polled()
      assert.equal(now, 1)
      assert.deepEqual(said[0]!.slice(0, 2), ['Boiler code now', 'Boiler code'])
    })

    test('[ENR-7] a contradiction that an import has made stronger or weaker meanwhile counts', async () => {
      const old = await remember('Gate code', 'The code of the north gate is 1111.')
      const fresh = await remember('Gate code now', 'The code of the north gate has been changed, it is 2222.')
      const line = { source_memory_id: fresh, target_memory_id: old, relationship_type: 'contradicts' }
      const setStrength = async (strength: number, ...counts: number[]): Promise<void> =>
        assert.deepEqual((await memoryCalls(service).imported(agent, [{ ...line, strength }])).counts, counts)
      await setStrength(1, 1, 0, 0, 0)
      await happen('what is the code of the north gate')
      await titles()
      await happen('what is the code of the north gate')
      await service.app.ahead.idle()
      await setStrength(0.1, 0, 1, 0, 0)
      assert.equal((await polled()).now, 1)
    })

    test('[ENR-7] an agent whose team changed meanwhile sees what its new team sees', async () => {
      const green = await tenant.agent({ team: 'green' })
      await remember('Crane of the green team', 'The crane hums when its brake is worn.', 'team', green.token)
      await happen('the crane hums, maybe its brake is worn')
      await titles()
      await happen('the crane hums, maybe its brake is worn')
      await service.app.ahead.idle()
      const moved = 'update agents set team_id = ? where tenant_id = ? and id = ?'
      await service.store.tx((tx) => tx.run(moved, ['green', tenant.id, agent.id]))
      assert.deepEqual(await polled(), { said: [['Crane of the green team']], ahead: 0, now: 1 })
    })

    test('[ENR-8] no search ahead for agents not enriched lately, without memories or enrichment', async () => {
      const [stranger, forgetful, plain] = [await tenant.agent(), await tenant.agent(), await tenant.agent()]
      for (const other of [stranger, forgetful])
        await interest(service, other, { event_type: 'com.plant.*', enrichment_depth: 'light' })
      await interest(service, plain, { event_type: 'com.plant.*' })
      await happen('pump 7 is hot')
      await service.app.ahead.idle()
      assert.equal((await polled(stranger.token)).ahead, 0)
      assert.equal((await polled(forgetful.token)).ahead, 0)
      await happen('pump 7 is hotter')
      await service.app.ahead.idle()
      assert.equal((await polled(forgetful.token)).ahead, 0, 'it remembers nothing')
      await titles()
      await service.clock.advance(600_001)
      await happen('pump 7 is cold')
      await service.app.ahead.idle()
      const { ahead, now } = await polled()
      assert.deepEqual([ahead, now > 0], [0, true], 'ten minutes are long')
    })
  })
})
