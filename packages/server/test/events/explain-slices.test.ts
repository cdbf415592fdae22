// Explaining an event is bounded like publishing it, and gives other work its turns.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { insertFeed } from '../../src/channels/sql.ts'
import { prepareEvent } from '../../src/events/envelope.ts'
import { explainEvent, type Explanation } from '../../src/events/explain.ts'
import { findReasons } from '../../src/events/reasons.ts'
import { makeFilters } from '../../src/routing/filters.ts'
import { makeRouter } from '../../src/routing/router.ts'
import { RoutingTable } from '../../src/routing/table.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite } from '../support/service.ts'
import { event, interest } from './tools.ts'

/** 300 KB when it is compiled, which is more than a slice. */
const long = (n: number): string => `data.n == 1 || data.n == ${-n}${' || a'.repeat(600)}`

describe('the reasons of an explanation', () => {
  const withFeeds = (channelId: string, filters: readonly string[]): RoutingTable => {
    const table = new RoutingTable()
    filters.forEach((filter, i) =>
      table.put({
        kind: 'feed',
        id: `fed_${i}`,
        agentId: null,
        channelId,
        glob: 'x.*',
        filter,
        priority: 0,
        enrichment: 'none',
      }),
    )
    table.members.set('chn_own', new Set(['agt_1']))
    return table
  }
  const explain = (table: RoutingTable) => {
    const filters = makeFilters(2_000_000)
    const given = {
      table,
      event: prepareEvent(event({ type: 'x.y', data: { n: 1 } }), ''),
      filters,
      maySeeFilter: () => true,
      matched: [],
      cut: new Set<never>(),
    }
    const running = findReasons(given, 'agt_1')
    let slices = 1
    let next = running.next()
    for (; !next.done; next = running.next()) slices++
    return { reasons: next.value, slices }
  }

  test('[RTE-15] filters that cannot be compiled within the budget take too much work', () => {
    const { reasons, slices } = explain(
      withFeeds(
        'chn_own',
        Array.from({ length: 40 }, (_, i) => long(i)),
      ),
    )
    assert.equal(reasons.length, 40)
    const matching = reasons.filter(({ matches }) => matches).length
    assert.ok(matching >= 6 && matching <= 7, `${matching} filters were compiled`)
    for (const { matches, explanation } of reasons)
      assert.match(explanation, matches ? /the filter is true/ : /the filter takes too much work/)
    assert.ok(slices >= matching, `${slices} slices`)
  })

  test('[RTE-15] feeds of other channels share the budget and the slices', () => {
    const filters = Array.from({ length: 5_000 }, (_, i) => `data.n == ${-1 - i}`)
    const { reasons, slices } = explain(withFeeds('chn_other', filters))
    assert.deepEqual(
      reasons.map(({ kind }) => kind),
      ['agent'],
    )
    assert.ok(slices > 100, `${slices} slices`)
    const seen = explain(
      withFeeds(
        'chn_other',
        Array.from({ length: 40 }, (_, i) => long(i)),
      ),
    ).reasons.length
    assert.ok(seen >= 6 && seen <= 7, `${seen} filters were compiled`)
  })
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  test('[RTE-15] explain pauses after each slice, in the matching and in the reasons', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    for (let i = 0; i < 10; i++) {
      const made = await interest(service, agent, { event_type: 'x.*', filter_expression: long(i) })
      assert.equal(made.status, 201)
    }
    await service.store.tx(async (tx) => {
      for (let i = 0; i < 10; i++)
        await insertFeed(tx, {
          tenant_id: tenant.id,
          channel_id: 'chn_other',
          id: `fed_${i}`,
          event_type_glob: 'x.*',
          filter_expression: long(100 + i),
          active: 1,
          created_at: 0,
        })
    })
    let pauses = 0
    const pause = async (): Promise<void> => void pauses++
    const router = makeRouter(service.store, () => {})
    const caller = {
      kind: 'agent' as const,
      id: agent.id,
      tenantId: tenant.id,
      keyId: 'key_x',
      scopes: new Set(['send']),
      teamId: null,
    }
    const explain = (agentId?: string) =>
      explainEvent(
        service.store,
        router,
        caller,
        { event: event({ type: 'x.y', data: { n: 1 } }), ...(agentId === undefined ? {} : { agent_id: agentId }) },
        async () => true,
        pause,
      )
    const { recipients } = await explain()
    assert.equal(recipients[0]!.via.length, 10)
    assert.ok(pauses >= 20, `${pauses} pauses while 20 filters were compiled`)
    const { agent: told } = await explain(agent.id)
    assert.equal(told!.reasons.length, 20)
    assert.equal(told!.receives, true)
  })

  test('[RTE-15] explain says of a true filter that it was left out, and receives agrees with the reasons', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    for (let i = 0; i < 40; i++) {
      const filter_expression = `data.list.exists(a, data.list.exists(b, a + b == ${-1 - i})) || data.n == 1`
      const made = await interest(service, agent, { event_type: 'x.*', filter_expression })
      assert.equal(made.status, 201)
    }
    const list = Array.from({ length: 80 }, (_, i) => i)
    const explained = await service.call<Explanation>('POST /v1/events/explain', {
      token: agent.token,
      body: { event: event({ type: 'x.y', data: { n: 1, list } }), agent_id: agent.id },
    })
    assert.equal(explained.status, 200)
    const { recipients, agent: told } = explained.body
    assert.equal(told!.receives, true)
    assert.equal(told!.reasons.length, 40)
    const matched = new Set(recipients[0]!.via.map(({ id }) => id))
    assert.ok(matched.size > 5 && matched.size < 35, String(matched.size))
    for (const { id, matches, explanation } of told!.reasons) {
      assert.equal(matches, matched.has(id))
      assert.match(explanation, matches ? /the filter is true$/ : /the filter is true, but was left out/)
    }
  })
})
