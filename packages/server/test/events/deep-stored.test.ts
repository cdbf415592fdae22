// Events that nest deeper than a publish may, from stores that are older than the check of mapped data.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite } from '../support/service.ts'
import { event, ids, interest, poll, publish } from './tools.ts'

const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)])

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  for (const [name, padding] of [
    ['a short event', ''],
    ['a long event', 'x'.repeat(50_000)],
  ] as const) {
    test(`[ING-31] ${name} that nests 150 deep is filtered, replayed and enriched`, async () => {
      const tenant = await service.tenant()
      const agent = await tenant.agent()
      await interest(service, agent, {
        event_type: 'deep.*',
        filter_expression: 'has(data.v)',
        enrichment_depth: 'light',
      })
      const fields = event({ type: 'deep.event', data: { v: 1 } })
      const { body } = await publish(service, agent.token, fields)
      const data = { v: nested(150), padding }
      const changed = await service.store.tx((tx) =>
        tx.rows('update events set envelope = ? where tenant_id = ? and id = ? returning id', [
          JSON.stringify({ ...fields, data }),
          tenant.id,
          body.event_id,
        ]),
      )
      assert.equal(changed.length, 1)

      const bury = async (): Promise<string> => {
        const [delivery, ...rest] = await poll(service, agent.token)
        assert.deepEqual([delivery?.payload['data'], rest], [data, []])
        assert.ok(delivery?.payload['enrichment'], 'no enrichment')
        const delivery_ids = ids([delivery!])
        await service.call('POST /v1/delivery/nack', {
          token: agent.token,
          body: { delivery_ids, dead_letter: true, reason: 'x' },
        })
        return delivery!.id
      }
      const one = await service.call(`POST /v1/delivery/dlq/${await bury()}/replay`, { token: agent.token })
      assert.equal(one.status, 200, one.text)
      await bury()
      const all = await service.call('POST /v1/delivery/dlq/replay', { token: tenant.admin, body: { filter: {} } })
      assert.deepEqual([all.status, all.body['replayed']], [200, 1], all.text)

      const late = await tenant.agent()
      await interest(service, late, { event_type: 'deep.*', filter_expression: 'has(data.v)', backfill: 10 })
      assert.equal((await poll(service, late.token)).length, 1)
    })
  }
})
