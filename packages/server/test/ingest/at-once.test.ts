// Concurrent changes of webhooks and connectors.
import assert from 'node:assert/strict'
import { before, beforeEach, describe, test } from 'node:test'
import { makeMetrics } from '../../src/http/metrics.ts'
import { MAX_AT_ONCE } from '../../src/ingest/connectors/held-connectors.ts'
import { createConnector } from '../../src/ingest/connectors/create.ts'
import { deleteConnector } from '../../src/ingest/connectors/delete.ts'
import { pauseConnector } from '../../src/ingest/connectors/pause.ts'
import type { IngestTools } from '../../src/ingest/registration.ts'
import { createWebhook } from '../../src/ingest/webhooks/create.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeParts } from '../../src/parts.ts'
import type { Db, Store } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { overOrWaiting } from '../support/over-or-waiting.ts'
import { OPERATOR_TOKEN, serviceForSuite, type Reply, type TestTenant } from '../support/service.ts'
import { operatorCalls } from './tools.ts'

onBothEngines((engine) => {
  describe('registrations that meet', () => {
    const service = serviceForSuite(engine)
    let tenant: TestTenant
    let tools: IngestTools
    before(async () => {
      const { clock, secrets } = service
      // Nothing is announced, so that the service itself does not act on what is tested here.
      tools = { makeId: idMaker(clock.now), secrets, announce: () => {}, now: clock.now }
    })
    beforeEach(async () => {
      tenant = await service.tenant()
    })

    /** Returns the response to a webhook that is requested while another one is created but not committed. */
    async function besideWebhook(secret?: string): Promise<Reply> {
      const wanted = { tenant: tenant.slug, source: 'shop', ...(secret ? { signing_secret: secret } : {}) }
      let responding!: Promise<Reply>
      await service.store.tx(async (tx) => {
        await createWebhook(tx, tools, 'http://localhost', wanted)
        responding = service.call('POST /operator/webhooks', { token: OPERATOR_TOKEN, body: wanted })
        await overOrWaiting(service.store, responding)
      })
      return responding
    }

    test('[RACE-8] two webhooks that are created concurrently do not share a secret', async () => {
      assertError(await besideWebhook(`whsec_${'s'.repeat(32)}`), 'conflict')
    })

    test('[RACE-8] two webhooks that are created concurrently do not exceed the limit of a tenant', async () => {
      for (let i = 0; i < 31; i++) await operatorCalls(service).webhook({ tenant: tenant.slug, source: 'shop' })
      assertError(await besideWebhook(), 'business_rule_violation', { rule: 'too_many_webhooks' })
    })

    for (const [what, end] of [
      ['deleted', (tx: Db, id: string) => deleteConnector(tx, tools, id)],
      ['paused', (tx: Db, id: string) => pauseConnector(tx, tools, id, true)],
    ] as const) {
      test(`[RACE-9] a connector that is ${what} while a node is about to run it is not run`, async (t) => {
        const { config, store, secrets, clock } = service
        const log = makeLogger('silent')
        const { supervisor } = makeParts({ config, store, secrets, clock, log, metrics: makeMetrics() })
        t.after(() => supervisor.close())
        const wanted = { tenant: tenant.slug, source: 'queue', url: 'amqp://127.0.0.1:1', address: 'q' }
        const { connector } = await store.tx((tx) => createConnector(tx, tools, wanted))
        let looking!: Promise<void>
        await store.tx(async (tx) => {
          await end(tx, connector.id)
          looking = supervisor.runOnce()
          await overOrWaiting(store, looking)
        })
        await looking
        assert.deepEqual(supervisor.states(), {})
        const leases = await store.rows('select node from connector_leases where connector_id = ?', [connector.id])
        assert.deepEqual(leases, [])
      })
    }

    test('[AMQP-9] a node has few transactions of connectors under way', async (t) => {
      const { config, secrets, clock } = service
      let underWay = 0
      let most = 0
      const store: Store = {
        ...service.store,
        async tx(work, options) {
          most = Math.max(most, ++underWay)
          try {
            return await service.store.tx(work, options)
          } finally {
            underWay--
          }
        },
      }
      const wanted = { tenant: tenant.slug, url: 'amqp://127.0.0.1:1', address: 'q' }
      for (let i = 0; i < 3 * MAX_AT_ONCE; i++)
        await service.store.tx((tx) => createConnector(tx, tools, { ...wanted, source: `queue${i}` }))
      const { supervisor } = makeParts({
        config,
        store,
        secrets,
        clock,
        log: makeLogger('silent'),
        metrics: makeMetrics(),
      })
      t.after(() => supervisor.close())
      for (const look of [() => supervisor.runOnce(), () => supervisor.runOnce(), () => supervisor.close()]) {
        most = 0
        const before = Object.values(supervisor.states()).reduce((sum, n) => sum + n, 0)
        await look()
        assert.equal(most, MAX_AT_ONCE, `with ${before} connectors under way`)
      }
      assert.deepEqual(supervisor.states(), {})
    })
  })
})
