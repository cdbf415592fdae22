import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Principal } from '../../src/auth/principal.ts'
import { makeInsertInterest } from '../../src/interests/insert.ts'
import { backfill } from '../../src/interests/backfill.ts'
import { createInterest } from '../../src/interests/create.ts'
import { interestIds, readInterests } from '../../src/interests/sql.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeQuotas } from '../../src/tenants/quotas.ts'
import { NO_SETTINGS } from '../../src/tenants/settings.ts'
import { makeActivity } from '../../src/activity/activity.ts'
import { makeWakeups } from '../../src/delivery/wake.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { makeStepTurns, type StepTurns } from '../../src/kernel/step-turns.ts'
import type { Store, Value } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { agentForSuite, serviceForSuite, tenantForSuite } from '../support/service.ts'
import { ack, eventIds, ids, interest, poll, publish } from '../events/tools.ts'
import { turnsUntil } from '../support/turns-until.ts'

onBothEngines((engine) => {
  describe('interests', () => {
    const service = serviceForSuite(engine)
    const tenant = tenantForSuite(service)
    const agent = agentForSuite(tenant)

    test('[INT-1] [INT-6] an interest is created and listed, newest first', async () => {
      const fields = { event_type: 'int1.*', filter_expression: 'data.x == 1', priority: 3, enrichment_depth: 'light' }
      const reply = await interest(service, agent, fields)
      assert.equal(reply.status, 201)
      const { id, created_at, updated_at, ...rest } = reply.body
      assert.match(id, /^int_/)
      assert.equal(created_at, updated_at)
      assert.deepEqual(rest, { tenant_id: tenant.id, agent_id: agent.id, ...fields, active: true })
      const second = await interest(service, agent, { event_type: 'int1b.*' })
      assert.equal(second.body.filter_expression, null)
      const list = await service.call(`GET /v1/agents/${agent.id}/interests`, { token: agent.token })
      assert.deepEqual(list.body, { interests: [second.body, reply.body] })
    })

    test('[INT-2] every field is checked', async () => {
      const wrong: [string, unknown][] = [
        ['event_type', undefined],
        ['event_type', ''],
        ['event_type', '  '],
        ['event_type', 5],
        ['priority', undefined],
        ['priority', -1],
        ['priority', 1.5],
        ['priority', '1'],
        ['enrichment_depth', undefined],
        ['enrichment_depth', 'deep'],
        ['filter_expression', 5],
        ['backfill', -1],
        ['backfill', 1001],
        ['backfill', 1.5],
      ]
      for (const [field, value] of wrong)
        assertError(await interest(service, agent, { [field]: value }), 'validation_failed', { field })
    })

    test('[INT-2] [DLV-3] any whole number that JSON can hold is a priority, and the highest comes first', async () => {
      const ranked = await tenant.agent()
      const priorities = [0, 2 ** 31 - 1, 2 ** 31, 1e15, Number.MAX_SAFE_INTEGER]
      for (const priority of priorities) {
        const made = await interest(service, ranked, { event_type: `ranked.p${priority}`, priority })
        assert.deepEqual([made.status, made.body.priority], [201, priority])
        await publish(service, ranked.token, { type: `ranked.p${priority}` })
      }
      const polled = await poll(service, ranked.token)
      assert.deepEqual(
        polled.map(({ payload }) => payload['type']),
        priorities.toReversed().map((priority) => `ranked.p${priority}`),
      )
      assertError(await interest(service, ranked, { priority: 2 ** 53 }), 'validation_failed', { field: 'priority' })
    })

    test('[INT-3] an interest is created only for the caller itself, even by an admin', async () => {
      const other = await tenant.agent()
      const stranger = await (await service.tenant()).agent()
      const body = { event_type: 'x', priority: 0, enrichment_depth: 'none' }
      const create = (id: string, token: string) => service.call(`POST /v1/agents/${id}/interests`, { token, body })
      assert.equal(assertError(await create(other.id, agent.token), 'business_rule_violation')['rule'], 'self_only')
      assert.equal(assertError(await create(other.id, tenant.admin), 'business_rule_violation')['rule'], 'self_only')
      assertError(await create(stranger.id, agent.token), 'not_found', { resource_type: 'agent' })
    })

    test('[INT-4] [EVT-FILTER-BOUND] a filter that does not parse is refused with the position', async () => {
      const details = assertError(
        await interest(service, agent, { filter_expression: 'data.x >' }),
        'validation_failed',
        { field: 'filter_expression' },
      )
      assert.match(String(details['expected']), /position \d+/)
      assertError(await interest(service, agent, { filter_expression: 'x'.repeat(4097) }), 'validation_failed', {
        field: 'filter_expression',
      })
      assertError(await interest(service, agent, { filter_expression: '' }), 'validation_failed', {
        field: 'filter_expression',
      })
      assert.equal(
        (await interest(service, agent, { event_type: 'long', filter_expression: `x == "${'y'.repeat(4089)}"` }))
          .status,
        201,
      )
    })

    test('[INT-5] the same type and filter twice is a conflict, also when sent concurrently', async () => {
      const first = await interest(service, agent, { event_type: 'int5.*', filter_expression: 'a' })
      const again = await interest(service, agent, { event_type: 'int5.*', filter_expression: 'a', priority: 9 })
      assert.deepEqual(
        [assertError(again, 'business_rule_violation')['rule'], again.body.error.details.existing_interest_id],
        ['interest_conflict', first.body.id],
      )
      for (const fields of [{ filter_expression: 'b' }, {}, { event_type: 'int5.?' }])
        assert.equal((await interest(service, agent, { event_type: 'int5.*', ...fields })).status, 201)
      const raced = await Promise.all(
        Array.from({ length: 5 }, () => interest(service, agent, { event_type: 'int5.race' })),
      )
      assert.deepEqual(raced.map((reply) => reply.status).sort(), [201, 422, 422, 422, 422])
    })

    test('[INT-7] a deleted interest matches no more', async () => {
      const { body } = await interest(service, agent, { event_type: 'int7.*' })
      const remove = (token: string) => service.call(`DELETE /v1/agents/${agent.id}/interests/${body.id}`, { token })
      const other = await tenant.agent({ scopes: ['interests:write'] })
      assert.equal(assertError(await remove(other.token), 'business_rule_violation')['rule'], 'self_only')
      // Existence is checked before the rule.
      const missing = `DELETE /v1/agents/${agent.id}/interests/int_none`
      assertError(await service.call(missing, { token: other.token }), 'not_found', { resource_type: 'interest' })
      assert.equal((await publish(service, agent.token, { type: 'int7.x' })).body.recipients, 1)
      assert.equal((await remove(agent.token)).status, 204)
      assert.equal((await publish(service, agent.token, { type: 'int7.x' })).body.recipients, 0)
      assertError(await remove(agent.token), 'not_found', { resource_type: 'interest', resource_id: body.id })
    })

    test('[INT-7] whoever holds admin deletes the interests of any agent', async () => {
      const { body } = await interest(service, agent, { event_type: 'int7.lost' })
      const { token } = await tenant.agent({ scopes: ['interests:write', 'admin'] })
      const removed = await service.call(`DELETE /v1/agents/${agent.id}/interests/${body.id}`, { token })
      assert.equal(removed.status, 204, removed.text)
    })

    test('[INT-8] [INT-9] backfill delivers the newest matching events, oldest first, each once', async () => {
      const late = await tenant.agent()
      const sent: string[] = []
      for (let i = 0; i < 8; i++) {
        sent.push(
          (await publish(service, agent.token, { type: i % 2 ? 'fill.other' : 'fill.x', data: { i } })).body.event_id,
        )
        await service.clock.advance(1)
      }
      const reply = await interest(service, late, {
        event_type: 'fill.x',
        filter_expression: 'data.i < 6',
        backfill: 2,
      })
      assert.equal(reply.status, 201)
      const handed = await poll(service, late.token)
      assert.deepEqual(eventIds(handed), [sent[2], sent[4]])
      await ack(service, late.token, ids(handed))
      await interest(service, late, { event_type: 'fill.*', backfill: 1000 })
      assert.deepEqual(eventIds(await poll(service, late.token)), [
        sent[0],
        sent[1],
        sent[3],
        sent[5],
        sent[6],
        sent[7],
      ])
    })

    test('[SAFE-22] backfill reads the events that it filters a megabyte at a time, in steps that all share', async () => {
      const late = await tenant.agent()
      const data = { text: 'x'.repeat(900_000), n: 1 }
      for (let i = 0; i < 12; i++) {
        assert.equal((await publish(service, agent.token, { type: 'heavy.x', data })).status, 202)
        await service.clock.advance(1)
      }
      const filter = { event_type: 'heavy.x', filter_expression: 'data.n == 1' }
      assert.equal((await interest(service, late, filter)).status, 201)
      const ids = await interestIds(service.store, tenant.id, late.id)
      const [row] = await readInterests(service.store, tenant.id, ids)
      const read: number[] = []
      const store: Store = {
        ...service.store,
        rows: async <R>(sql: string, values?: readonly Value[]): Promise<R[]> => {
          const rows = await service.store.rows<R>(sql, values)
          const texts = (rows as { envelope?: string }[]).map(({ envelope }) => envelope?.length ?? 0)
          read.push(texts.reduce((sum, length) => sum + length, 0))
          return rows
        },
      }
      const wakeups = makeWakeups(service.store)
      const activity = makeActivity(service.store, service.clock)
      const turns = makeStepTurns()
      let steps = 0
      const backfillSteps: StepTurns = { take: (...of) => (steps++, turns.take(...of)) }
      const makeId = idMaker(service.clock.now)
      const tools = { store, makeId, wakeups, activity, backfillSteps, now: service.clock.now }
      await backfill(tools, row!, 12, async () => {})
      assert.equal((await poll(service, late.token)).length, 12)
      assert.ok(Math.max(...read) <= 1_000_000, `${Math.max(...read)} bytes in one step`)
      assert.ok(steps > 12 * 3, `only ${steps} steps that other backfills share`)
      assert.ok(read.reduce((sum, bytes) => sum + bytes) > 10_000_000)
    })

    test('[INT-8] events of one batch are backfilled in their order, whatever their ids are', async () => {
      const batch = Array.from({ length: 20 }, (_, i) => ({
        specversion: '1.0',
        type: 'ordered.x',
        source: '/',
        id: `ordered-${20 - i}`,
      }))
      await service.call('POST /v1/events', {
        token: agent.token,
        raw: JSON.stringify(batch),
        headers: { 'content-type': 'application/cloudevents-batch+json' },
      })
      const late = await tenant.agent()
      await interest(service, late, { event_type: 'ordered.*', backfill: 10 })
      assert.deepEqual(
        eventIds(await poll(service, late.token)),
        Array.from({ length: 10 }, (_, i) => `ordered-${10 - i}`),
      )
    })

    test('[INT-8] [INT-9] each event is either backfilled or routed: none is lost, none comes twice', async () => {
      const late = await tenant.agent()
      const sent: string[] = []
      let done = false
      const publishing = Promise.all(
        Array.from({ length: 4 }, async (_, publisher) => {
          for (let i = 0; !done || i < 20; i++) {
            const id = `between-${publisher}-${i}`
            assert.equal((await publish(service, agent.token, { type: 'between.x', id })).status, 202)
            sent.push(id)
          }
        }),
      )
      await turnsUntil(() => sent.length >= 20)
      assert.equal((await interest(service, late, { event_type: 'between.*', backfill: 1000 })).status, 201)
      done = true
      await publishing
      const got: string[] = []
      for (let page; (page = await poll(service, late.token)).length > 0; ) got.push(...eventIds(page))
      assert.deepEqual(got.toSorted(), sent.toSorted())
    })

    test('[INT-8] an interest whose backfill fails is not created', async () => {
      const late = await tenant.agent()
      await publish(service, agent.token, { type: 'failing.x' })
      const caller = { kind: 'agent', id: late.id, tenantId: tenant.id } as Principal
      const wanted = { event_type: 'failing.*', priority: 0, enrichment_depth: 'none', backfill: 5 } as const
      const tools = {
        store: service.store,
        wakeups: makeWakeups(service.store),
        activity: makeActivity(service.store, service.clock),
        quotas: makeQuotas(service.store, service.clock, () => NO_SETTINGS),
        makeId: idMaker(service.clock.now),
        backfillSteps: makeStepTurns(),
        now: service.clock.now,
        log: makeLogger('silent'),
        insertInterest: makeInsertInterest(
          service.store,
          makeQuotas(service.store, service.clock, () => NO_SETTINGS),
        ),
      }
      await assert.rejects(
        createInterest(tools, caller, wanted, {
          earlier: null,
          begun: async () => {},
          ended: () => Promise.reject(new Error('no record')),
          stands: async () => true,
          withdrawn: async () => true,
        }),
        /no record/,
      )
      assert.deepEqual(await poll(service, late.token), [])
      assert.equal((await interest(service, late, wanted)).status, 201)
      assert.equal((await poll(service, late.token)).length, 1)
    })

    test('[INT-8] [IDEM-1] an interest with backfill repeated with its key delivers once', async () => {
      const late = await tenant.agent()
      await publish(service, agent.token, { type: 'idemfill.x' })
      const send = () =>
        service.call(`POST /v1/agents/${late.id}/interests`, {
          token: late.token,
          headers: { 'idempotency-key': 'fill' },
          body: { event_type: 'idemfill.*', priority: 0, enrichment_depth: 'none', backfill: 5 },
        })
      const [one, two] = await Promise.all([send(), send()])
      assert.deepEqual([one.status, two.status, one.body.id], [201, 201, two.body.id])
      assert.equal((await poll(service, late.token)).length, 1)
    })
  })
})
