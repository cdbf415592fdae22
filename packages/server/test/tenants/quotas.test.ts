// A tenant's quotas limit what it creates, stores and publishes.
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import type { TenantSettings } from '@sensorium/contract'
import type { Failure } from '../../src/kernel/failure.ts'
import type { Db, Value } from '../../src/store/db.ts'
import { makeQuotas, type Quotas } from '../../src/tenants/quotas.ts'
import { NO_SETTINGS } from '../../src/tenants/settings.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { overOrWaiting } from '../support/over-or-waiting.ts'
import { serviceForSuite, type Reply, type TestTenant } from '../support/service.ts'
import { interest, publish } from '../events/tools.ts'
import { setSettings } from './tools.ts'

const DAY = 86_400_000

/** The result of one event of a batch. */
type Told = { status?: string; error?: { details: { rule: string } } }

onBothEngines((engine) => {
  describe('the quotas of a tenant', () => {
    const service = serviceForSuite(engine, { RATE_LIMIT_AGENT: '1000', RATE_LIMIT_TENANT: '2000' })
    let tenant: TestTenant
    beforeEach(async () => {
      tenant = await service.tenant()
    })

    const set = (body: unknown): Promise<void> => setSettings(service, tenant, body)
    const isExceeded = (reply: Reply<unknown>, quota: string, limit: number): void => {
      const { rule, quota: named, limit: told } = assertError(reply, 'business_rule_violation')
      assert.deepEqual({ rule, quota: named, limit: told }, { rule: 'quota_exceeded', quota, limit })
    }

    /** The quotas as one node counts them, without what else it does. */
    const quotasOf = (limits: Partial<TenantSettings>, store = service.store): Quotas =>
      makeQuotas(store, service.clock, () => ({ ...NO_SETTINGS, ...limits }))

    test('[POL-12] agents, interests and memories stop at their quotas, also concurrently', async () => {
      const agent = await tenant.agent()
      await set({ quota_agents: 4, quota_interests: 3, quota_memories: 3 })
      const many = <T>(make: (i: number) => Promise<T>): Promise<T[]> =>
        Promise.all(Array.from({ length: 8 }, (_, i) => make(i)))
      const kinds: [string, number, number, (i: number) => Promise<Reply<unknown>>][] = [
        [
          'quota_agents',
          4,
          3,
          () =>
            service.call('POST /v1/agents', {
              token: tenant.admin,
              body: { name: 'More', delivery_mode: 'poll', client_type: 'other' },
            }),
        ],
        ['quota_interests', 3, 3, (i) => interest(service, agent, { event_type: `type.${i}` })],
        [
          'quota_memories',
          3,
          3,
          (i) =>
            service.call('POST /v1/memories', {
              token: agent.token,
              body: { type: 'semantic', scope: 'agent', title: `Note ${i}`, content: 'Something to remember' },
            }),
        ],
      ]
      for (const [quota, limit, room, make] of kinds) {
        const replies = await many(make)
        assert.equal(replies.filter(({ status }) => status === 201).length, room, `${quota} ${replies[0]!.text}`)
        for (const reply of replies) if (reply.status !== 201) isExceeded(reply, quota, limit)
      }
      await set({ quota_memories: null })
      assert.equal((await kinds[2]![3](9)).status, 201)
    })

    test('[POL-12] an agent put by its external id counts like any other; putting it again is free', async () => {
      await set({ quota_agents: 2 })
      const put = (externalId: string, name = 'Put'): Promise<Reply<unknown>> =>
        service.call(`PUT /v1/agents/by-external-id/${externalId}`, {
          token: tenant.admin,
          body: { name, delivery_mode: 'poll', client_type: 'other' },
        })
      assert.deepEqual([(await put('one')).status, (await put('two')).status], [201, 201])
      isExceeded(await put('three'), 'quota_agents', 2)
      assert.equal((await put('two', 'Renamed')).status, 200)
    })

    test('[POL-12] the feeds of channels count as interests', async () => {
      const agent = await tenant.agent()
      const { id } = (
        await service.call('POST /v1/channels', { token: agent.token, body: { name: 'A', type: 'open' } })
      ).body
      const feed = (glob: string): Promise<Reply<unknown>> =>
        service.call(`POST /v1/channels/${id}/feeds`, { token: agent.token, body: { event_type_glob: glob } })
      await set({ quota_interests: 2 })
      assert.equal((await feed('a.*')).status, 201)
      assert.equal((await interest(service, agent, { event_type: 'a' })).status, 201)
      isExceeded(await feed('b.*'), 'quota_interests', 2)
      isExceeded(await interest(service, agent, { event_type: 'b' }), 'quota_interests', 2)
    })

    test('[POL-12] a taken external id or interest is told as such also where the quota is used up', async () => {
      const agent = await tenant.agent()
      const memory = { type: 'semantic', scope: 'agent', title: 'A note', content: 'Something to remember' }
      const newAgent = { name: 'More', delivery_mode: 'poll', client_type: 'other' }
      const remember = (external_id?: string): Promise<Reply> =>
        service.call('POST /v1/memories', { token: agent.token, body: { ...memory, external_id } })
      const register = (external_id?: string): Promise<Reply> =>
        service.call('POST /v1/agents', { token: tenant.admin, body: { ...newAgent, external_id } })
      const wish = (event_type: string, backfill?: number): Promise<Reply> =>
        interest(service, agent, { event_type, backfill })
      await set({ quota_agents: 2, quota_interests: 1, quota_memories: 1 })
      for (const make of [remember, register]) {
        const made = await make('one')
        assert.equal(made.status, 201, made.text)
        assert.equal(assertError(await make('one'), 'conflict').existing_resource_id, made.body.id)
      }
      const { id } = (await wish('one')).body
      // The first is written by itself, the others together.
      for (const again of [wish('one', 5), wish('one'), wish('one')]) {
        const { rule, existing_interest_id } = assertError(await again, 'business_rule_violation')
        assert.deepEqual([rule, existing_interest_id], ['interest_conflict', id])
      }
      for (const other of ['two', undefined]) {
        isExceeded(await remember(other), 'quota_memories', 1)
        isExceeded(await register(other), 'quota_agents', 2)
      }
      isExceeded(await wish('two'), 'quota_interests', 1)
      await set({ quota_memories: null, quota_stored_bytes: 1 })
      assertError(await remember('one'), 'conflict')
      isExceeded(await remember('two'), 'quota_stored_bytes', 1)
    })

    test('[POL-12] a day with more events than its quota allows refuses no memory', async () => {
      const agent = await tenant.agent()
      for (let i = 0; i < 3; i++) assert.equal((await publish(service, agent.token)).status, 202)
      await set({ quota_events_per_day: 2 })
      isExceeded(await publish(service, agent.token), 'quota_events_per_day', 2)
      const memory = { type: 'semantic', scope: 'agent', title: 'A note', content: 'Something to remember' }
      const made = await service.call('POST /v1/memories', { token: agent.token, body: memory })
      assert.equal(made.status, 201, made.text)
      const change = { content: 'Something longer to remember' }
      const changed = await service.call(`PATCH /v1/memories/${made.body.id}`, { token: agent.token, body: change })
      assert.equal(changed.status, 200, changed.text)
    })

    test('[POL-12] events stop at the daily quota, and the next day starts afresh', async () => {
      const agent = await tenant.agent()
      await publish(service, agent.token)
      await set({ quota_events_per_day: 3 })
      assert.deepEqual(
        [(await publish(service, agent.token)).status, (await publish(service, agent.token)).status],
        [202, 202],
      )
      isExceeded(await publish(service, agent.token), 'quota_events_per_day', 3)
      await service.clock.jump(2_000)
      isExceeded(await publish(service, agent.token), 'quota_events_per_day', 3)
      await service.clock.jump(DAY)
      const token = await tenant.token(agent.key)
      const batch = await service.call('POST /v1/events', {
        token,
        raw: JSON.stringify(
          ['a', 'b', 'c', 'd'].map((id) => ({ specversion: '1.0', type: 't', source: '/s', id: `batch-${id}` })),
        ),
        headers: { 'content-type': 'application/cloudevents-batch+json' },
      })
      const told = batch.body.results.map(({ status, error }: Told) => status ?? error?.details.rule)
      assert.deepEqual(told, ['accepted', 'accepted', 'accepted', 'quota_exceeded'])
    })

    test('[POL-12] concurrent publishes stop at the quota too', async () => {
      const agent = await tenant.agent()
      await service.clock.jump(DAY)
      await set({ quota_events_per_day: 5 })
      const token = await tenant.token(agent.key)
      const replies = await Promise.all(Array.from({ length: 30 }, () => publish(service, token)))
      assert.equal(replies.filter(({ status }) => status === 202).length, 5)
      await set({ quota_events_per_day: null })
    })

    test('[LOAD-6] work under way counts toward a quota when the counters are read again', async () => {
      const quotas = quotasOf({ quota_events_per_day: 3, quota_stored_bytes: 1_000 })
      const take = async (bytes = 10): Promise<unknown> => (await quotas.take(tenant.id, 1, bytes))?.details['quota']
      const { id } = tenant
      for (let i = 0; i < 3; i++) assert.equal(await take(), undefined)
      await service.clock.advance(2_000)
      assert.equal(await take(), 'quota_events_per_day')
      quotas.release(id, 1, 10)
      assert.equal(await take(981), 'quota_stored_bytes')
      assert.equal(await take(980), undefined)
      // What is written but not read yet counts as well; after the next read the counters include it.
      quotas.written(id, 1, 980)
      assert.notEqual(await take(0), undefined)
      quotas.release(id, 2, 20)
      await service.clock.advance(2_000)
      for (let i = 0; i < 3; i++) assert.equal(await take(), undefined)
    })

    test('[LOAD-6] what is written while the counters are read counts as well', async () => {
      const { store } = service
      const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      let isHeld = false
      const lookUp = async <T>(sql: string, values?: readonly Value[]): Promise<T | undefined> => {
        const found = await store.lookUp<T>(sql, values)
        if (isHeld) asked.resolve()
        if (isHeld) await answer.promise
        return found
      }
      const quotas = quotasOf({ quota_events_per_day: 1 }, { ...store, lookUp })
      assert.equal(await quotas.take(tenant.id, 1, 10), null)
      await service.clock.advance(2_000)
      isHeld = true
      const second = quotas.take(tenant.id, 1, 10)
      await asked.promise
      quotas.written(tenant.id, 1, 10)
      answer.resolve()
      assert.equal((await second)?.details['quota'], 'quota_events_per_day')
    })

    test('[POL-12] a day has its whole quota from its first moment on', async () => {
      const quotas = quotasOf({ quota_events_per_day: 1 })
      const take = async (): Promise<boolean> => (await quotas.take(tenant.id, 1, 10)) === null
      await service.clock.jump(DAY - (service.clock.now() % DAY) - 500)
      assert.equal(await take(), true)
      quotas.written(tenant.id, 1, 10)
      await service.clock.advance(499)
      assert.equal(await take(), false)
      await service.clock.advance(1)
      assert.equal(await take(), true)
    })

    test('[POL-12] a quota that is lowered holds at once', async () => {
      await set({ quota_agents: 320 })
      await tenant.agent()
      await set({ quota_agents: 1 })
      const body = { name: 'More', delivery_mode: 'poll', client_type: 'other' }
      isExceeded(await service.call('POST /v1/agents', { token: tenant.admin, body }), 'quota_agents', 1)
    })

    test('[POL-12] more at once than is left of a share is counted, and refused beyond the quota', async () => {
      const quotas = quotasOf({ quota_interests: 320 })
      const makeRoom = (count: number): Promise<void> =>
        service.store.tx((tx) => quotas.makeRoom(tx, tenant.id, 'interests', count))
      await makeRoom(1)
      await assert.rejects(makeRoom(321), (error: Failure) => error.details['quota'] === 'quota_interests')
    })

    describe('[POL-12] what is counted in a transaction that is not committed', () => {
      const limit = 320
      let quotas: Quotas
      let agentId: string
      const setCount = (tx: Db, count: number): Promise<number> =>
        tx.run('update interest_counts set interests = ? where tenant_id = ? and agent_id = ?', [
          count,
          tenant.id,
          agentId,
        ])
      const makeRoom = (): Promise<void> => service.store.tx((tx) => quotas.makeRoom(tx, tenant.id, 'interests'))
      const noRoom = (error: Failure): boolean => error.details['quota'] === 'quota_interests'
      beforeEach(async () => {
        quotas = quotasOf({ quota_interests: limit })
        const agent = await tenant.agent()
        agentId = agent.id
        assert.equal((await interest(service, agent, { event_type: 'one' })).status, 201)
        assert.equal(await service.store.tx((tx) => setCount(tx, limit)), 1)
      })

      test('makes no room for others, while it is under way and after it failed', async () => {
        const free = Promise.withResolvers<void>()
        const counted = Promise.withResolvers<void>()
        const failing = service.store.tx(async (tx) => {
          await setCount(tx, 0)
          await quotas.makeRoom(tx, tenant.id, 'interests')
          await quotas.makeRoom(tx, tenant.id, 'interests')
          counted.resolve()
          await free.promise
          throw new Error('nothing is stored')
        })
        await counted.promise
        const beside = makeRoom()
        await overOrWaiting(service.store, beside)
        free.resolve()
        await assert.rejects(failing, { message: 'nothing is stored' })
        await assert.rejects(beside, noRoom)
        await assert.rejects(makeRoom(), noRoom)
      })

      if (engine.name === 'sqlite')
        test('makes none either if the commit that it shares with others fails', async () => {
          const shared = await Promise.allSettled([
            service.store.tx((tx) => setCount(tx, 0)),
            makeRoom(),
            service.store.tx(async (tx) => tx.runLast('insert into nowhere values (1)', [])),
          ])
          assert.deepEqual(
            shared.map(({ status }) => status),
            ['rejected', 'rejected', 'rejected'],
          )
          await assert.rejects(makeRoom(), noRoom)
        })

      test('has room for others once it is committed, without another count', async () => {
        await service.store.tx(async (tx) => {
          await setCount(tx, 0)
          await quotas.makeRoom(tx, tenant.id, 'interests')
        })
        let counts = 0
        await service.store.tx((tx) => {
          const counting = { ...tx, rows: (...query: Parameters<Db['rows']>) => (counts++, tx.rows(...query)) } as Db
          return quotas.makeRoom(counting, tenant.id, 'interests')
        })
        assert.equal(counts, 0)
      })
    })

    test('[POL-12] room for bytes that are not stored after all is given back', async () => {
      const quotas = quotasOf({ quota_stored_bytes: 1_000 })
      await service.store.tx(async (tx) => (await quotas.makeRoomForBytes(tx, tenant.id, 1_000))())
      const rolledBack = service.store.tx(async (tx) => {
        await quotas.makeRoomForBytes(tx, tenant.id, 1_000)
        throw new Error('nothing is stored')
      })
      await assert.rejects(rolledBack, { message: 'nothing is stored' })
      assert.equal(await quotas.take(tenant.id, 0, 1_000), null)
    })

    test('[POL-12] stored bytes stop at their quota, and retention makes room', async () => {
      const agent = await tenant.agent()
      await set({ quota_stored_bytes: 2_000, retention_days: 1 })
      const large = { data: 'x'.repeat(1_500) }
      assert.equal((await publish(service, agent.token, large)).status, 202)
      isExceeded(await publish(service, agent.token, large), 'quota_stored_bytes', 2_000)
      await service.clock.jump(2 * DAY)
      await service.app.runOnce.retain()
      const token = await tenant.token(agent.key)
      assert.equal((await publish(service, token, large)).status, 202)
    })
  })
})
