// What migrations do to the rows of a store that an older release made.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrate } from '../../src/store/migrate.ts'
import { onBothEngines } from '../support/engines.ts'
import { emptyStore, migrateTo } from '../support/store.ts'

const NOW = Date.parse('2030-01-01T00:00:00Z')

onBothEngines((engine) => {
  test('[STO-4] a store with acknowledged and open deliveries in one table keeps all of them', async (t) => {
    const { store, drop } = await emptyStore(engine)
    t.after(drop)
    await store.tx(async (tx) => {
      await migrateTo(tx, 7, NOW)
      const add = (
        id: string,
        state: string,
        dueAt: number | null,
        acknowledgedAt: number | null,
        deadAt: number | null,
      ) =>
        tx.run(
          `insert into deliveries (tenant_id, recipient_id, id, event_id, state, priority, enrichment, matched, attempts, due_at, created_at, acknowledged_at, dead_lettered_at, dlq_reason)
           values ('ten_a', 'agt_a', ?, ?, ?, 3, 'none', 'int_a', 1, ?, 1, ?, ?, ?)`,
          [id, `event of ${id}`, state, dueAt, acknowledgedAt, deadAt, deadAt === null ? null : 'because'],
        )
      await add('d1', 'ready', null, null, null)
      await add('d2', 'leased', NOW + 5, null, null)
      await add('d3', 'waiting', NOW + 6, null, null)
      await add('d4', 'acknowledged', null, NOW - 1, null)
      await add('d5', 'dead_lettered', null, null, NOW - 2)
    })
    await migrate(store, NOW)
    assert.deepEqual(
      await store.rows(
        'select id, event_id, state, priority, attempts, due_at, wake_at, dead_lettered_at, dlq_reason from deliveries order by id',
      ),
      [
        {
          id: 'd1',
          event_id: 'event of d1',
          state: 'ready',
          priority: 3,
          attempts: 1,
          due_at: null,
          wake_at: null,
          dead_lettered_at: null,
          dlq_reason: null,
        },
        {
          id: 'd2',
          event_id: 'event of d2',
          state: 'leased',
          priority: 3,
          attempts: 1,
          due_at: NOW + 5,
          wake_at: NOW + 5,
          dead_lettered_at: null,
          dlq_reason: null,
        },
        {
          id: 'd3',
          event_id: 'event of d3',
          state: 'waiting',
          priority: 3,
          attempts: 1,
          due_at: NOW + 6,
          wake_at: NOW + 6,
          dead_lettered_at: null,
          dlq_reason: null,
        },
        {
          id: 'd5',
          event_id: 'event of d5',
          state: 'dead_lettered',
          priority: 3,
          attempts: 1,
          due_at: null,
          wake_at: null,
          dead_lettered_at: NOW - 2,
          dlq_reason: 'because',
        },
      ],
    )
    assert.deepEqual(
      await store.rows(
        'select tenant_id, recipient_id, id, event_id, matched, attempts, created_at, acknowledged_at from acknowledged_deliveries',
      ),
      [
        {
          tenant_id: 'ten_a',
          recipient_id: 'agt_a',
          id: 'd4',
          event_id: 'event of d4',
          matched: 'int_a',
          attempts: 1,
          created_at: 1,
          acknowledged_at: NOW - 1,
        },
      ],
    )
  })

  test('[STO-4] [SRCH-14] a store whose vectors had no numbers yet keeps all of them', async (t) => {
    const { store, drop } = await emptyStore(engine)
    t.after(drop)
    const rows = [
      ['mem_b', 0],
      ['mem_a', 1],
      ['mem_a', 0],
    ] as const
    const signature = engine.name === 'sqlite' ? '?' : '?::text::bit varying'
    await store.tx(async (tx) => {
      await migrateTo(tx, 9, NOW)
      for (const [id, part] of rows) {
        await tx.run(
          `insert into memory_vectors (tenant_id, memory_id, part, model, text_version, signature, vector, tokens) values ('ten_a', ?, ?, 'm', 2, ${signature}, ?, ?)`,
          [
            id,
            part,
            engine.name === 'sqlite' ? Uint8Array.from([5]) : '101',
            Uint8Array.from([part, 1]),
            Uint8Array.from([part, 2]),
          ],
        )
      }
    })
    await migrate(store, NOW)
    const kept = await store.rows<{ vector: Uint8Array; tokens: Uint8Array }>(
      'select memory_id, part, model, vector, tokens from memory_vectors where tenant_id = ? order by memory_id, part',
      ['ten_a'],
    )
    assert.deepEqual(
      kept.map((row) => ({ ...row, vector: [...row.vector], tokens: [...row.tokens] })),
      [
        { memory_id: 'mem_a', part: 0, model: 'm', vector: [0, 1], tokens: [0, 2] },
        { memory_id: 'mem_a', part: 1, model: 'm', vector: [1, 1], tokens: [1, 2] },
        { memory_id: 'mem_b', part: 0, model: 'm', vector: [0, 1], tokens: [0, 2] },
      ],
    )
  })

  test('[STO-4] [HOOK-6] a webhook in the middle of a rotation keeps its previous secret', async (t) => {
    const { store, drop } = await emptyStore(engine)
    t.after(drop)
    await store.tx(async (tx) => {
      await migrateTo(tx, 10, NOW)
      const add = (id: string, previous: string | null, until: number | null) =>
        tx.run(
          `insert into webhooks (tenant_id, id, source, preset, mapping, secret, previous_secret, previous_until, active, created_at)
           values ('ten_a', ?, 's', null, '{}', 'v1.now=', ?, ?, 1, 1)`,
          [id, previous, until],
        )
      await add('whk_a', 'v1.Be+f/ore=', NOW)
      await add('whk_b', null, null)
    })
    await migrate(store, NOW)
    const rows = await store.rows<{ old_secrets: string }>('select old_secrets from webhooks order by id')
    assert.deepEqual(
      rows.map(({ old_secrets }) => JSON.parse(old_secrets)),
      [[{ sealed: 'v1.Be+f/ore=', until: NOW }], []],
    )
  })

  test('[STO-4] [POL-12] relationships that were not counted yet are added to the stored bytes', async (t) => {
    const { store, drop } = await emptyStore(engine)
    t.after(drop)
    await store.tx(async (tx) => {
      await migrateTo(tx, 33, NOW)
      await tx.run(
        "insert into usage_days (tenant_id, day, metric, shard, amount) values ('ten_a', '', 'stored_bytes', 0, 7)",
      )
      for (const [tenant, id, metadata] of [
        ['ten_a', 'rel_a', null],
        ['ten_a', 'rel_b', '{"é":1}'],
        ['ten_b', 'rel_c', '{}'],
      ] as const)
        await tx.run(
          `insert into memory_relationships
             (tenant_id, id, source_memory_id, target_memory_id, relationship_type, strength, metadata, created_by, created_at)
           values (?, ?, 'mem_a', ?, 'supports', 1, ?, 'agt_a', 1)`,
          [tenant, id, id, metadata],
        )
    })
    await migrate(store, NOW)
    assert.deepEqual(await store.rows('select tenant_id, amount from usage_days order by tenant_id'), [
      { tenant_id: 'ten_a', amount: 7 + 300 + 308 },
      { tenant_id: 'ten_b', amount: 302 },
    ])
  })
})
