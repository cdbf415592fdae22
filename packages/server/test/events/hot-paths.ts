// The statements of publishing, polling, settling and looking at mailboxes, for the tests of their plans.
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
  type Mailbox,
} from '../../src/delivery/sql.ts'
import { readEntries, walkOf } from '../../src/audit/sql.ts'
import { interestIds } from '../../src/interests/sql.ts'
import { nextTurn } from '../../src/kernel/step-turns.ts'
import { listDeadLetters } from '../../src/delivery/list-dead-letters.ts'
import { findDeadLetters } from '../../src/delivery/find-dead-letters.ts'
import { newestSince, pageBacklog } from '../../src/live/sql.ts'
import { OPEN_PAGE, openPages } from '../../src/delivery/open-deliveries.ts'
import { queueHealth } from '../../src/delivery/queue-health.ts'
import { recentEvents } from '../../src/delivery/recent-events.ts'
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
import { readChanges, readInactiveOrPaused, readRoutingVersions } from '../../src/routing/sql.ts'
import { findKeyByHash, readStandings } from '../../src/auth/sql.ts'
import type { Db, Value } from '../../src/store/db.ts'

const box = { tenantId: 'ten_a', recipientId: 'agt_1' }
/** An event about a subject. */
const EVENT = { id: 'e2', subject: 's', received_at: 5, place: 0 }

/** A row whose columns are all null. */
const NULLS = new Proxy({}, { get: () => null })

/** Collects the statements a function runs, with their values, and runs none of them. */
export async function statementsOf(
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

/** Reads a mailbox whose first page is full, so that the statements of the pages after it are run too. */
async function readSeveralPages(db: Db, box: Mailbox): Promise<void> {
  let read = 0
  const rows = async <R>(sql: string, values?: readonly Value[]): Promise<R[]> => {
    await db.rows(sql, values)
    return Array(read++ === 0 ? OPEN_PAGE : 0).fill({ priority: 0, id: 'd2' })
  }
  for await (const _ of openPages({ ...db, rows }, box, nextTurn));
}

/** What is done often, or over much, by a name for the test. */
export const HOT_PATHS: Record<string, (db: Db) => Promise<unknown>> = {
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
  'set dead': (db) => setDead(db, box, ['d2'], 'r', 5),
  extend: (db) => extendRows(db, box, ['d2'], 5, 5),
  'next due': (db) => readNextDue(db, box, 0),
  'dead letters of an agent': (db) =>
    listDeadLetters(db, { tenantId: 'ten_a', recipientId: 'agt_1' }, {}, 0, 50, nextTurn),
  'dead letters of a tenant': (db) =>
    listDeadLetters(db, { tenantId: 'ten_a', recipientId: null }, {}, 0, 50, nextTurn),
  'dead letters that a filter finds': (db) =>
    findDeadLetters(db, { tenantId: 'ten_a', recipientId: null }, { reason: 'x', since: '2020-01-01T00:00:00Z' }, 10, {
      look: 10,
      pause: nextTurn,
    }),
  'dead letters of an agent that a filter finds': (db) =>
    findDeadLetters(db, { tenantId: 'ten_a', recipientId: 'agt_1' }, { reason: 'x' }, 10, {
      look: 10,
      pause: nextTurn,
    }),
  'search of events': (db) => pageEvents(db, 'ten_a', { received_at: 9e15, place: 0, id: '' }, 5, 100),
  'events of a live stream': (db) => newestSince(db, 'ten_a', 5, 100),
  'backlog of a live stream': (db) => pageBacklog(db, 'ten_a', 'd2', 100, 5),
  'receipts of an event': (db) => pageReceipts(db, 'ten_a', 'e2', 'agt_1', 100),
  'recipients of events': (db) => countDeliveries(db, 'ten_a', ['e2', 'e4'], 100),
  'queue health': (db) => queueHealth(db, box, 5, null, nextTurn),
  'pages of a queue': (db) => readSeveralPages(db, box),
  'recent events': (db) => recentEvents(db, box, 5),
  'earlier events': (db) => readEarlierEvents(db, { tenantId: 'ten_a', id: 'agt_1' } as Viewer, EVENT, 5),
  chains: (db) => readChains(db, 'ten_a', ['e2'], 32),
  backfill: (db) => pageNewestEvents(db, 'ten_a', { received_at: 100, place: 0, id: 'x' }, 100),
  'old events': (db) => pageOldEvents(db, 'ten_a', { received_at: 0, place: 0, id: '' }, 100, 100),
  'purge deliveries': (db) => deleteAcknowledged(db, 'ten_a', ['e2'], 5),
  'empty events': (db) => emptyEvents(db, 'ten_a', ['e2'], 5),
  'forget events': (db) => forgetEvents(db, 'ten_a', 5, 100),
  'stored among': (db) => storedAmong(db, 'ten_a', ['e2']),
  'routing versions': (db) => readRoutingVersions(db, ['ten_a']),
  'routing changes': (db) => readChanges(db, 'ten_a', 5, 100),
  'agents at rest': (db) => readInactiveOrPaused(db, 'ten_a'),
  'key by hash': (db) => findKeyByHash(db, 'x', 5),
  'interests of an agent': (db) => interestIds(db, 'ten_a', 'agt_1'),
  'audit log by actor': (db) => readEntries(db, walkOf('ten_a', { actor: 'agt_1' }), null, 10, 0),
  'audit log by action': (db) => readEntries(db, walkOf('ten_a', { action: 'agents.create' }), null, 10, 0),
  standings: (db) => readStandings(db, db.isSharded, ['ten_a'], ['key_x']),
}
