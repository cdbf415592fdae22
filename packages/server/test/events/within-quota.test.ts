// Which events of a submission take room from the daily quota, and what the others are told.
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { prepareEvent } from '../../src/events/envelope.ts'
import { makeMetrics } from '../../src/http/metrics.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeParts } from '../../src/parts.ts'
import type { Store } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { OPERATOR_TOKEN, serviceForSuite, type TestTenant, type Untyped } from '../support/service.ts'
import { setSettings } from '../tenants/tools.ts'
import { publish } from './tools.ts'

const DAY = 86_400_000

/** The result of one event of a batch. */
type Told = { status?: string; error?: { details: { rule: string } } }

onBothEngines((engine) => {
  describe('the room that events take', () => {
    const service = serviceForSuite(engine)
    let tenant: TestTenant
    beforeEach(async () => {
      tenant = await service.tenant()
    })

    const set = (body: unknown): Promise<void> => setSettings(service, tenant, body)

    test('[POL-12] [IDEM-7] a refusal under a key is the response to its retry too', async () => {
      const agent = await tenant.agent()
      await set({ quota_events_per_day: 0 })
      const retry = () => publish(service, agent.token, { id: 'kept' }, { 'idempotency-key': 'kept' })
      const refused = await retry()
      assertError(refused, 'business_rule_violation', { rule: 'quota_exceeded' })
      await set({ quota_events_per_day: null })
      const again = await retry()
      assertError(again, 'business_rule_violation', { rule: 'quota_exceeded' })
      assert.equal(again.headers.get('idempotent-replayed'), 'true')
    })

    test('[POL-12] [PUB-2] a retry of an accepted id is a duplicate even if the quota is used up', async () => {
      const agent = await tenant.agent()
      await set({ quota_events_per_day: null })
      const before = await publish(service, agent.token, { id: 'retry-1' })
      assert.equal(before.status, 202)
      await set({ quota_events_per_day: 1 })
      const again = await publish(service, agent.token, { id: 'retry-1' })
      assert.deepEqual([again.status, again.body.status], [200, 'duplicate'])
      const refused = await publish(service, agent.token, { id: 'retry-2' })
      assertError(refused, 'business_rule_violation', {
        rule: 'quota_exceeded',
        quota: 'quota_events_per_day',
        limit: 1,
      })
      // The next day has room for one: its second occurrence in the batch is a duplicate too, and counts nothing.
      await service.clock.jump(DAY)
      const batch = await service.call('POST /v1/events', {
        token: await tenant.token(agent.key),
        raw: JSON.stringify(
          ['new', 'new', 'retry-1', 'other'].map((id) => ({ specversion: '1.0', type: 't', source: '/s', id })),
        ),
        headers: { 'content-type': 'application/cloudevents-batch+json' },
      })
      const told = batch.body.results.map(({ status, error }: Told) => status ?? error?.details.rule)
      assert.deepEqual(told, ['accepted', 'duplicate', 'duplicate', 'quota_exceeded'])
    })

    test('[POL-12] [PUB-2] duplicates in a batch take no room from its other events', async () => {
      const agent = await tenant.agent()
      await service.clock.jump(DAY)
      await set({ quota_events_per_day: null })
      const token = await tenant.token(agent.key)
      for (const id of ['known-1', 'known-2']) assert.equal((await publish(service, token, { id })).status, 202)
      await set({ quota_events_per_day: 4 })
      const batch = await service.call('POST /v1/events', {
        token,
        raw: JSON.stringify(
          ['known-1', 'fresh-1', 'fresh-1', 'known-2', 'fresh-2', 'fresh-3', 'known-1', 'fresh-2'].map((id) => ({
            specversion: '1.0',
            type: 't',
            source: '/s',
            id,
          })),
        ),
        headers: { 'content-type': 'application/cloudevents-batch+json' },
      })
      const told = batch.body.results.map(({ status, error }: Told) => status ?? error?.details.rule)
      assert.deepEqual(told, [
        'duplicate',
        'accepted',
        'duplicate',
        'duplicate',
        'accepted',
        'quota_exceeded',
        'duplicate',
        'duplicate',
      ])
      await set({ quota_events_per_day: null })
    })

    test('[POL-12] what is refused for another reason takes no room, and is told that reason', async () => {
      const [agent, gone] = [await tenant.agent(), await tenant.agent()]
      await service.call(`POST /v1/agents/${gone.id}/deactivate`, { token: tenant.admin })
      const send = (id: string, more: object = {}) => ({ specversion: '1.0', type: 't', source: '/s', id, ...more })
      for (let i = 0; i <= 32; i++)
        await publish(service, agent.token, { id: `link-${i}`, causationid: `link-${i - 1}` })
      await service.clock.jump(DAY)
      const token = await tenant.token(agent.key)
      await set({ quota_events_per_day: 2 })
      const refused = {
        not_found: send('unknown', { recipient: 'agt_01aaaaaaaaaaaaaaaaaaaaaaaa' }),
        agent_inactive: send('inactive', { recipient: gone.id }),
        causation_too_deep: send('deep', { causationid: 'link-32' }),
      }
      const batch = await service.call('POST /v1/events', {
        token,
        raw: JSON.stringify([...Object.values(refused), send('one'), send('deep'), send('three')]),
        headers: { 'content-type': 'application/cloudevents-batch+json', 'idempotency-key': 'quota' },
      })
      const reason = ({ code, details }: { code: string; details?: { rule?: string } }) => details?.rule ?? code
      const told = batch.body.results.map(({ status, error }: Untyped) => status ?? reason(error))
      assert.deepEqual(told, [...Object.keys(refused), 'accepted', 'accepted', 'quota_exceeded'])
      // With no room left, too.
      for (const [why, body] of Object.entries({ ...refused, quota_exceeded: send('four') })) {
        const fresh = { ...body, id: `${body.id}-alone` }
        assert.equal(reason((await service.call('POST /v1/events', { token, body: fresh })).body.error), why)
      }
      await set({ quota_events_per_day: 3 })
      assert.equal((await publish(service, token, { id: 'three' })).status, 202)
    })

    test('[POL-12] an event that only a newer routing lets pass needs room as well', async () => {
      const agent = await tenant.agent()
      await set({ quota_events_per_day: 1 })
      const { config, secrets, clock, store } = service
      let moves: (() => Promise<unknown>) | null = null
      let transactions = 0
      // Between routing and the transaction, the source that reserved the id is removed.
      const moving: Store = {
        ...store,
        async tx(work, options) {
          transactions++
          await moves?.()
          return store.tx(work, options)
        },
      }
      const parts = makeParts({
        ...{ config, secrets, clock, store: moving, log: makeLogger('silent') },
        metrics: makeMetrics(),
      })
      await parts.settings.runOnce()
      const { body } = await service.call('POST /operator/webhooks', {
        token: OPERATOR_TOKEN,
        body: { tenant: tenant.slug, source: 'shop' },
      })
      const events = ['shop:1', 'other'].map((id) => {
        const envelope = { specversion: '1.0', type: 't', source: '/s', id }
        return prepareEvent(envelope, JSON.stringify(envelope))
      })
      moves = () => {
        moves = null
        return service.call(`DELETE /operator/webhooks/${body.webhook.id}`, { token: OPERATOR_TOKEN })
      }
      const outcomes = await parts.publish({ tenantId: tenant.id, senderId: agent.id, events })
      assert.equal(moves, null)
      assert.deepEqual(
        outcomes.map((outcome) => (outcome.status === 'refused' ? outcome.failure.details['rule'] : outcome.status)),
        ['quota_exceeded', 'accepted'],
      )
      // What has no room needs no transaction.
      transactions = 0
      const refused = await parts.publish({ tenantId: tenant.id, senderId: agent.id, events: [events[0]!] })
      assert.deepEqual([refused[0]!.status, transactions], ['refused', 0])
    })
  })
})
