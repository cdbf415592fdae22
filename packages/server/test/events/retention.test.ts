import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { startService, type Service, type TestAgent, type TestTenant } from '../support/service.ts'
import { ack, eventIds, ids, interest, poll, publish } from './tools.ts'

const DAY = 86_400_000

onBothEngines((engine) => {
  describe('retention', () => {
    let service: Service
    let tenant: TestTenant
    let agent: TestAgent
    let late: TestAgent
    let busy: TestAgent

    before(async () => {
      service = await startService(engine, {
        RETENTION_DAYS: '10',
        VISIBILITY_TIMEOUT_S: '43200',
        MAX_ATTEMPTS: '1000',
      })
      tenant = await service.tenant()
      agent = await tenant.agent()
      late = await tenant.agent()
      busy = await tenant.agent()
      await interest(service, agent)
      await interest(service, busy, { event_type: 'busy.*' })
    })
    after(() => service.stop())

    // A token lives an hour, and these tests take weeks.
    const token = (of = agent) => tenant.token(of.key)

    test('[RET-1] [RET-2] [RET-3] acknowledged deliveries go with their events; pending and dead ones stay; ids stay known', async () => {
      for (const id of ['done', 'dead', 'open']) await publish(service, agent.token, { id, data: { id } })
      await publish(service, agent.token, { id: 'nobody', type: 'com.nobody' })
      const handed = await poll(service, agent.token)
      const of = (id: string): string => handed.find((delivery) => delivery.event_id === id)!.id
      await ack(service, agent.token, [of('done')])
      await service.call('POST /v1/delivery/nack', {
        token: agent.token,
        body: { delivery_ids: [of('dead')], dead_letter: true },
      })

      await service.clock.jump(9 * DAY)
      await service.app.runOnce.retain()
      assert.equal(
        (await service.call(`GET /v1/agents/${agent.id}/events`, { token: await token() })).body.events.length,
        1,
      )

      await service.clock.jump(2 * DAY)
      await service.app.runOnce.retain()
      assert.equal(
        (await service.call(`GET /v1/agents/${agent.id}/events`, { token: await token() })).body.events.length,
        0,
      )
      assert.equal(
        (await service.call('GET /v1/delivery/dlq', { token: await token() })).body.dlq_items[0].payload.data.id,
        'dead',
      )
      assert.ok(eventIds(await poll(service, await token())).includes('open'))
      assert.equal((await publish(service, await token(), { id: 'done' })).body.status, 'duplicate')
      assert.equal((await publish(service, await token(), { id: 'nobody' })).body.status, 'duplicate')
      const receipt = await service.call('GET /v1/events/done', { token: await token() })
      assert.deepEqual(receipt.body, { event: null, deliveries: [] })
      await interest(service, { ...late, token: await token(late) }, { event_type: '*', backfill: 100 })
      assert.deepEqual(eventIds(await poll(service, await token(late))).sort(), ['dead', 'open'])

      await service.clock.jump(11 * DAY)
      await service.app.runOnce.retain()
      assert.equal((await publish(service, await token(), { id: 'done' })).body.status, 'accepted')
    })

    test('[RET-1] what was acknowledged late is kept as long as anything else', async () => {
      await publish(service, await token(busy), { id: 'slow', type: 'busy.slow' })
      const kept = async (): Promise<number> => {
        await service.app.runOnce.retain()
        const { deliveries } = (await service.call('GET /v1/events/slow', { token: await token(busy) })).body
        return deliveries.filter(({ agent_id }: { agent_id: string }) => agent_id === busy.id).length
      }
      await service.clock.jump(9 * DAY)
      await ack(service, await token(busy), ids(await poll(service, await token(busy))))
      await service.clock.jump(9 * DAY)
      assert.equal(await kept(), 1)
      await service.clock.jump(2 * DAY)
      assert.equal(await kept(), 0)
    })

    test('[RET-1] [FLT-2] a large purge goes in small steps and finishes', async () => {
      const fresh = await token(busy)
      const many = Array.from({ length: 500 }, (_, i) => ({
        specversion: '1.0',
        type: 'busy.x',
        source: '/',
        id: `busy-${i}`,
      }))
      for (let i = 0; i < 500; i += 100) {
        await service.call('POST /v1/events', {
          token: fresh,
          raw: JSON.stringify(many.slice(i, i + 100)),
          headers: { 'content-type': 'application/cloudevents-batch+json' },
        })
        await ack(service, fresh, ids(await poll(service, fresh)))
      }
      await service.clock.jump(11 * DAY)
      // Several nodes may run retention at the same time.
      await Promise.all(Array.from({ length: 3 }, () => service.app.runOnce.retain()))
      const [{ n }] = (await service.store.rows<{ n: number }>(
        'select count(*) as n from acknowledged_deliveries where tenant_id = ? and recipient_id = ?',
        [tenant.id, busy.id],
      )) as [{ n: number }]
      assert.equal(n, 0)
      const [bytes] = await service.store.rows<{ counted: number; stored: number }>(
        `select cast((select sum(amount) from usage_days where tenant_id = ? and metric = 'stored_bytes') as bigint) as counted,
                cast((select sum(octet_length(envelope)) from events where tenant_id = ?) as bigint) as stored`,
        [tenant.id, tenant.id],
      )
      assert.equal(bytes!.counted, bytes!.stored, 'no event is counted twice')
    })
  })
})
