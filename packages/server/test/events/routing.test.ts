import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import fc from 'fast-check'
import { atOnce } from '../../src/kernel/step-turns.ts'
import { makeFilters } from '../../src/routing/filters.ts'
import { matchInSlices } from '../../src/routing/match.ts'
import { RoutingTable, type Subscription } from '../../src/routing/table.ts'
import { compileGlob } from '../../src/routing/glob.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite, type TestAgent } from '../support/service.ts'
import { eventIds, interest, poll, publish } from './tools.ts'

describe('the routing table', () => {
  const tools = { filters: makeFilters(), overBudget: () => {} }
  const part = fc.constantFrom('a', 'b', 'ab', 'com', '*', '?', '[ab]', '')
  const glob = fc
    .array(part, { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join('.'))
    .filter((text) => text !== '')
  const type = fc
    .array(fc.constantFrom('a', 'b', 'ab', 'com', 'c'), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join('.'))
  const subscription = fc.record({
    agent: fc.constantFrom('ann', 'bob', 'cy'),
    glob,
    filter: fc.constantFrom(null, 'data.n > 1', 'data.n < 3', 'missing == 1'),
    priority: fc.nat(5),
    enrichment: fc.constantFrom('none' as const, 'light' as const, 'full' as const),
  })

  test('[ROU-1] [ROU-3] matches what trying every subscription would, after any puts and removals', () => {
    fc.assert(
      fc.property(
        fc.array(subscription, { maxLength: 30 }),
        fc.array(fc.nat(29)),
        fc.array(type, { minLength: 1, maxLength: 5 }),
        fc.nat(4),
        (made, removed, types, n) => {
          const table = new RoutingTable()
          const live = new Map<string, Subscription>()
          made.forEach(({ agent, ...rest }, i) => {
            const s: Subscription = { kind: 'interest', id: `int_${i}`, agentId: agent, channelId: null, ...rest }
            table.put(s)
            live.set(s.id, s)
          })
          for (const i of removed) {
            table.remove(`int_${i}`)
            live.delete(`int_${i}`)
          }
          const passes: Record<string, boolean> = { 'data.n > 1': n > 1, 'data.n < 3': n < 3, 'missing == 1': false }
          const depths = ['none', 'light', 'full']
          for (const eventType of types) {
            const expected = new Map<string, { priority: number; depth: number }>()
            for (const s of live.values()) {
              if (!compileGlob(s.glob).matches(eventType) || (s.filter !== null && !passes[s.filter])) continue
              const old = expected.get(s.agentId!) ?? { priority: 0, depth: 0 }
              expected.set(s.agentId!, {
                priority: Math.max(old.priority, s.priority),
                depth: Math.max(old.depth, depths.indexOf(s.enrichment)),
              })
            }
            const found = atOnce(matchInSlices(table, { type: eventType, data: { n } }, tools)).matches
            assert.deepEqual(
              new Map(
                [...found]
                  .map(([id, m]) => [id, { priority: m.priority, depth: depths.indexOf(m.enrichment) }])
                  .sort() as [string, object][],
              ),
              new Map([...expected].sort()),
            )
          }
        },
      ),
      { numRuns: 500 },
    )
  })

  test('[ROU-1] a hundred thousand patterns that cannot match are not tried', () => {
    const table = new RoutingTable()
    for (let i = 0; i < 100_000; i++) {
      const glob = i % 3 === 0 ? `com.other${i}.*` : i % 3 === 1 ? `*.suffix${i}` : `com.exact.${i}`
      table.put({
        kind: 'interest',
        id: `int_${i}`,
        agentId: 'ann',
        channelId: null,
        glob,
        filter: null,
        priority: 0,
        enrichment: 'none',
      })
    }
    let tried = 0
    const event = {
      get type() {
        tried++
        return 'com.bench.x'
      },
    }
    assert.equal(atOnce(matchInSlices(table, event, tools)).matches.size, 0)
    assert.equal(tried, 1)
  })
})

onBothEngines((engine) => {
  describe('who receives what', () => {
    const service = serviceForSuite(engine)
    const tenant = tenantForSuite(service)
    let sender: TestAgent
    before(async () => {
      sender = await tenant.agent()
    })

    const send = async (fields: Record<string, unknown>) => (await publish(service, sender.token, fields)).body
    const channel = async (
      members: [type: string, id: string][],
      feed: Record<string, unknown>,
    ): Promise<{ id: string; feed: string }> => {
      const made = await service.call('POST /v1/channels', { token: tenant.admin, body: { name: 'c', type: 'open' } })
      for (const [participant_type, participant_id] of members) {
        await service.call(`POST /v1/channels/${made.body.id}/members`, {
          token: tenant.admin,
          body: { participant_type, participant_id },
        })
      }
      const fed = await service.call(`POST /v1/channels/${made.body.id}/feeds`, { token: tenant.admin, body: feed })
      return { id: made.body.id, feed: fed.body.id }
    }

    test('[ROU-1] glob and filter must both match, and a filter that fails is no match', async () => {
      const agent = await tenant.agent()
      await interest(service, agent, { event_type: 'rou1.*', filter_expression: 'amount > 100 && region == "eu"' })
      assert.equal((await send({ type: 'rou1.x', data: { amount: 101, region: 'eu' } })).recipients, 1)
      for (const data of [
        { amount: 100.5, region: 'us' },
        { amount: 99, region: 'eu' },
        {},
        null,
        'text',
        [1],
        { amount: '200', region: 'eu' },
      ]) {
        assert.equal((await send({ type: 'rou1.x', data })).recipients, 0)
      }
      assert.equal((await send({ type: 'other.rou1.x', data: { amount: 101, region: 'eu' } })).recipients, 0)
    })

    test('[ROU-2] [ROU-3] [ROU-6] [CHN-17] feeds deliver to every member, once with the interest’s priority', async () => {
      const [both, fed] = [await tenant.agent(), await tenant.agent()]
      const claims = JSON.parse(Buffer.from(tenant.admin.split('.')[1]!, 'base64url').toString()) as { sub: string }
      await interest(service, both, { event_type: 'rou2.*', priority: 4, enrichment_depth: 'light' })
      await interest(service, both, { event_type: '*2.x', priority: 2, enrichment_depth: 'full' })
      const { id, feed } = await channel(
        [
          ['agent', both.id],
          ['agent', fed.id],
        ],
        { event_type_glob: 'rou2.*' },
      )
      const { event_id, recipients } = await send({ type: 'rou2.x' })
      assert.equal(recipients, 3, 'two members and the org-admin who owns the channel')
      const receipts = (await service.call(`GET /v1/events/${event_id}`, { token: sender.token })).body.deliveries
      assert.deepEqual(
        receipts.map((r: { agent_id: string }) => r.agent_id).sort(),
        [both.id, fed.id, claims.sub].sort(),
      )
      const row = await service.store.rows<{ priority: number; enrichment: string }>(
        'select priority, enrichment from deliveries where tenant_id = ? and recipient_id = ?',
        [tenant.id, both.id],
      )
      assert.deepEqual(
        row.map((r) => [r.priority, r.enrichment]),
        [[4, 'full']],
      )
      const fedRow = await service.store.rows<{ priority: number; enrichment: string }>(
        'select priority, enrichment from deliveries where tenant_id = ? and recipient_id = ?',
        [tenant.id, fed.id],
      )
      assert.deepEqual(
        fedRow.map((r) => [r.priority, r.enrichment]),
        [[0, 'none']],
      )
      assert.deepEqual(receipts.find((r: { agent_id: string }) => r.agent_id === fed.id).matched, [
        { kind: 'feed', id: feed, channel_id: id },
      ])
      const mine = await poll(service, tenant.admin)
      assert.deepEqual(eventIds(mine), [event_id])
    })

    test('[EVT-FILTER] whole numbers are compared as they were sent, beyond what a double holds', async () => {
      const agent = await tenant.agent()
      await interest(service, agent, { event_type: 'big.*', filter_expression: 'id == 9007199254740993' })
      const send = (id: string, raw: string) =>
        service.call('POST /v1/events', {
          token: sender.token,
          raw: `{"specversion":"1.0","type":"big.x","source":"/","id":"${id}","data":{"id":${raw}}}`,
          headers: { 'content-type': 'application/json' },
        })
      assert.equal((await send('big-1', '9007199254740993')).body.recipients, 1)
      assert.equal((await send('big-2', '9007199254740992')).body.recipients, 0)
      assert.equal((await send('big-3', '12345678901234567890123')).body.recipients, 0)
      const bad = await service.call('POST /v1/events', {
        token: sender.token,
        raw: '{"specversion":"1.0","type":9007199254740993,"source":"/","id":"x"}',
        headers: { 'content-type': 'application/json' },
      })
      assert.equal(bad.body.error.details.value, '9007199254740993')
    })

    test('[ROU-4] the sender receives its own event only if it asked for it', async () => {
      assert.equal((await send({ type: 'rou4.x' })).recipients, 0)
      await interest(service, sender, { event_type: 'rou4.*' })
      const { event_id } = await send({ type: 'rou4.x' })
      assert.deepEqual(eventIds(await poll(service, sender.token)), [event_id])
    })

    test('[ROU-5] an inactive agent receives nothing new, by interest or feed; earlier deliveries wait', async () => {
      const agent = await tenant.agent()
      await interest(service, agent, { event_type: 'rou5.*' })
      await channel([['agent', agent.id]], { event_type_glob: 'rou5.*' })
      const kept = (await send({ type: 'rou5.x' })).event_id
      await service.call(`POST /v1/agents/${agent.id}/deactivate`, { token: tenant.admin })
      await send({ type: 'rou5.x' })
      await service.call(`POST /v1/agents/${agent.id}/activate`, { token: tenant.admin })
      const later = (await send({ type: 'rou5.x' })).event_id
      assert.deepEqual(eventIds(await poll(service, await tenant.token(agent.key))), [kept, later])
    })

    test('[CHN-16] members and feeds count for later events only', async () => {
      const agent = await tenant.agent()
      await send({ type: 'chn16.x' })
      const { id, feed } = await channel([['agent', agent.id]], {
        event_type_glob: 'chn16.*',
        filter_expression: 'data.ok',
      })
      const seen = (await send({ type: 'chn16.x', data: { ok: true } })).event_id
      await send({ type: 'chn16.x', data: { ok: false } })
      await service.call(`DELETE /v1/channels/${id}/feeds/${feed}`, { token: tenant.admin })
      await send({ type: 'chn16.x', data: { ok: true } })
      await service.call(`POST /v1/channels/${id}/feeds`, { token: tenant.admin, body: { event_type_glob: 'chn16.*' } })
      await service.call(`DELETE /v1/channels/${id}/members/agent/${agent.id}`, { token: tenant.admin })
      await send({ type: 'chn16.x' })
      assert.deepEqual(eventIds(await poll(service, agent.token)), [seen])
    })

    test('[ROU-3] a routing table that is far behind is reloaded and routes correctly', async () => {
      const agent = await tenant.agent()
      await interest(service, agent, { event_type: 'behind.*' })
      await send({ type: 'behind.x' })
      await service.store.tx(async (tx) => {
        await tx.run('delete from routing_changes where tenant_id = ?', [tenant.id])
        await tx.run('update routing_versions set version = version + 5000 where tenant_id = ?', [tenant.id])
      })
      await interest(service, agent, { event_type: 'ahead.*' })
      assert.equal((await send({ type: 'ahead.x' })).recipients, 1)
      assert.equal((await send({ type: 'behind.x' })).recipients, 1)
    })
  })
})
