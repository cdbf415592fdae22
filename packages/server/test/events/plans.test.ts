// No hot path reads a whole table: every statement that publishing, polling and settling run is explained on both
// engines, on a store with enough rows to make the planner choose an index.
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { before, describe, test } from 'node:test'
import { databaseFile } from '../../src/store/data-directory.ts'
import type { Db, Value } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { explainGeneric } from '../support/plans.ts'
import { whyNotOfRecipient } from '../support/recipient-plans.ts'
import { serviceForSuite } from '../support/service.ts'
import { HOT_PATHS, statementsOf } from './hot-paths.ts'

const ROWS = 20_000

/**
 * Statements for which PostgreSQL would choose to read the whole table, because it expects an `exists` to be satisfied
 * within a few rows. For an agent that has none it would read all rows, so the store's setting keeps it to the index.
 */
const SETTING_DECIDES = new Set(['pushed agents'])

/** Returns the generic plan that the store's connections make once, whatever the values. */
const planForAllValues = async (tx: Db, sql: string): Promise<string> =>
  (await explainGeneric((text) => tx.rows<{ 'QUERY PLAN': string }>(text), sql))
    .map((line) => line['QUERY PLAN'])
    .join('\n')

onBothEngines((engine) => {
  describe('query plans', () => {
    const service = serviceForSuite(engine)
    before(async () => {
      const states = ['ready', 'leased', 'waiting', 'dead_lettered']
      const numbers =
        engine.name === 'sqlite' ? 'with recursive g(n) as (select 1 union all select n + 1 from g where n < ?) ' : ''
      const from = engine.name === 'sqlite' ? 'g' : 'generate_series(1, ?::int) as g(n)'
      await service.store.tx(async (tx) => {
        await tx.run(
          `insert into events (tenant_id, id, type, source, sender_id, envelope, received_at)
           ${numbers}select 'ten_' || case when n % 2 = 0 then 'a' else 'b' end, 'e' || n, 't', '/', 's', '{}', n from ${from}`,
          [ROWS],
        )
        await tx.run(
          `insert into deliveries (tenant_id, recipient_id, id, event_id, state, priority, enrichment, matched, attempts, due_at, wake_at, created_at, dead_lettered_at, dlq_reason)
           ${numbers}select 'ten_' || case when n % 2 = 0 then 'a' else 'b' end, 'agt_' || (n % 6), 'd' || n, 'e' || n,
             case n % 4 ${states.map((state, i) => `when ${i} then '${state}'`).join(' ')} end, 0, 'none', '', 1, case when n % 4 in (1, 2) then n end,
             case when n % 4 = 2 then n end, n, case when n % 4 = 3 then n end, 'r' from ${from}`,
          [ROWS],
        )
        await tx.run(
          `insert into acknowledged_deliveries (acknowledged_at, created_at, attempts, tenant_id, event_id, recipient_id, id, matched)
           ${numbers}select n, n, 1, 'ten_' || case when n % 2 = 0 then 'a' else 'b' end, 'e' || n, 'agt_' || (n % 50), 'a' || n, '' from ${from}`,
          [ROWS],
        )
      })
    })

    // The store's own connections discourage sequential scans. Here PostgreSQL may choose one, so that a plan without
    // one is due to the index alone. Before there are statistics, the store's setting stays.
    let mayScan = false
    async function planOf(sql: string, values: readonly Value[], name = ''): Promise<string> {
      return service.store.tx(async (tx) => {
        if (mayScan && engine.name === 'postgres' && !SETTING_DECIDES.has(name))
          await tx.run('set local enable_seqscan = on')
        if (engine.name === 'postgres') return planForAllValues(tx, sql)
        const rows = await tx.rows<{ detail: string }>(`explain query plan ${sql}`, values)
        return rows.map(({ detail }) => detail).join('\n')
      })
    }

    // Before anything is analysed: a table that has just grown is read as sparingly as one with statistics.
    for (const name of ['claim', 'acknowledge', 'leased rows', 'set ready', 'set dead', 'extend']) {
      test(`[SCL-9] ${name} finds deliveries by their ids without statistics`, async () => {
        for (const { sql, values } of await statementsOf(service.store, HOT_PATHS[name]!)) {
          const plan = await planOf(sql, values)
          assert.match(
            plan,
            engine.name === 'sqlite'
              ? /SEARCH deliveries USING PRIMARY KEY \(tenant_id=\? AND id=\?\)/
              : /(on|using) deliveries_by_id/,
            plan,
          )
        }
      })
    }

    for (const name of ['dead letters of an agent', 'dead letters of an agent that a filter finds', 'queue health']) {
      test(`[SCL-9] ${name} reads no dead letters of other agents`, async () => {
        const statements = (await statementsOf(service.store, HOT_PATHS[name]!)).filter(({ sql }) =>
          sql.includes('dead_lettered_at is not null'),
        )
        assert.ok(statements.length > 0)
        for (const { sql, values } of statements)
          assert.match(await planOf(sql, values), /deliveries_dead_of_recipient\b/, sql)
      })
    }

    async function earlierBySubject(): Promise<void> {
      const { sql, values } = (await statementsOf(service.store, HOT_PATHS['earlier events']!))[0]!
      assert.match(await planOf(sql, values), /events_by_subject/)
    }
    test('[SCL-9] earlier events are found by their subject, not among all of the tenant', earlierBySubject)

    // The service never gathers any on SQLite (store/statistics.ts). With them, SQLite chose better than it does for
    // users.
    if (engine.name === 'postgres')
      test('[SCL-9] statistics are gathered', async () => {
        await service.store.tx((tx) => tx.run('analyze'))
        mayScan = true
        const known = `select relname as name from pg_class where relname = 'deliveries' and reltuples = ${ROWS}`
        assert.ok((await service.store.rows(known)).length > 0)
        assert.match(
          await planOf("select id from deliveries where dlq_reason like '%z%'", []),
          /Seq Scan/,
          'it may scan',
        )
      })
    else
      test('[SCL-10] no statement reads deliveries of other recipients than the one it names', async () => {
        const db = new DatabaseSync(databaseFile(service.env['DATA_DIR']!), { readOnly: true })
        const wide: Record<string, string> = {}
        for (const [name, run] of Object.entries(HOT_PATHS))
          for (const { sql } of await statementsOf(service.store, run)) {
            const why = whyNotOfRecipient(db, sql)
            if (why !== null) wide[name] = why
          }
        const byTenant = 'select count(*) as n from deliveries where tenant_id = ? and recipient_id = ? and id > ?'
        const detected = whyNotOfRecipient(db, byTenant)
        db.close()
        assert.deepEqual(wide, {})
        assert.match(detected!, /PRIMARY KEY \(tenant_id=\? AND id>\?\)/)
      })

    if (engine.name === 'sqlite')
      for (const name of [
        'recipients of events',
        'interests of an agent',
        'audit log by actor',
        'audit log by action',
      ]) {
        test(`[SCL-11] ${name}: not all rows of the tenant are read`, async () => {
          for (const { sql, values } of await statementsOf(service.store, HOT_PATHS[name]!))
            assert.doesNotMatch(await planOf(sql, values), /\(tenant_id=\?( AND \w+[<>]\?)*\)/)
        })
      }

    if (engine.name === 'sqlite')
      test('[SCL-9] paused agents are found without reading all agents of the tenant', async () => {
        const [{ sql, values }] = (await statementsOf(service.store, HOT_PATHS['agents at rest']!)) as [
          { sql: string; values: readonly Value[] },
        ]
        const plan = await planOf(sql, values)
        assert.match(plan, /agents_by_status \(tenant_id=\? AND status=\?\)[^]*agents_paused/, plan)
      })

    // One tenant has most deliveries, shared by few recipients. PostgreSQL then looked up one mailbox by the tenant's
    // key, and an emptied mailbox cost a walk through everything before the first delivery of another recipient.
    for (const name of [
      'is something due',
      'claim',
      'next due',
      'claim from a stretch',
      'next priority',
      'front of a mailbox',
      'slice of a mailbox',
      'queue health',
      'pushed agents',
      'due among streams',
    ]) {
      test(`[SCL-9] ${name} stays inside the mailbox`, async () => {
        const [{ sql, values }] = (await statementsOf(service.store, HOT_PATHS[name]!)) as [
          { sql: string; values: readonly Value[] },
        ]
        assert.match(await planOf(sql, values, name), /deliveries_open/)
      })
    }

    if (engine.name === 'postgres')
      test('[SCL-9] a claim reads its mailbox in the order of the index, however dear that looks', async () => {
        const { sql } = (await statementsOf(service.store, HOT_PATHS['claim']!))[0]!
        const planOfClaim = (mayBeLost: boolean): Promise<string> =>
          service.store.tx(
            async (tx) => {
              await tx.run('set local random_page_cost = 1000')
              return planForAllValues(tx, sql)
            },
            { mayBeLost },
          )
        assert.match(await planOfClaim(false), /Bitmap Index Scan on deliveries_open/, 'by itself it would not')
        assert.doesNotMatch(await planOfClaim(true), /Bitmap|Sort/)
      })

    if (engine.name === 'postgres') test('[SCL-9] so they are with statistics', earlierBySubject)

    test('[REC-9] [SCL-9] a page of receipts does not read those of the pages after it', async () => {
      const { sql, values } = (await statementsOf(service.store, HOT_PATHS['receipts of an event']!))[0]!
      const plan = await planOf(sql, values)
      const limited =
        engine.name === 'sqlite'
          ? /(CO-ROUTINE|MATERIALIZE) page\n\s*SEARCH \w+ USING [^\n]*event_id=\? AND recipient_id>\?\)\n(?!\s*USE TEMP)/g
          : /Limit [^\n]*\n\s*->\s+Index Scan using \w+ on \w+ [^\n]*\n\s*Index Cond: [^\n]*recipient_id > /g
      assert.equal(plan.match(limited)?.length, 2, plan)
    })

    for (const [name, run] of Object.entries(HOT_PATHS)) {
      test(`[SCL-9] ${name} reads through an index`, async () => {
        const statements = await statementsOf(service.store, run)
        assert.ok(statements.length > 0)
        for (const { sql, values } of statements) {
          const plan = await planOf(sql, values, name)
          const scans =
            engine.name === 'sqlite'
              ? /SCAN (?!json_each|CONSTANT|next\b|c\b|chain\b|opened\b|page\b|counted\b|first\b|found\b|others\b|slice\b|edge\b)(\w+)(?! USING COVERING INDEX deliveries_(dead|open))/
              : /Seq Scan on (deliveries|acknowledged_deliveries|events) /
          assert.doesNotMatch(plan, scans, `${sql}\n${plan}`)
        }
      })
    }
  })
})
