// How a statement goes over the wire to PostgreSQL: numbered placeholders, a name it is prepared under once per
// connection, and one write to the socket for all the statements of a turn.
import { createHash } from 'node:crypto'
import net from 'node:net'
import pg from 'pg'
import type { Capabilities, Dialect, Insert, LockMode, Move, Value } from './db.ts'
import { columnArray } from './postgres-arrays.ts'

export const dialect: Dialect = {
  engine: 'postgres',
  inList: (column) => `${column} = any(?::text[])`,
  list: (values) => values,
  inRows: (column, query) => `${column} = any(array(${query}))`,
  byIndex: () => '',
  longText: (column, name) => `${column} as ${name}`,
  sentText: (column, name) => `${column} as ${name}`,
  textOfBytes: `convert_from(?::bytea, 'UTF8')`,
  skipLocked: 'for update skip locked',
  forUpdate: 'for update',
  forShare: 'for share',
  forShareOf: (alias) => `for share of ${alias}`,
  // A row if there is a table of this name.
  hasTable: 'select 1 as found where to_regclass(?) is not null',
}

/** Four writers overlap their round trips and those of the disk; more of them only wait for each other. */
export const capabilities: Capabilities = { isShared: true, isSharded: false, writers: 4 }

// All advisory locks of the server share one number space; the second argument sets those of this product apart.
const LOCK_KEY = 'hashtextextended(name, 7310868735938)'

/**
 * One statement for any number of names. The locks are taken in the order of the names, so that two transactions that
 * take several cannot block each other.
 */
export const lockSql = (mode: LockMode): string =>
  `select pg_advisory_xact_lock${mode === 'shared' ? '_shared' : ''}(${LOCK_KEY})
     from (select name from unnest(?::text[]) as name order by name) as wanted`

// bigint columns hold milliseconds and counts, all below 2^53.
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === 20 ? Number : pg.types.getTypeParser(oid as never, format as never)) as typeof pg.types.getTypeParser,
}

const numbered = new Map<string, { name: string; text: string }>()

/** `?` becomes `$1`, `$2`, …, and the statement gets the name it is prepared under. */
function prepared(sql: string): { name: string; text: string } {
  let known = numbered.get(sql)
  if (!known) {
    let n = 0
    const text = sql.replace(/\?/g, () => `$${++n}`)
    known = { name: 's' + createHash('sha256').update(text).digest('hex').slice(0, 24), text }
    numbered.set(sql, known)
  }
  return known
}

const insertSql = new WeakMap<Insert, string>()

// One statement whatever the number of rows: each column is one array.
function unnested(insert: Insert): string {
  let sql = insertSql.get(insert)
  if (!sql) {
    const columns = Object.entries(insert.columns)
    const arrays = columns.map(([, type]) => `?::${type}[]`).join(', ')
    const names = columns.map(([name]) => name).join(', ')
    sql = `insert into ${insert.into} (${names}) select * from unnest(${arrays}) ${insert.conflict ?? ''}`
    if (insert.returning) sql += ` returning ${insert.returning}`
    insertSql.set(insert, sql)
  }
  return sql
}

/** One statement: the transaction that deletes a row also inserts it, whatever else is under way. */
export const moveSql = ({ from, to, columns }: Move, where: string): string =>
  `with gone as (delete from ${from} where ${where} returning *)
   insert into ${to} (${Object.keys(columns).join(', ')}) select ${Object.values(columns).join(', ')} from gone`

/** The errors of the driver that have no code, of connections that were lost after they were opened. */
const LOST = new Set([
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Query read timeout',
])

/** A prepared statement is not in the session, or was there before: a pooler no longer keeps sessions. */
export const isOtherSession = (error: unknown): boolean =>
  ['26000', '42P05'].includes((error as { code?: string }).code ?? '')

/**
 * What this connection has prepared is of no use any more, and a new connection prepares its own: a migration has
 * changed columns since, or a pooler has given the session to another connection.
 */
export const lacksStatement = (error: unknown): boolean =>
  (error as { routine?: string }).routine === 'RevalidateCachedQuery' || isOtherSession(error)

/**
 * The server is away, going away, full or no longer the one that writes: SQLSTATE 08, 53, 57P and 25006, and errors of
 * the socket.
 *
 * An error that has a code is judged by it alone, and the message of any other only as a whole. Messages of our own
 * errors, and of the server's, quote what a caller sent.
 */
export function isOutage(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string }
  if (!code) return LOST.has(message ?? '')
  return (
    lacksStatement(error) ||
    /^(08|53|57P|25006)/.test(code) ||
    /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT)/.test(code)
  )
}

/** A value that must be unique is taken. */
export const isUniqueViolation = (error: unknown): boolean => (error as { code?: string }).code === '23505'

/**
 * A race between writers that this one lost, a deadlock, or a lock that was not free: nothing was written. A value that
 * is taken counts too: every verb checks for it first, so another writer has taken it since, and a retry finds it.
 */
export const isCollision = (error: unknown): boolean =>
  isUniqueViolation(error) || ['40001', '40P01', '55P03'].includes((error as { code?: string }).code ?? '')

/** All connections were in use for as long as a transaction waits for one. */
export const isQueueTimeout = (error: unknown): boolean =>
  (error as Error).message === 'timeout exceeded when trying to connect'

/** The server takes no writes: it was demoted, or is read-only by a setting. */
export const isReadOnlyRefusal = (error: unknown): boolean => (error as { code?: string }).code === '25006'

/** The server said that it did not do it, instead of saying nothing at all. */
export const isRefusal = (error: unknown): boolean =>
  isOtherSession(error) || /^(53|25006)/.test((error as { code?: string }).code ?? '')

/** The statement took longer than its timeout: the server is there, and too busy. */
export const isStatementTimeout = (error: unknown): boolean => (error as { code?: string }).code === '57014'

/** Refused because an earlier statement failed: the transaction was over. */
export const isAbortedTransaction = (error: unknown): boolean => (error as { code?: string }).code === '25P02'

const socketOf = new WeakMap<pg.ClientBase, net.Socket>()

/**
 * A client with a known socket, so that statements sent in the same turn share one write to it. A write of its own
 * would cost each as much as the statement's own work. A look-up takes 21 µs instead of 25, 64 at a time.
 */
export class BatchingClient extends pg.Client {
  constructor(options: pg.ClientConfig) {
    const socket = new net.Socket()
    super({ ...options, stream: () => socket })
    socketOf.set(this, socket)
  }
}

const uncork = (socket: net.Socket): void => socket.uncork()

/** Holds back writes to the socket until the end of this turn. */
function holdWrites(client: pg.ClientBase): void {
  const socket = socketOf.get(client)
  if (!socket || socket.writableCorked > 0) return
  socket.cork()
  process.nextTick(uncork, socket)
}

/**
 * How long a transaction in which nothing happens keeps its locks. A node whose machine lost power or network in the
 * middle of one blocks others for as long: an interest with a backfill holds up all publishes of its tenant. Shorter
 * than the limit of a statement, so that those succeed that wait for the locks; longer than any step between two
 * statements.
 */
const IDLE_IN_TRANSACTION_MS = 10_000

/**
 * Set in the session: a pooler drops or refuses these as startup parameters. With the keepalives the server closes the
 * connections of a machine that is gone after 25 s instead of two hours.
 */
const limitsSql = (statementMs: number): string => `
  set statement_timeout = ${statementMs};
  set idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS};
  set tcp_keepalives_idle = 10;
  set tcp_keepalives_interval = 5;
  set tcp_keepalives_count = 3;`

/**
 * What statements mean, whatever the database or the role is set to. Above `read committed` a transaction does not see
 * what was committed while it waited for a lock: quotas were exceeded, and a backfill missed events. Without
 * `array_nulls` a null of an insert would be the text "null".
 */
export const MEANINGS = `
  set default_transaction_isolation = 'read committed';
  set standard_conforming_strings = on;
  set array_nulls = on;
  set extra_float_digits = 1;`

/**
 * Every statement is planned once per connection, whatever its values, and finds its rows through an index.
 *
 * By default PostgreSQL plans most acknowledgements and claims anew, because a plan for the known values looks a little
 * cheaper. That took a quarter of its CPU at 500 events a second. Without it, the median from publish to receipt is
 * 6 ms instead of 10. A plan that is made while a table is new and small may read the whole table until statistics are
 * gathered: a claim then took 15 ms instead of 1.
 *
 * Citus needs the values of some statements to find their shard, so there PostgreSQL chooses.
 */
const PLANS = `
  set enable_seqscan = off;
  select set_config('plan_cache_mode', 'force_generic_plan', false)
   where not exists (select from pg_extension where extname = 'citus')`

/** Prepares a new session. A statement of it may take `statementMs`. */
export const setUp = (client: pg.ClientBase, statementMs: number): void =>
  void client.query(MEANINGS + limitsSql(statementMs) + PLANS).catch(() => {})

export function send(client: pg.ClientBase, sql: string, values: readonly Value[]): Promise<pg.QueryResult> {
  holdWrites(client)
  return client.query({ ...prepared(sql), values: values as unknown[], types })
}

/**
 * Begins a transaction of claims, whose commit does not wait for the disk.
 *
 * A claim passes the entries of deliveries that were acknowledged since the last vacuum, thirty thousand a minute at
 * 500 events a second. An index scan marks them as dead, and the next one skips them. A bitmap scan reads all of them
 * every time: a third of the database's CPU within half a minute.
 */
export const BEGIN_UNSYNCED = 'begin; set local synchronous_commit = off; set local enable_bitmapscan = off'

/** Sends a command that is not prepared: it begins or ends a transaction. */
export function sendCommand(
  client: pg.ClientBase,
  command: 'begin' | typeof BEGIN_UNSYNCED | 'commit' | 'rollback',
): Promise<pg.QueryResult> {
  holdWrites(client)
  return client.query(command)
}

/** Sends a statement on the connection of a transaction. */
export type Query = (sql: string, values: readonly Value[]) => Promise<pg.QueryResult>

/** Inserts rows, and returns what the insert returns. */
export type SendRows = (
  query: Query,
  insert: Insert,
  rows: readonly (readonly Value[])[],
) => Promise<readonly unknown[]>

export const sendMany: SendRows = async (query, insert, rows) =>
  (
    await query(
      unnested(insert),
      Object.values(insert.columns).map((type, i) => columnArray(rows, i, type)),
    )
  ).rows

/**
 * Moves the rows where `where` holds, and returns how many. The values of `where` come first, then those of the
 * columns.
 */
export type SendMove = (query: Query, move: Move, where: string, values: readonly Value[]) => Promise<number>

export const moveAtOnce: SendMove = async (query, move, where, values) =>
  (await query(moveSql(move, where), values)).rowCount ?? 0
