// Event ids that begin with a registered source of the tenant are reserved for events that come in through it.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { prepareEvent } from '../../src/events/envelope.ts'
import { makeMetrics } from '../../src/http/metrics.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeParts } from '../../src/parts.ts'
import { recordRoutingChange } from '../../src/routing/changes.ts'
import type { Store } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { agentForSuite, OPERATOR_TOKEN, serviceForSuite, tenantForSuite } from '../support/service.ts'
import { event, publish } from './tools.ts'

onBothEngines((engine) => {
  describe('reserved ids', () => {
    const service = serviceForSuite(engine)
    const tenant = tenantForSuite(service)
    const agent = agentForSuite(tenant)

    const webhook = (source: string) =>
      service.call('POST /operator/webhooks', { token: OPERATOR_TOKEN, body: { tenant: tenant.slug, source } })

    test('[RTE-8] agents may not use ids of a registered source for as long as it is registered', async () => {
      assert.equal((await publish(service, agent.token, { id: 'shop:1' })).status, 202)
      const made = await webhook('shop')
      const refused = await publish(service, agent.token, { id: 'shop:2' })
      assert.equal(refused.status, 422)
      assert.equal(refused.body.error.details.rule, 'reserved_event_id')
      assert.equal(refused.body.error.details.event_id, 'shop:2')
      assert.equal(refused.body.error.details.source, 'shop')
      // Ids that only look similar are not reserved.
      for (const id of ['shop', 'shop-1', 'shopping:1', 'Shop:1', ':shop:1'])
        assert.equal((await publish(service, agent.token, { id })).status, 202, id)
      await service.call(`DELETE /operator/webhooks/${made.body.webhook.id}`, { token: OPERATOR_TOKEN })
      assert.equal((await publish(service, agent.token, { id: 'shop:2' })).status, 202)
    })

    test('[PUB-2] [RCP-5] a retry of an accepted event is a duplicate, with or without a recipient', async () => {
      const [plain, addressed] = [event({ id: 'till:1' }), event({ id: 'till:2', recipient: agent.id })]
      const send = (body: unknown) => service.call('POST /v1/events', { token: agent.token, body })
      for (const body of [plain, addressed]) assert.equal((await send(body)).status, 202)
      await webhook('till')
      for (const body of [plain, addressed, { ...plain, recipient: 'agt_nobody' }]) {
        const again = await send(body)
        assert.deepEqual([again.status, again.body], [200, { event_id: body['id'], status: 'duplicate' }])
      }
      for (const recipient of [undefined, agent.id]) {
        const fresh = await send(event({ id: 'till:3', ...(recipient ? { recipient } : {}) }))
        assert.equal(fresh.body.error.details.rule, 'reserved_event_id')
      }
    })

    test('[PUB-2] [RTE-8] a retry with a reserved id needs one transaction, however often routing changes', async () => {
      const { config, secrets, clock, store } = service
      let transactions = 0
      const moving: Store = {
        ...store,
        async tx(work, options) {
          if (++transactions < 10) await store.tx((tx) => recordRoutingChange(tx, tenant.id, 'agent', agent.id, 0))
          return store.tx(work, options)
        },
      }
      const parts = makeParts({
        ...{ config, secrets, clock, store: moving, log: makeLogger('silent') },
        metrics: makeMetrics(),
      })
      const body = event({ id: 'kiosk:1' })
      const retry = () =>
        parts.publish({ tenantId: tenant.id, senderId: agent.id, events: [prepareEvent(body, JSON.stringify(body))] })
      await publish(service, agent.token, body)
      await webhook('kiosk')
      assert.deepEqual(
        (await retry()).map(({ status }) => status),
        ['duplicate'],
      )
      assert.equal(transactions, 1)
    })

    test('[RTE-8] connectors reserve ids too, for their tenant only; events of a batch are judged alone', async () => {
      // So that the node knows the sources as they were before.
      assert.equal((await publish(service, agent.token, { id: 'erp:8' })).status, 202)
      const made = await service.call('POST /operator/connectors', {
        token: OPERATOR_TOKEN,
        body: { tenant: tenant.slug, source: 'erp', url: 'amqp://127.0.0.1:1', address: 'q' },
      })
      const batch = await service.call('POST /v1/events', {
        token: agent.token,
        raw: JSON.stringify([event({ id: 'erp:9' }), event({ id: 'own:9' })]),
        headers: { 'content-type': 'application/cloudevents-batch+json' },
      })
      assert.equal(batch.status, 200)
      assert.equal(batch.body.results[0].error.details.rule, 'reserved_event_id')
      assert.equal(batch.body.results[1].status, 'accepted')
      assert.equal((await service.call('GET /v1/events/erp:9', { token: tenant.admin })).status, 404)
      const other = await (await service.tenant()).agent()
      assert.equal((await publish(service, other.token, { id: 'erp:9' })).status, 202)
      await service.call(`DELETE /operator/connectors/${made.body.connector.id}`, { token: OPERATOR_TOKEN })
      assert.equal((await publish(service, agent.token, { id: 'erp:9' })).status, 202)
    })

    test('[RTE-9] explain shows other agents’ filters only to callers that may list them', async () => {
      const [keeper, sender] = [await tenant.agent(), await tenant.agent({ scopes: ['send'] })]
      const reader = await tenant.agent({ scopes: ['send', 'interests:read'] })
      const secret = 'data.code == "s3cret"'
      await service.call(`POST /v1/agents/${keeper.id}/interests`, {
        token: keeper.token,
        body: { event_type: 'vault.*', filter_expression: secret, priority: 0, enrichment_depth: 'none' },
      })
      const explain = async (token: string, type: string, data: unknown) => {
        const reply = await service.call('POST /v1/events/explain', {
          token,
          body: { agent_id: keeper.id, event: event({ type, data }) },
        })
        assert.equal(reply.status, 200, reply.text)
        return reply
      }
      for (const [type, data] of [
        ['vault.open', { code: 'x' }],
        ['vault.open', {}],
        ['other', {}],
      ] as const) {
        const told = await explain(sender.token, type, data)
        assert.ok(!told.text.includes('s3cret') && !told.text.includes('code'), told.text)
        assert.ok(!('filter' in told.body.agent.reasons[0]))
        assert.equal(told.body.agent.reasons[0].matches, false)
      }
      assert.equal((await explain(sender.token, 'vault.open', { code: 's3cret' })).body.agent.receives, true)
      assert.equal((await explain(reader.token, 'vault.open', {})).body.agent.reasons[0].filter, secret)
      assert.equal((await explain(keeper.token, 'vault.open', {})).body.agent.reasons[0].filter, secret)
    })
  })
})
