// Memories for an event are searched ahead of the poll that takes it, and the result is the same as if that poll had
// searched.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { NewDelivery } from '../../src/delivery/handover.ts'
import { makeAhead, type AheadTools } from '../../src/enrichment/ahead.ts'
import { makeEnrich } from '../../src/enrichment/enrich.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeStepTurns } from '../../src/kernel/step-turns.ts'
import type { Recall } from '../../src/memory/recall.ts'
import type { Recalled } from '../../src/memory/index/memory-index.ts'
import { interest, poll, publish } from '../events/tools.ts'
import { onBothEngines } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { startService, type Service, type TestAgent, type TestTenant } from '../support/service.ts'

interface Block {
  memories: { id: string; title: string; score: number }[]
}

const RECALLED: Recalled = {
  id: 'mem_1',
  score: 0.5,
  signals: { similarity: 0.6, lexical: 0.2, confidence: 1, recency: 1, importance: 0.5 },
}

onBothEngines((engine) => {
  describe('searched ahead', () => {
    let service: Service
    let tenant: TestTenant
    let agent: TestAgent

    before(async () => {
      service = await startService(engine)
      tenant = await service.tenant()
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
    after(() => service.stop())

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
      const setStrength = async (strength: number): Promise<void> => {
        const { status, text } = await service.call('POST /v1/memories/import', {
          token: agent.token,
          headers: { 'content-type': 'application/x-ndjson' },
          raw: JSON.stringify({ ...line, strength }),
        })
        assert.equal(status, 200, text)
      }
      await setStrength(1)
      await happen('what is the code of the north gate')
      await titles()
      await happen('what is the code of the north gate')
      await service.app.ahead.idle()
      await setStrength(0.1)
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

describe('the work ahead', () => {
  const delivery = (recipient: string, id: string, message: string): NewDelivery => ({
    ...{
      tenant_id: `ten_${recipient[0]}`,
      recipient_id: recipient,
      id,
      event_id: id,
      priority: 0,
      enrichment: 'light',
    },
    ...{ matched: '{}', created_at: 0, envelope: JSON.stringify({ type: 'a.b', data: { message } }) },
  })
  const tools = (found: Partial<AheadTools>): AheadTools =>
    ({
      store: { rows: async () => [], lookUp: async () => [] },
      clock: { elapsed: () => 0 },
      log: makeLogger('silent'),
      searchFingerprint: async () => 'as it is',
      readAhead: async () => {},
      recall: async () => [RECALLED],
      ...found,
    }) as unknown as AheadTools
  const expected = { hasMemories: true, wereUnchanged: true }

  test('[ENR-8] events with the same content share one search', async () => {
    let asked = 0
    const ahead = makeAhead(
      tools({
        recall: async () => {
          asked++
          return [RECALLED]
        },
      }),
    )
    ahead.polled({ tenantId: 'ten_a', recipientId: 'a1' }, expected)
    ahead.deliveriesAdded([delivery('a1', 'd1', 'hot')])
    await ahead.idle()
    ahead.deliveriesAdded([delivery('a1', 'd2', 'hot'), delivery('a1', 'd3', 'cold')])
    await ahead.idle()
    assert.equal(asked, 2)
    assert.deepEqual((await ahead.take('d2'))?.recalled, [RECALLED])
    assert.equal(await ahead.take('d2'), null, 'it is given out once')
  })

  test('[ENR-8] a poll whose search failed does not change what is expected', async () => {
    const ahead = makeAhead(tools({}))
    const searched = async (id: string): Promise<boolean> => {
      ahead.deliveriesAdded([delivery('a1', id, 'hot')])
      await ahead.idle()
      return (await ahead.take(id)) !== null
    }
    const polled = async (recall: Recall): Promise<void> => {
      const found = { ...ahead, searchFingerprint: async () => null, count() {} }
      const { store, clock, log } = { ...tools({}), clock: fakeClock() }
      const enrich = makeEnrich({ store, recall, clock, log, steps: makeStepTurns(), ahead: found })
      await enrich({ tenantId: 'ten_a', recipientId: 'a1' }, [
        { id: 'now', eventId: 'now', depth: 'light', envelope: '{"type":"a.b","data":"hot"}' },
      ])
    }
    ahead.polled({ tenantId: 'ten_a', recipientId: 'a1' }, expected)
    await polled(async () => Promise.reject(new Error('too many searches')))
    assert.equal(await searched('d1'), true)
    await polled(async () => [])
    assert.equal(await searched('d2'), false, 'it remembers nothing')
  })

  test('[ENR-7] columns of a tenant that two threads have read never have the same name', async () => {
    const url = new URL('../../src/memory/index/tenant-columns.ts', import.meta.url)
    const nameInThread = async (): Promise<unknown> => {
      const code = `import(${JSON.stringify(url)}).then(({ TenantColumns }) =>
        require('node:worker_threads').parentPort.postMessage(new TenantColumns([]).name))`
      const [name] = await once(new Worker(code, { eval: true }), 'message')
      return name
    }
    assert.notEqual(await nameInThread(), await nameInThread())
  })

  test('[ENR-8] while memories keep changing, texts are only embedded ahead, not searched', async () => {
    const done: string[] = []
    const ahead = makeAhead(
      tools({
        recall: async () => (done.push('searched'), [RECALLED]),
        readAhead: async () => void done.push('read'),
      }),
    )
    ahead.polled({ tenantId: 'ten_a', recipientId: 'a1' }, { hasMemories: true, wereUnchanged: false })
    ahead.deliveriesAdded([delivery('a1', 'd1', 'hot')])
    await ahead.idle()
    assert.deepEqual(done, ['read'])
    assert.deepEqual((await ahead.take('d1'))?.recalled, null)
    ahead.polled({ tenantId: 'ten_a', recipientId: 'a1' }, expected)
    ahead.deliveriesAdded([delivery('a1', 'd2', 'hot')])
    await ahead.idle()
    assert.deepEqual(done, ['read', 'searched'])
  })

  test('[ENR-9] tenants take turns, 200 of a mailbox wait, and what a poll has taken is not begun', async () => {
    const searched: string[] = []
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const ahead = makeAhead(
      tools({
        recall: async ({ id }, query) => {
          searched.push(`${id} ${query.split(' ').at(-1)}`)
          await held
          return [RECALLED]
        },
      }),
    )
    for (const recipient of ['a1', 'b1'])
      ahead.polled({ tenantId: `ten_${recipient[0]}`, recipientId: recipient }, expected)
    ahead.deliveriesAdded(Array.from({ length: 250 }, (_, i) => delivery('a1', `a${i}`, `n${i}`)))
    ahead.deliveriesAdded([delivery('b1', 'b0', 'urgent'), delivery('b1', 'b1', 'taken')])
    assert.equal(await ahead.take('b1'), null)
    release()
    await ahead.idle()
    assert.deepEqual(searched.slice(0, 2).sort(), ['a1 n0', 'b1 urgent'])
    assert.equal(searched.filter((one) => one.startsWith('a1')).length, 200)
    assert.ok(!searched.includes('b1 taken'))
  })

  test('[ENR-9] at most 2,000 wait in all', async () => {
    let searches = 0
    const ahead = makeAhead(tools({ recall: async () => (searches++, [RECALLED]) }))
    for (let i = 0; i < 11; i++) {
      ahead.polled({ tenantId: 'ten_a', recipientId: `a${i}` }, expected)
      ahead.deliveriesAdded(Array.from({ length: 200 }, (_, n) => delivery(`a${i}`, `a${i}.${n}`, `n${i}.${n}`)))
    }
    await ahead.idle()
    assert.equal(searches, 2_000)
  })

  const found = async (given: Partial<AheadTools>, ...added: NewDelivery[]) => {
    const ahead = makeAhead(tools(given))
    ahead.polled({ tenantId: 'ten_a', recipientId: 'a1' }, expected)
    ahead.deliveriesAdded(added)
    await ahead.idle()
    return ahead
  }

  test('[ENR-7] what was found five minutes ago is used, and no longer after that', async () => {
    const time = { now: 0 }
    const clock = { elapsed: () => time.now } as AheadTools['clock']
    const ahead = await found({ clock }, delivery('a1', 'd1', 'hot'), delivery('a1', 'd2', 'cold'))
    time.now = 300_000
    assert.deepEqual((await ahead.take('d1'))?.recalled, [RECALLED])
    time.now++
    assert.equal(await ahead.take('d2'), null)
  })

  test('[ENR-7] what was found by words alone is not used: the poll searches again', async () => {
    const byWords = { ...RECALLED, signals: { ...RECALLED.signals, similarity: 0 } }
    for (const [all, used] of [
      [[byWords, byWords], null],
      [
        [byWords, RECALLED],
        [byWords, RECALLED],
      ],
      [[], []],
    ] as const) {
      const ahead = await found({ recall: async () => [...all] }, delivery('a1', 'd1', 'hot'))
      assert.deepEqual((await ahead.take('d1'))?.recalled, used)
    }
  })

  test('[ENR-8] events with the same content are searched for anew at another depth', async () => {
    const limits: unknown[] = []
    const recall: Recall = async (_viewer, _query, options) => (limits.push(options?.limit), [RECALLED])
    const ahead = await found({ recall }, delivery('a1', 'd1', 'hot'))
    ahead.deliveriesAdded([{ ...delivery('a1', 'd2', 'hot'), enrichment: 'full' }])
    await ahead.idle()
    assert.deepEqual(limits, [3, 8])
  })

  test('[ENR-9] a long event is not searched for ahead, and 8 MiB of short ones wait at most', async () => {
    const padded = (recipient: string, id: string, characters: number): NewDelivery => {
      const one = delivery(recipient, id, id)
      return { ...one, envelope: one.envelope + ' '.repeat(characters - one.envelope.length) }
    }
    let searches = 0
    const recall: Recall = async () => (searches++, [RECALLED])
    const short = 32_768
    const ahead = await found({ recall }, padded('a1', 'short', short), padded('a1', 'long', short + 1))
    assert.equal(searches, 1)
    ahead.polled({ tenantId: 'ten_a', recipientId: 'a2' }, expected)
    for (let round = 1; round <= 2; round++) {
      for (const recipient of ['a1', 'a2'])
        ahead.deliveriesAdded(
          Array.from({ length: 150 }, (_, i) => padded(recipient, `${recipient}.${round}.${i}`, short)),
        )
      await ahead.idle()
      assert.equal(searches, 1 + round * 256)
    }
  })
})
