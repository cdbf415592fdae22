// The settings of a tenant: set by the operator, and followed by everything they affect.
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import type { TenantSettings } from '@sensorium/contract'
import type { Store, Value } from '../../src/store/db.ts'
import { changeSettings, makeSettingsCache } from '../../src/tenants/settings.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { serviceForSuite, type Reply, type TestTenant } from '../support/service.ts'
import { ack, eventIds, ids, interest, poll, publish } from '../events/tools.ts'
import { setSettings, tenantSettings } from './tools.ts'

const DAY = 86_400_000

onBothEngines((engine) => {
  describe('the settings of a tenant', () => {
    const service = serviceForSuite(engine, { MAX_ATTEMPTS: '5', RATE_LIMIT_AGENT: '1000', RATE_LIMIT_TENANT: '2000' })
    let tenant: TestTenant
    beforeEach(async () => {
      tenant = await service.tenant()
    })

    const settings = (method: 'GET' | 'PATCH', body?: unknown, slug = tenant.slug): Promise<Reply<TenantSettings>> =>
      tenantSettings(service, slug, method, body)
    const set = (body: unknown): Promise<void> => setSettings(service, tenant, body)

    test('[POL-10] settings are null at first, are set one by one, and null restores the default', async () => {
      const first = await settings('GET')
      const names = [
        'visibility_timeout_s',
        'max_attempts',
        'push_retry_s',
        'retention_days',
        'rate_limit_agent',
        'rate_limit_tenant',
        'quota_agents',
        'quota_interests',
        'quota_memories',
        'quota_stored_bytes',
        'quota_events_per_day',
      ]
      const none = Object.fromEntries(names.map((name) => [name, null]))
      assert.deepEqual([first.status, first.body], [200, none])
      const changed = await settings('PATCH', {
        max_attempts: 7,
        push_retry_s: [1, 2],
        rate_limit_agent: 'off',
        other: 1,
      })
      assert.deepEqual(changed.body, { ...none, max_attempts: 7, push_retry_s: [1, 2], rate_limit_agent: 'off' })
      await set({ max_attempts: null })
      assert.deepEqual((await settings('GET')).body, { ...none, push_retry_s: [1, 2], rate_limit_agent: 'off' })
    })

    test('[POL-10] a version that is given out a second time is read like the first', async () => {
      const cache = makeSettingsCache(service.store)
      const other = await service.tenant()
      const attempts = (of: TestTenant): number | null => cache.of(of.id).max_attempts
      await setSettings(service, other, { max_attempts: 3 })
      await set({ max_attempts: 4 })
      await cache.runOnce()
      const rows = await service.store.rows<{ tenant_id: string; settings: string; version: number }>(
        'select * from tenant_settings where tenant_id in (?, ?)',
        [tenant.id, other.id],
      )
      const counter = Math.max(...rows.map(({ version }) => version))
      /** The server is lost, and another one goes on without the commits since. */
      const loseSince = (): Promise<void> =>
        service.store.tx(async (tx) => {
          await tx.run('delete from tenant_settings where tenant_id in (?, ?)', [tenant.id, other.id])
          for (const row of rows)
            await tx.run('insert into tenant_settings (tenant_id, settings, version) values (?, ?, ?)', [
              row.tenant_id,
              row.settings,
              row.version,
            ])
          await tx.run("update settings set value = ? where name = 'tenant_settings_version'", [String(counter)])
        })
      await set({ max_attempts: 5 })
      await cache.runOnce()
      assert.deepEqual([attempts(tenant), attempts(other)], [5, 3])
      await loseSince()
      await cache.runOnce()
      assert.deepEqual([attempts(tenant), attempts(other)], [4, 3], 'the change was lost')
      await set({ max_attempts: 6 })
      await cache.runOnce()
      await loseSince()
      await set({ max_attempts: 7 })
      await cache.runOnce()
      assert.deepEqual([attempts(tenant), attempts(other)], [7, 3], 'the same version, by the same tenant')
      await loseSince()
      await setSettings(service, other, { max_attempts: 8 })
      await cache.runOnce()
      assert.deepEqual([attempts(tenant), attempts(other)], [4, 8], 'the same version, by another tenant')
      await setSettings(service, tenant, { max_attempts: 9 })
      await cache.runOnce()
      await loseSince()
      await setSettings(service, await service.tenant(), { max_attempts: 10 })
      await setSettings(service, tenant, { max_attempts: 11 })
      await cache.runOnce()
      assert.deepEqual([attempts(tenant), attempts(other)], [11, 3], 'the same version, and an earlier one was lost')
      const seen = cache.of(other.id)
      await cache.runOnce()
      assert.equal(cache.of(other.id), seen, 'nothing new')
    })

    test('[POL-10] the same version with other settings replaces what this node had kept of its own change', async () => {
      const cache = makeSettingsCache(service.store)
      await set({ max_attempts: 4 })
      await cache.runOnce()
      const [row] = await service.store.rows<{ version: number }>(
        'select version from tenant_settings where tenant_id = ?',
        [tenant.id],
      )
      // The commit of this change was lost with a server, and its version was given out again.
      cache.keep(tenant.id, { ...cache.of(tenant.id), max_attempts: 5 }, row!.version + 1)
      await set({ max_attempts: 6 })
      await cache.runOnce()
      assert.equal(cache.of(tenant.id).max_attempts, 6)
    })

    test('[POL-10] settings that arrive late do not replace newer ones', () => {
      const cache = makeSettingsCache(service.store)
      cache.keep('ten_a', { ...cache.of('ten_a'), max_attempts: 2 }, 12)
      cache.keep('ten_a', { ...cache.of('ten_a'), max_attempts: 1 }, 11)
      assert.equal(cache.of('ten_a').max_attempts, 2)
    })

    test('[POL-10] an invalid setting is refused with its field, and nothing is changed', async () => {
      for (const wrong of [
        { visibility_timeout_s: 0 },
        { max_attempts: 1001 },
        { push_retry_s: [] },
        { retention_days: 1.5 },
        { rate_limit_agent: 'on' },
        { rate_limit_tenant: 0 },
        { quota_agents: -1 },
      ]) {
        const reply = await settings('PATCH', { quota_memories: 5, ...wrong })
        const { field } = assertError(reply, 'validation_failed')
        assert.match(String(field), new RegExp(`^${Object.keys(wrong)[0]}`))
      }
      assert.equal((await settings('GET')).body.quota_memories, null)
      assertError(await settings('GET', undefined, 'nobody'), 'not_found')
      assertError(await settings('PATCH', {}, 'nobody'), 'not_found')
    })

    test('[POL-11] leases and attempts follow the settings, for this tenant alone', async () => {
      await set({ visibility_timeout_s: 5, max_attempts: 2 })
      const agent = await tenant.agent()
      await interest(service, agent)
      const { body } = await publish(service, agent.token)
      for (let attempt = 1; attempt <= 2; attempt++) {
        assert.deepEqual(eventIds(await poll(service, agent.token)), [body.event_id])
        await service.clock.jump(5_000)
      }
      const { dlq_items } = (await service.call('GET /v1/delivery/dlq', { token: agent.token })).body
      assert.deepEqual([dlq_items.length, dlq_items[0].attempt_count], [1, 2])

      const other = await (await service.tenant()).agent()
      await interest(service, other)
      await publish(service, other.token)
      assert.equal((await poll(service, other.token)).length, 1)
      await service.clock.jump(5_000)
      assert.deepEqual(await poll(service, other.token), [], 'the default of 30 s')
    })

    test('[POL-11] rate limits follow the settings at once', async () => {
      const agent = await tenant.agent()
      const limit = async (): Promise<string | null> =>
        (await service.call('GET /v1/agents', { token: agent.token })).headers.get('x-ratelimit-limit')
      assert.equal(await limit(), '1000')
      await set({ rate_limit_agent: 50 })
      assert.equal(await limit(), '50')
      await set({ rate_limit_agent: 'off', rate_limit_tenant: 'off' })
      assert.equal(await limit(), null)
      await set({ rate_limit_agent: null, rate_limit_tenant: null })
      assert.equal(await limit(), '1000')
    })

    test('[POL-11] retention follows the settings', async () => {
      await set({ retention_days: 2 })
      const other = await service.tenant()
      const kept: Record<string, string> = {}
      for (const { slug, ...one } of [tenant, other]) {
        const agent = await one.agent()
        await interest(service, agent)
        kept[slug] = (await publish(service, agent.token)).body.event_id
        assert.equal(await ack(service, agent.token, ids(await poll(service, agent.token))), 1)
      }
      await service.clock.jump(3 * DAY)
      await service.app.runOnce.retain()
      const envelopes = async ({ id, slug }: TestTenant): Promise<unknown> =>
        (
          await service.store.rows<{ envelope: string | null }>(
            'select envelope from events where tenant_id = ? and id = ?',
            [id, kept[slug]!],
          )
        )[0]?.envelope ?? null
      assert.equal(await envelopes(tenant), null)
      assert.notEqual(await envelopes(other), null)
    })

    test('[RACE-1] a read of settings that was under way does not bring back values from before a change', async () => {
      const { store } = service
      const [asked, shown] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const slow: Store = {
        ...store,
        async rows<R>(sql: string, values?: readonly Value[]) {
          const rows = await store.rows<R>(sql, values)
          asked.resolve()
          await shown.promise
          return rows
        },
      }
      const cache = makeSettingsCache(slow)
      await set({ max_attempts: 3 })
      const looking = cache.runOnce()
      await asked.promise
      await store.tx((tx) => changeSettings(tx, cache, tenant.slug, { max_attempts: 4 }))
      shown.resolve()
      await looking
      assert.equal(cache.of(tenant.id).max_attempts, 4)
    })

    if (engine.name === 'postgres') {
      test('[POL-10] a change holds on every node within a second', async () => {
        const other = await service.another()
        try {
          await settings('PATCH', { rate_limit_agent: 77 })
          await service.clock.advance(1_000)
          const agent = await tenant.agent()
          const reply = await other.call('GET /v1/agents', { token: agent.token })
          assert.equal(reply.headers.get('x-ratelimit-limit'), '77')
        } finally {
          await other.stop()
        }
      })
    }
  })
})
