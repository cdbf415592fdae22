// Many interests: created together, bounded for an agent, and backfilled from large events.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Principal } from '../../src/auth/principal.ts'
import { insertChannel, insertFeed } from '../../src/channels/sql.ts'
import { interestPages } from '../../src/interests/manage.ts'
import { insertInterests } from '../../src/interests/sql.ts'
import { assertRule } from '../channels/tools.ts'
import { countedReads } from '../support/counted-reads.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import { eventIds, interest, poll, publish } from '../events/tools.ts'

onBothEngines((engine) => {
  describe('many interests', () => {
    const service = serviceForSuite(engine)
    const tenant = tenantForSuite(service)

    test('[RTE-11] interests created concurrently each get their own response and take effect', async () => {
      const [a, b] = [await tenant.agent(), await tenant.agent()]
      const replies = await Promise.all(
        Array.from({ length: 120 }, (_, i) => interest(service, i % 2 ? a : b, { event_type: `many.${i >> 2}` })),
      )
      // Each agent asks for every type twice: one request creates the interest, the other is a conflict that names it.
      assert.equal(replies.filter(({ status }) => status === 201).length, 60)
      const conflicts = replies.filter(({ status }) => status !== 201)
      for (const reply of conflicts) assertRule(reply, 'interest_conflict')
      const made = new Set(replies.filter(({ status }) => status === 201).map(({ body }) => body.id))
      for (const { body } of conflicts) assert.ok(made.has(body.error.details.existing_interest_id))
      for (const n of [0, 14, 29]) {
        const sent = await publish(service, a.token, { type: `many.${n}` })
        assert.equal(sent.body.recipients, 2)
      }
      const rows = await service.store.rows<{ version: number }>(
        'select version from routing_changes where tenant_id = ? order by version',
        [tenant.id],
      )
      assert.deepEqual(
        rows.map(({ version }) => version),
        rows.map((_, i) => i + 1),
        'no version is left out or used twice',
      )
    })

    test('[RTE-11] with an Idempotency-Key the same creation twice is one interest', async () => {
      const agent = await tenant.agent()
      const create = () =>
        service.call(`POST /v1/agents/${agent.id}/interests`, {
          token: agent.token,
          body: { event_type: 'key.*', priority: 0, enrichment_depth: 'none' },
          headers: { 'idempotency-key': 'one' },
        })
      const replies = await Promise.all([create(), create(), interest(service, agent, { event_type: 'beside.*' })])
      assert.deepEqual(
        replies.map(({ status }) => status),
        [201, 201, 201],
      )
      assert.equal(replies[0]!.body.id, replies[1]!.body.id)
    })

    test('[RTE-10] the interests of an agent are bounded, and other agents are not refused with it', async () => {
      const [full, other] = [await tenant.agent(), await tenant.agent()]
      const first = await interest(service, full, { event_type: 'first.*' })
      await service.store.tx((tx) =>
        tx.run('update interest_counts set interests = 9999 where tenant_id = ? and agent_id = ?', [
          tenant.id,
          full.id,
        ]),
      )
      const replies = await Promise.all([
        interest(service, full, { event_type: 'a.*' }),
        interest(service, full, { event_type: 'b.*' }),
        interest(service, full, { event_type: 'c.*', backfill: 5 }),
        interest(service, other, { event_type: 'a.*' }),
      ])
      assert.equal(replies[3]!.status, 201)
      const refused = replies.slice(0, 3).filter(({ status }) => status !== 201)
      assert.equal(refused.length, 2)
      for (const reply of refused) assertRule(reply, 'too_many_interests')
      await service.call(`DELETE /v1/agents/${full.id}/interests/${first.body.id}`, { token: full.token })
      assert.equal((await interest(service, full, { event_type: 'd.*' })).status, 201)
      assertRule(await interest(service, full, { event_type: 'e.*' }), 'too_many_interests')
    })

    test('[INT-6] interests are listed a page of 100 in a turn of the event loop', async () => {
      const agent = await tenant.agent()
      const filter_expression = `data.x == "${'€'.repeat(4_000)}"`
      const rows = Array.from({ length: 250 }, (_, i) => ({
        tenant_id: tenant.id,
        id: `int_${i}`,
        agent_id: agent.id,
        event_type: `many.${i}`,
        filter_expression,
        conflict_key: `${i}`,
        priority: 0,
        enrichment_depth: 'none' as const,
        active: 1,
        created_at: 0,
        updated_at: 0,
      }))
      await service.store.tx((tx) => insertInterests(tx, rows))
      const { db, most } = countedReads(service.store)
      let count = 0
      for await (const page of interestPages(db, { tenantId: tenant.id } as Principal, agent.id)) count += page.length
      assert.equal(count, 250)
      assert.ok(most.inTurn < 101 * 12_300, `${most.inTurn} bytes in a turn`)
    })

    test('[RTE-10] the feeds of a channel are bounded', async () => {
      const owner = await tenant.agent()
      const channel = await service.call('POST /v1/channels', { token: owner.token, body: { name: 'C', type: 'open' } })
      await service.store.tx(async (tx) => {
        for (let i = 0; i < 999; i++)
          await insertFeed(tx, {
            tenant_id: tenant.id,
            channel_id: channel.body.id,
            id: `fed_${i}`,
            event_type_glob: `x.${i}`,
            filter_expression: null,
            active: 1,
            created_at: 0,
          })
      })
      const add = (glob: string) =>
        service.call(`POST /v1/channels/${channel.body.id}/feeds`, {
          token: owner.token,
          body: { event_type_glob: glob },
        })
      const last = await add('last.*')
      assert.equal(last.status, 201)
      assertRule(await add('more.*'), 'too_many_feeds')
      await service.call(`DELETE /v1/channels/${channel.body.id}/feeds/${last.body.id}`, { token: owner.token })
      assert.equal((await add('more.*')).status, 201)
    })

    test('[RTE-18] the filters of a channel are bounded by their bytes', async () => {
      const owner = await tenant.agent()
      const channel = await service.call('POST /v1/channels', { token: owner.token, body: { name: 'F', type: 'open' } })
      const path = `/v1/channels/${channel.body.id}/feeds`
      const add = (text: string) =>
        service.call(`POST ${path}`, {
          token: owner.token,
          body: { event_type_glob: 'x', filter_expression: `data.x == "${text}"` },
        })
      const made = await Promise.all(Array.from({ length: 65 }, (_, i) => add(`${i}`.padEnd(4_000 * 2, '😀'))))
      assert.deepEqual(new Set(made.map(({ status }) => status)), new Set([201]))
      assertRule(await add('😀'.repeat(4_000)), 'filters_too_long')
      assert.equal((await add('short')).status, 201)
      await service.call(`DELETE ${path}/${made[0]!.body.id}`, { token: owner.token })
      assert.equal((await add('😀'.repeat(4_000))).status, 201)
    })

    test('[RTE-18] the channels that an agent creates are bounded, and those of an org-admin are not', async () => {
      const creator = await tenant.agent()
      const create = (name: string, token = creator.token) =>
        service.call('POST /v1/channels', { token, body: { name, type: 'private' } })
      const first = await create('first')
      await service.store.tx(async (tx) => {
        for (let i = 0; i < 998; i++)
          await insertChannel(tx, {
            ...{ tenant_id: tenant.id, id: `chn_${i}`, name: 'C', description: null, type: 'private' },
            ...{ created_by_type: 'agent', created_by_id: creator.id, external_id: null, created_at: 0, updated_at: 0 },
          })
      })
      const replies = await Promise.all([create('a'), create('b'), create('c', tenant.admin)])
      assert.equal(replies[2]!.status, 201)
      assert.deepEqual(
        replies
          .slice(0, 2)
          .map(({ status }) => status)
          .toSorted(),
        [201, 422],
      )
      assertRule(await create('d'), 'too_many_channels')
      const put = (id: string) =>
        service.call(`PUT /v1/channels/by-external-id/${id}`, {
          token: creator.token,
          body: { name: 'P', type: 'private' },
        })
      assertRule(await put('new'), 'too_many_channels')
      await service.call(`DELETE /v1/channels/${first.body.id}`, { token: creator.token })
      assert.deepEqual([(await put('new')).status, (await put('new')).status], [201, 200])
      assert.equal((await create('of another', (await tenant.agent()).token)).status, 201)
    })

    test('[RTE-12] backfill delivers large events and small ones, oldest first', async () => {
      const [sender, late] = [await tenant.agent(), await tenant.agent()]
      const sent: string[] = []
      for (let i = 0; i < 14; i++) {
        const text = 'x'.repeat(i % 2 === 0 ? 900_000 : 10)
        sent.push((await publish(service, sender.token, { type: 'large.x', data: { i, text } })).body.event_id)
      }
      const made = await interest(service, late, {
        event_type: 'large.*',
        filter_expression: 'data.i != 3',
        backfill: 12,
      })
      assert.equal(made.status, 201)
      assert.deepEqual(eventIds(await poll(service, late.token)), sent.filter((_, i) => i !== 3).slice(1))
    })
  })
})
