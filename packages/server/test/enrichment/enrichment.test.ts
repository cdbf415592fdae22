import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { DeliveredEvent, type Enrichment } from '@sensorium/contract'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite, type TestAgent } from '../support/service.ts'
import { interest, poll, publish } from '../events/tools.ts'
import { makeEnrich } from '../../src/enrichment/enrich.ts'
import { makeStepTurns } from '../../src/kernel/step-turns.ts'
import { keepEnrichment } from '../../src/enrichment/sql.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { compileCheckFor } from '../../src/operations/validate.ts'
import type { Recall } from '../../src/memory/recall.ts'
import { NOT_AHEAD } from './not-ahead.ts'
import { turnsUntil } from '../support/turns-until.ts'

const wrongIn = compileCheckFor([])(DeliveredEvent)

onBothEngines((engine) => {
  describe('enrichment', () => {
    const service = serviceForSuite(engine, { VISIBILITY_TIMEOUT_S: '30' })
    const tenant = tenantForSuite(service)
    let owner: TestAgent
    let light: TestAgent
    let full: TestAgent
    let plain: TestAgent
    before(async () => {
      ;[owner, light, full, plain] = [
        await tenant.agent(),
        await tenant.agent(),
        await tenant.agent(),
        await tenant.agent(),
      ]
      for (const [agent, enrichment_depth] of [
        [light, 'light'],
        [full, 'full'],
        [plain, 'none'],
      ] as const) {
        await interest(service, agent, { event_type: 'com.shop.*', enrichment_depth })
      }
    })

    const remember = async (
      agent: TestAgent,
      title: string,
      content: string,
      scope = 'institutional',
    ): Promise<string> =>
      (
        await service.call('POST /v1/memories', {
          token: agent.token,
          body: { type: 'semantic', scope, title, content },
        })
      ).body.id
    async function block(agent: TestAgent): Promise<Enrichment | undefined> {
      const payload = (await poll(service, agent.token)).at(-1)?.payload as DeliveredEvent
      assert.equal(wrongIn(payload), null)
      return payload.enrichment
    }

    test('[ENR-1] [ENR-2] [ENR-3] [ENR-4] light names up to three memories, full adds content, relationships and earlier events', async () => {
      const parcel = await remember(
        owner,
        'Parcels to Anna',
        'Anna wants her parcels left with the neighbour in number 7',
      )
      const hidden = await remember(owner, 'Private note on Anna and parcels', 'Anna complained about parcels', 'agent')
      const related = await remember(owner, 'The neighbour', 'The neighbour in number 7 works nights')
      for (let i = 0; i < 4; i++) await remember(owner, `Parcel rule ${i}`, `Rule ${i} about parcels and Anna`)
      await service.call(`POST /v1/memories/${parcel}/relationships`, {
        token: owner.token,
        body: { target_memory_id: related, relationship_type: 'related_to' },
      })
      await service.app.memory.embedding.idle()

      const earlier = (
        await publish(service, owner.token, {
          type: 'com.shop.parcel.sent',
          subject: 'customer/anna',
          data: { note: 'parcel for Anna' },
        })
      ).body.event_id
      await poll(service, light.token)
      await poll(service, full.token)
      await service.clock.advance(5)
      await publish(service, owner.token, {
        type: 'com.shop.parcel.late',
        subject: 'customer/anna',
        data: { note: 'the parcel for Anna is late' },
      })
      assert.equal(await block(plain), undefined)

      const small = (await block(light))!
      assert.equal(small.depth, 'light')
      assert.equal(small.memories.length, 3)
      assert.deepEqual(Object.keys(small.memories[0]!).sort(), ['id', 'score', 'title'])
      assert.ok(!('recent_events' in small))

      const large = (await block(full))!
      assert.equal(large.depth, 'full')
      const ids = large.memories.map((memory) => memory.id)
      assert.ok(ids.includes(parcel) && !ids.includes(hidden) && ids.length <= 8)
      const found = large.memories.find((memory) => memory.id === parcel)!
      assert.match(found.content!, /neighbour in number 7/)
      assert.deepEqual(
        found.relationships!.map((relationship) => relationship.target_memory_id),
        [related],
      )
      assert.deepEqual(
        large.recent_events!.map((event) => event.event_id),
        [earlier],
      )
    })

    test('[ENR-3] a full block shows the hundred strongest relationships of a memory', async () => {
      const line = (id: string, content: string) => ({
        type: 'semantic',
        scope: 'institutional',
        id,
        title: id,
        content,
      })
      const relationship = (i: number) => ({
        source_memory_id: 'quay',
        target_memory_id: `ship-${i}`,
        relationship_type: 'related_to',
        strength: i === 0 ? 0.1 : 0.5,
      })
      const lines = [
        line('quay', 'The quay of the ferry is closed at low tide'),
        ...Array.from({ length: 101 }, (_, i) => line(`ship-${i}`, `Vessel number ${i}`)),
        ...Array.from({ length: 101 }, (_, i) => relationship(i)),
      ]
      const { body } = await service.call('POST /v1/memories/import', {
        token: owner.token,
        raw: lines.map((each) => JSON.stringify(each)).join('\n'),
        headers: { 'content-type': 'application/x-ndjson' },
      })
      assert.equal(body.created, 203)
      await service.app.memory.embedding.idle()
      await publish(service, owner.token, { type: 'com.shop.quay', data: { note: 'ferry quay closed at low tide' } })
      const quay = (await block(full))!.memories.find(({ title }) => title === 'quay')!
      assert.equal(quay.relationships!.length, 100)
      assert.ok(quay.relationships!.every(({ strength }) => strength === 0.5))
    })

    test('[ENR-3] of events of the same millisecond only those stored before it count as earlier', async () => {
      const batch = ['a', 'b', 'c'].map((name) => ({
        specversion: '1.0',
        id: `same-${name}`,
        type: 'com.shop.desk.moved',
        source: '/t',
        subject: 'desk/9',
        data: { name },
      }))
      await service.call('POST /v1/events', {
        token: owner.token,
        raw: JSON.stringify(batch),
        headers: { 'content-type': 'application/cloudevents-batch+json' },
      })
      const handed = (await poll(service, full.token)).filter(({ payload }) => payload['subject'] === 'desk/9')
      const earlier = new Map(
        handed.map(({ payload }) => [
          payload['id'],
          (payload['enrichment'] as Enrichment).recent_events!.map(({ event_id }) => event_id),
        ]),
      )
      assert.deepEqual(
        [...earlier],
        [
          ['same-a', []],
          ['same-b', ['same-a']],
          ['same-c', ['same-b', 'same-a']],
        ],
      )
    })

    test('[RCL-10] an event unrelated to any memory arrives without one, a related one with it', async () => {
      const here = await service.tenant()
      const agent = await here.agent()
      for (const [title, content] of [
        ['VPN', 'My vpn is broken again; a restart of the client helps.'],
        ['Standup', 'The standup moved to nine.'],
        ['Pump 7 runs hot since its rebuild', 'Above 90 degrees it has always been the coolant valve.'],
      ])
        await service.call('POST /v1/memories', {
          token: agent.token,
          body: { type: 'semantic', scope: 'agent', title, content },
        })
      await service.app.memory.embedding.idle()
      await interest(service, agent, { event_type: '*', enrichment_depth: 'light' })
      const titles = async (event: Record<string, unknown>): Promise<string[]> => {
        await publish(service, agent.token, event)
        const [delivery] = await poll(service, agent.token)
        return (delivery!.payload as DeliveredEvent).enrichment!.memories.map(({ title }) => title)
      }
      const pump = { type: 'com.plant.pump.measured', subject: 'pump/7', data: { pump: 7, celsius: 93 } }
      assert.deepEqual(await titles({ id: 'pump', ...pump }), ['Pump 7 runs hot since its rebuild'])
      const invoice = { type: 'com.shop.invoice.paid', subject: 'invoice/2231', data: { amount: 120, by: 'Ada' } }
      assert.deepEqual(await titles({ id: 'invoice', ...invoice }), [])
    })

    test('[ENR-5] [DLQ-7] it is computed once and kept for redeliveries; dead letters come without it', async () => {
      await publish(service, owner.token, { type: 'com.shop.cup.broken', data: { note: 'a cup broke' } })
      const first = (await poll(service, light.token))[0]!
      await remember(owner, 'Cups that break', 'A cup broke before, in the same shop')
      await service.clock.advance(30_000)
      const second = (await poll(service, light.token)).find((delivery) => delivery.id === first.id)!
      assert.equal(second.attempt_count, 2)
      assert.deepEqual(second.payload['enrichment'], first.payload['enrichment'])
      await service.call('POST /v1/delivery/nack', {
        token: light.token,
        body: { delivery_ids: [first.id], dead_letter: true },
      })
      const dead = (await service.call('GET /v1/delivery/dlq', { token: light.token })).body.dlq_items
      assert.ok(!('enrichment' in dead[0].payload))
    })

    test('[ENR-5] a block that is written late does not replace the one that went out', async () => {
      await publish(service, owner.token, { type: 'com.shop.bowl.broken', data: { note: 'a bowl broke' } })
      const first = (await poll(service, light.token)).at(-1)!
      const mailbox = { tenantId: tenant.id, recipientId: light.id }
      const late = JSON.stringify({ depth: 'light', memories: [], note: 'of an attempt that lost its lease' })
      await service.store.tx(async (tx) => keepEnrichment(tx, mailbox, [[first.id, late]]))
      await service.clock.advance(30_000)
      const second = (await poll(service, light.token)).find((delivery) => delivery.id === first.id)!
      assert.deepEqual(second.payload['enrichment'], first.payload['enrichment'])
    })

    test('[ENR-5] [SAFE-19] a long block, which is read by itself, is kept for redeliveries too', async () => {
      await publish(service, owner.token, { type: 'com.shop.jug.broken', data: { note: 'a jug broke' } })
      const { id } = (await poll(service, light.token)).at(-1)!
      const kept = { depth: 'light', memories: [], note: 'x'.repeat(40_000) }
      await service.store.tx((tx) =>
        tx.run('update deliveries set enriched = ? where tenant_id = ? and id = ?', [
          JSON.stringify(kept),
          tenant.id,
          id,
        ]),
      )
      await service.clock.advance(30_000)
      const again = (await poll(service, light.token)).find((delivery) => delivery.id === id)!
      assert.deepEqual(again.payload['enrichment'], kept)
    })

    test('[ENR-5] [DLQ-3] a replayed dead letter is enriched anew', async () => {
      await publish(service, owner.token, { type: 'com.shop.lamp.broken', data: { note: 'a lamp shattered' } })
      const { id } = (await poll(service, light.token)).at(-1)!
      await service.call('POST /v1/delivery/nack', {
        token: light.token,
        body: { delivery_ids: [id], dead_letter: true },
      })
      await remember(owner, 'Lamps that shatter', 'A lamp shattered before, in the same shop')
      await service.call(`POST /v1/delivery/dlq/${id}/replay`, { token: light.token })
      const again = (await poll(service, light.token)).find((delivery) => delivery.id === id)!
      const { memories } = again.payload['enrichment'] as Enrichment
      assert.ok(memories.some(({ title }) => title === 'Lamps that shatter'))
    })

    test('[ENR-5] [ENR-6] after a failure the delivery goes out without it; the next attempt has it', async () => {
      await publish(service, owner.token, { type: 'com.shop.x', data: { note: 'parcel' } })
      await service.store.tx((tx) => tx.run('alter table memories rename to memories_away'))
      try {
        const handed = await poll(service, full.token)
        assert.equal(handed.length > 0, true)
        assert.equal(handed.at(-1)!.payload['enrichment'], undefined)
      } finally {
        await service.store.tx((tx) => tx.run('alter table memories_away rename to memories'))
      }
      await service.clock.advance(30_000)
      assert.ok(((await block(full))?.memories.length ?? 0) > 0)
    })

    test('[ENR-6] its budget runs on the clock: past the budget the delivery goes without it', async () => {
      const clock = fakeClock()
      let answer = (): void => {}
      const recall: Recall = () => new Promise((resolve) => (answer = () => resolve([])))
      const enrich = makeEnrich({
        store: service.store,
        recall,
        clock,
        log: makeLogger('silent'),
        steps: makeStepTurns(),
        ahead: NOT_AHEAD,
      })
      const delivery = { id: 'dlv_0', eventId: 'e0', depth: 'light', envelope: '{"type":"a.b","data":"note"}' } as const
      const budgetBegun = async (): Promise<void> => {
        await turnsUntil(() => clock.sleepers() > 0)
      }
      const mailbox = { tenantId: tenant.id, recipientId: full.id }
      const late = enrich(mailbox, [delivery])
      await budgetBegun()
      await clock.advance(1_000)
      assert.equal((await late).size, 0)
      const inTime = enrich(mailbox, [delivery])
      await budgetBegun()
      await clock.advance(999)
      answer()
      assert.deepEqual([...(await inTime).keys()], ['dlv_0'])
      assert.equal(clock.sleepers(), 0, 'nobody waits for what has been answered')
    })

    test('[ENR-6] a large poll is enriched a few at a time, and a failure leaves out one delivery', async () => {
      let now = 0
      let most = 0
      let asked = 0
      const recall: Recall = async () => {
        const turn = ++asked
        most = Math.max(most, ++now)
        // Longer than it takes to begin all that may be under way, because one is begun in each turn.
        for (let i = 0; i < 20; i++) await new Promise(setImmediate)
        now--
        if (turn === 3) throw new Error('late')
        return []
      }
      const enrich = makeEnrich({
        store: service.store,
        recall,
        clock: service.clock,
        log: makeLogger('silent'),
        steps: makeStepTurns(),
        ahead: NOT_AHEAD,
      })
      const deliveries = Array.from({ length: 20 }, (_, i) => ({
        id: `dlv_${i}`,
        eventId: `e${i}`,
        depth: 'light' as const,
        envelope: JSON.stringify({ type: 'a.b', data: `note ${i}` }),
      }))
      const blocks = await enrich({ tenantId: tenant.id, recipientId: full.id }, deliveries)
      assert.deepEqual([asked, most], [20, 4])
      assert.deepEqual(
        [...blocks.keys()].sort(),
        deliveries
          .map(({ id }) => id)
          .filter((id) => id !== 'dlv_2')
          .sort(),
      )
    })
  })
})
