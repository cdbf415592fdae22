// The standing of a delivery: the predicate and the SQL agree on every row.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  HAS_LAPSED,
  HAS_LEASE,
  IN_DEAD_INDEX,
  IN_OPEN_INDEX,
  IS_DEAD,
  IS_LEASED,
  IS_OPEN,
  IS_PENDING,
  IS_READY,
  PUBLIC_STATE,
  STANDING,
  standingOf,
  type DeliveryState,
} from '../../src/delivery/standing.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite } from '../support/service.ts'

const NOW = 1_000

// Rows as the verbs write them: a waiting delivery and a last lease are woken when they are due.
const row = fc
  .record({
    state: fc.constantFrom<DeliveryState>('ready', 'leased', 'waiting', 'dead_lettered'),
    at: fc.constantFrom(NOW - 500, NOW - 1, NOW, NOW + 1, NOW + 500),
    isLast: fc.boolean(),
  })
  .map(({ state, at, isLast }) => {
    const due_at = state === 'leased' || state === 'waiting' ? at : null
    return { state, due_at, wake_at: state === 'waiting' || isLast ? due_at : null }
  })

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  test('[POL-4] the standing of a delivery is one rule, in the code and in every statement', async () => {
    const rows = fc.sample(row, 300)
    const leaseOf = (i: number): number => 1 + (i % 2)
    await service.store.tx(async (tx) => {
      for (const [i, { state, due_at, wake_at }] of rows.entries()) {
        await tx.run(
          `insert into deliveries (tenant_id, recipient_id, id, event_id, state, priority, enrichment, matched, due_at, wake_at, leases, created_at, dead_lettered_at)
           values ('ten_x', 'agt_x', ?, ?, ?, 0, 'none', '', ?, ?, ?, 0, ?)`,
          [`d${i}`, `e${i}`, state, due_at, wake_at, leaseOf(i), state === 'dead_lettered' ? 1 : null],
        )
      }
    })
    const is = (condition: string): string => `case when ${condition} then 1 else 0 end`
    const told = await service.store.rows<Record<string, unknown>>(
      `select page.*, ${is(IS_PENDING)} as pending from
         (select id, ${STANDING} as standing, ${is(IS_READY)} as ready, ${is(IS_LEASED)} as leased, ${is(HAS_LEASE)} as first,
                 ${is(IS_OPEN)} as open, ${is(HAS_LAPSED)} as lapsed, ${is(IS_DEAD)} as dead,
                 ${is(IN_OPEN_INDEX)} as by_open, ${is(IN_DEAD_INDEX)} as by_dead
            from deliveries where tenant_id = 'ten_x') as page`,
      [NOW, NOW, NOW, leaseOf(0), NOW, NOW],
    )
    assert.equal(told.length, rows.length)
    for (const { id, ...shown } of told) {
      const i = Number(String(id).slice(1))
      const written = rows[i]!
      const expected = standingOf(written, NOW)
      assert.deepEqual(
        shown,
        {
          standing: expected,
          ready: Number(expected === 'ready'),
          leased: Number(expected === 'leased'),
          first: Number(written.state === 'leased' && leaseOf(i) === leaseOf(0)),
          open: Number(['ready', 'waiting', 'leased'].includes(expected)),
          lapsed: Number(expected === 'exhausted' || (written.state === 'waiting' && expected === 'ready')),
          dead: Number(expected === 'dead_lettered'),
          by_open: Number(expected !== 'dead_lettered'),
          by_dead: Number(expected === 'dead_lettered'),
          pending: Number(PUBLIC_STATE[expected] === 'pending'),
        },
        JSON.stringify(written),
      )
    }
  })
})
