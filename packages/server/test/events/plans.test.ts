// No hot path reads a whole table: every statement that publishing, polling and settling run is explained on both
// engines, on a store with enough rows to make the planner choose an index.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  claimRows,
  isFrontHeld,
  isSomethingDue,
  nextPriority,
  readNextDue,
  readSlice,
} from '../../src/delivery/claim-sql.ts'
import {
  tenantsWithLapsed,
  lapsedOfTenant,
  lapsedRow,
  leasedRows,
  acknowledgeRows,
  extendRows,
  setDead,
  setReady,
  eventsSentTo,
  hasLapsed,
} from '../../src/delivery/sql.ts'
import { nextTurn } from '../../src/kernel/step-turns.ts'
import { listDeadLetters } from '../../src/delivery/dead-letters.ts'
import { findDeadLetters } from '../../src/delivery/find-dead-letters.ts'
import { newestSince, pageBacklog } from '../../src/live/sql.ts'
import { queueHealth, recentEvents } from '../../src/delivery/queue.ts'
import {
  countDeliveries,
  deleteAcknowledged,
  emptyEvents,
  forgetEvents,
  pageEvents,
  pageNewestEvents,
  pageOldEvents,
  readChains,
  storedAmong,
} from '../../src/events/sql.ts'
import { pageReceipts } from '../../src/events/receipts.ts'
import { readEarlierEvents } from '../../src/enrichment/sql.ts'
import type { Viewer } from '../../src/memory/see.ts'
import { dueAmong, pagePushed } from '../../src/outbound/sql.ts'
import { readChanges, readInactiveOrPaused, readVersions } from '../../src/routing/sql.ts'
import { findKeyByHash, readStandings } from '../../src/auth/sql.ts'
import type { Db, Value } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { explainGeneric } from '../support/plans.ts'
import { startService, type Service } from '../support/service.ts'

const ROWS = 20_000
/** An event about a subject. */
const EVENT = { id: 'e2', subject: 's', received_at: 5, place: 0 }

/**
 * Statements for which PostgreSQL would choose to read the whole table, because it expects an `exists` to be satisfied
 * within a few rows. For an agent that has none it would read all rows, so the store's setting keeps it to the index.
 */
const SETTING_DECIDES = new Set(['pushed agents'])

/** A row whose columns are all null. */
const NULLS = new Proxy({}, { get: () => null })

/** Collects the statements a function runs, with their values, and runs none of them. */
async function statementsOf(
  real: Db,
  run: (db: Db) => Promise<unknown>,
): Promise<{ sql: string; values: readonly Value[] }[]> {
  const seen: { sql: string; values: readonly Value[] }[] = []
  const note = (sql: string, values: readonly Value[] = []): void => void seen.push({ sql, values })
  await run({
    ...real,
    rows: async (sql, values) => (note(sql, values), []),
    run: async (sql, values) => (note(sql, values), 0),
    move: async ({ from }, _given, where, values) => (note(`delete from ${from} where ${where}`, values), 0),
    lookUp: async (sql, values) => (note(sql, values), NULLS as never),
    insertMany: async () => [],
    runLater: note,
    insertLater: () => {},
    runLast: note,
    lock: async () => {},
    afterCommit: () => {},
    afterRollback: () => {},
  })
  return seen
}

/** Returns the generic plan that the store's connections make once, whatever the values. */
const planForAllValues = async (tx: Db, sql: string): Promise<string> =>
  (await explainGeneric((text) => tx.rows<{ 'QUERY PLAN': string }>(text), sql))
    .map((line) => line['QUERY PLAN'])
    .join('\n')

onBothEngines((engine) => {
  describe('query plans', () => {
    let service: Service
    const box = { tenantId: 'ten_a', recipientId: 'agt_1' }

    before(async () => {
      service = await startService(engine)
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
    after(() => service.stop())

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

    const paths: Record<string, (db: Db) => Promise<unknown>> = {
      'is something due': (db) => isSomethingDue(db, box, 5),
      claim: (db) => claimRows(db, box, 10, 5, 5, 5),
      'claim from a stretch': (db) => claimRows(db, box, 10, 5, 5, 5, { priority: 0, first: 'd2', last: 'd4' }),
      'next priority': (db) => nextPriority(db, box, 5),
      'front of a mailbox': (db) => isFrontHeld(db, box, 100, 10, 5),
      'slice of a mailbox': (db) => readSlice(db, box, 0, 'd2', 100, 5),
      acknowledge: (db) => acknowledgeRows(db, box, ['d2'], 5),
      lapse: (db) => lapsedOfTenant(db, 'ten_a', 5, 100, false),
      'lapse what nobody is at': (db) => lapsedOfTenant(db, 'ten_a', 5, 100, true),
      'lapse one': (db) => lapsedRow(db, 'ten_a', 'd2', 5),
      'has something lapsed': (db) => hasLapsed(db, 'ten_a', 5),
      'events sent': (db) => eventsSentTo(db, box, ['e2', 'e4']),
      'pushed agents': (db) => pagePushed(db, '', 100, 5),
      'due among streams': (db) => dueAmong(db, 'ten_a', ['agt_1', 'agt_2'], 5),
      sweep: (db) => tenantsWithLapsed(db, 5, 100),
      'leased rows': (db) => leasedRows(db, box, ['d2'], 5),
      'set ready': (db) => setReady(db, box, ['d2'], null),
      'set dead': (db) => setDead(db, box, 'd2', 'r', 5),
      extend: (db) => extendRows(db, box, ['d2'], 5, 5),
      'next due': (db) => readNextDue(db, box, 0),
      'dead letters of an agent': (db) => listDeadLetters(db, { tenantId: 'ten_a', recipientId: 'agt_1' }, {}, 0, 50),
      'dead letters of a tenant': (db) => listDeadLetters(db, { tenantId: 'ten_a', recipientId: null }, {}, 0, 50),
      'dead letters that a filter finds': (db) =>
        findDeadLetters(
          db,
          { tenantId: 'ten_a', recipientId: null },
          { reason: 'x', since: '2020-01-01T00:00:00Z' },
          10,
          10,
        ),
      'dead letters of an agent that a filter finds': (db) =>
        findDeadLetters(db, { tenantId: 'ten_a', recipientId: 'agt_1' }, { reason: 'x' }, 10, 10),
      'search of events': (db) => pageEvents(db, 'ten_a', { received_at: 9e15, place: 0, id: '' }, 5, 100),
      'events of a live stream': (db) => newestSince(db, 'ten_a', 5, 100),
      'backlog of a live stream': (db) => pageBacklog(db, 'ten_a', 'd2', 100, 5),
      'receipts of an event': (db) => pageReceipts(db, 'ten_a', 'e2', 'agt_1', 100),
      'recipients of events': (db) => countDeliveries(db, 'ten_a', ['e2'], 100),
      'queue health': (db) => queueHealth(db, box, 5, null, nextTurn),
      'recent events': (db) => recentEvents(db, box, 5),
      'earlier events': (db) => readEarlierEvents(db, { tenantId: 'ten_a', id: 'agt_1' } as Viewer, EVENT, 5),
      chains: (db) => readChains(db, 'ten_a', ['e2'], 32),
      backfill: (db) => pageNewestEvents(db, 'ten_a', { received_at: 100, place: 0, id: 'x' }, 100),
      'old events': (db) => pageOldEvents(db, 'ten_a', { received_at: 0, place: 0, id: '' }, 100, 100),
      'purge deliveries': (db) => deleteAcknowledged(db, 'ten_a', ['e2'], 5),
      'empty events': (db) => emptyEvents(db, 'ten_a', ['e2'], 5),
      'forget events': (db) => forgetEvents(db, 'ten_a', 5, 100),
      'stored among': (db) => storedAmong(db, 'ten_a', ['e2']),
      'routing versions': (db) => readVersions(db, ['ten_a']),
      'routing changes': (db) => readChanges(db, 'ten_a', 5, 100),
      'agents at rest': (db) => readInactiveOrPaused(db, 'ten_a'),
      'key by hash': (db) => findKeyByHash(db, 'x', 5),
      standings: (db) => readStandings(db, db.isSharded, ['ten_a'], ['key_x']),
    }

    // Before anything is analysed: a table that has just grown is read as sparingly as one with statistics.
    for (const name of ['claim', 'acknowledge', 'leased rows', 'set ready', 'set dead', 'extend']) {
      test(`[DLV-1] ${name} finds deliveries by their ids without statistics`, async () => {
        for (const { sql, values } of await statementsOf(service.store, paths[name]!)) {
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
      test(`[DLQ-2] [CON-10] ${name} reads no dead letters of other agents`, async () => {
        const statements = (await statementsOf(service.store, paths[name]!)).filter(({ sql }) =>
          sql.includes('dead_lettered_at is not null'),
        )
        assert.ok(statements.length > 0)
        for (const { sql, values } of statements)
          assert.match(await planOf(sql, values), /deliveries_dead_of_recipient\b/, sql)
      })
    }

    async function earlierBySubject(): Promise<void> {
      const { sql, values } = (await statementsOf(service.store, paths['earlier events']!))[0]!
      assert.match(await planOf(sql, values), /events_by_subject/)
    }
    test('[ENR-3] earlier events are found by their subject, not among all of the tenant', earlierBySubject)

    test('[DLV-1] statistics are gathered', async () => {
      await service.store.tx((tx) => tx.run('analyze'))
      mayScan = true
      const known =
        engine.name === 'sqlite'
          ? "select tbl as name from sqlite_stat1 where tbl = 'deliveries'"
          : `select relname as name from pg_class where relname = 'deliveries' and reltuples = ${ROWS}`
      assert.ok((await service.store.rows(known)).length > 0)
      if (engine.name === 'postgres')
        assert.match(
          await planOf("select id from deliveries where dlq_reason like '%z%'", []),
          /Seq Scan/,
          'it may scan',
        )
    })

    if (engine.name === 'sqlite')
      test('[HND-10] paused agents are found without reading all agents of the tenant', async () => {
        const [{ sql, values }] = (await statementsOf(service.store, paths['agents at rest']!)) as [
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
      test(`[DLV-1] ${name} stays inside the mailbox`, async () => {
        const [{ sql, values }] = (await statementsOf(service.store, paths[name]!)) as [
          { sql: string; values: readonly Value[] },
        ]
        assert.match(await planOf(sql, values, name), /deliveries_open/)
      })
    }

    if (engine.name === 'postgres')
      test('[DLV-1] a claim reads its mailbox in the order of the index, however dear that looks', async () => {
        const { sql } = (await statementsOf(service.store, paths['claim']!))[0]!
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

    test('[ENR-3] so they are with statistics', earlierBySubject)

    test('[REC-9] a page of receipts does not read those of the pages after it', async () => {
      const { sql, values } = (await statementsOf(service.store, paths['receipts of an event']!))[0]!
      const plan = await planOf(sql, values)
      const limited =
        engine.name === 'sqlite'
          ? /(CO-ROUTINE|MATERIALIZE) page\n\s*SEARCH \w+ USING [^\n]*event_id=\? AND recipient_id>\?\)\n(?!\s*USE TEMP)/g
          : /Limit [^\n]*\n\s*->\s+Index Scan using \w+ on \w+ [^\n]*\n\s*Index Cond: [^\n]*recipient_id > /g
      assert.equal(plan.match(limited)?.length, 2, plan)
    })

    for (const [name, run] of Object.entries(paths)) {
      test(`[DLV-1] [PUB-1] ${name} reads through an index`, async () => {
        const statements = await statementsOf(service.store, run)
        assert.ok(statements.length > 0)
        for (const { sql, values } of statements) {
          const plan = await planOf(sql, values, name)
          const scans =
            engine.name === 'sqlite'
              ? /SCAN (?!json_each|CONSTANT|next\b|c\b|chain\b|opened\b|page\b|counted\b|first\b|found\b|others\b|slice\b)(\w+)(?! USING COVERING INDEX deliveries_(dead|open))/
              : /Seq Scan on (deliveries|acknowledged_deliveries|events) /
          assert.doesNotMatch(plan, scans, `${sql}\n${plan}`)
        }
      })
    }
  })
})
