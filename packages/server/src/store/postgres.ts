// PostgreSQL 14 or newer, through a pool. Statements are prepared once per connection under a name of their own; a server that
// restarts is met again by the next query without a restart of ours.
import { createHash } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Clock } from '../kernel/clock.ts'
import { backoffMs } from '../kernel/backoff.ts'
import { StoreUnavailable, type Db, type Dialect, type Insert, type Observe, type Store, type Value } from './db.ts'

export interface PostgresOptions {
  url: string
  clock: Clock
  poolSize?: number
  observe?: Observe
  /** Told of lost and regained connections. */
  warn?: (what: string, error: unknown) => void
}

const STATEMENT_TIMEOUT_MS = 15_000
const MAX_WAITING = 5_000
const MAX_RETRIES = 5

const dialect: Dialect = {
  engine: 'postgres',
  inList: (column) => `${column} = any(?::text[])`,
  list: (values) => values,
  inRows: (column, query) => `${column} = any(array(${query}))`,
  skipLocked: 'for update skip locked',
  forUpdate: 'for update',
}

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

/** The server is away, going away or full: SQLSTATE classes 08, 53, 57 and what the socket says. */
function isOutage(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string }
  if (code && /^(08|53|57P)/.test(code)) return true
  if (code && /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT)/.test(code)) return true
  return /connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable/i.test(message ?? '')
}

const isCollision = (error: unknown): boolean => ['40001', '40P01'].includes((error as { code?: string }).code ?? '')

function onClient(client: pg.ClientBase): Db {
  const query = (sql: string, values: readonly Value[]) => client.query({ ...prepared(sql), values: values as unknown[], types })
  return {
    dialect,
    rows: async <R>(sql: string, values: readonly Value[] = []) => (await query(sql, values)).rows as R[],
    run: async (sql, values = []) => (await query(sql, values)).rowCount ?? 0,
    async insertMany<R>(insert: Insert, rows: readonly (readonly Value[])[]) {
      if (rows.length === 0) return []
      const columns = Object.keys(insert.columns).map((_, i) => rows.map((row) => row[i]))
      return (await query(unnested(insert), columns as unknown as Value[])).rows as R[]
    },
  }
}

export function openPostgres({ url, clock, poolSize = 10, observe = () => {}, warn = () => {} }: PostgresOptions): Store {
  const connection = {
    connectionString: url,
    connectionTimeoutMillis: 3_000,
    keepAlive: true,
    application_name: 'sensorium',
  }
  const pool = new pg.Pool({ ...connection, max: poolSize, statement_timeout: STATEMENT_TIMEOUT_MS, idle_in_transaction_session_timeout: 30_000 })
  // A connection can be lost between two statements too, while somebody holds it: unheard, that would end the process.
  pool.on('connect', (client) => client.on('error', (error) => warn('a connection was lost', error)))
  pool.on('error', () => {}) // the same, of a connection that nobody holds: said above
  const closing = new AbortController()
  const listeners = new Map<string, ((payload: string) => void)[]>()
  let listening: pg.Client | undefined
  const underWay = new Set<Promise<unknown>>()

  function withClient<T>(kind: 'tx' | 'query', work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    if (closing.signal.aborted) return Promise.reject(new StoreUnavailable('the store is closed'))
    const running = withPooled(kind, work)
    underWay.add(running)
    const over = (): void => void underWay.delete(running)
    running.then(over, over)
    return running
  }

  async function withPooled<T>(kind: 'tx' | 'query', work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    if (pool.waitingCount >= MAX_WAITING) throw new StoreUnavailable('too many transactions are waiting')
    const started = performance.now()
    let client: pg.PoolClient | undefined
    let broken = false
    try {
      client = await pool.connect()
      return await work(client)
    } catch (error) {
      broken = client === undefined || isOutage(error)
      if (broken) throw new StoreUnavailable((error as Error).message || 'the database cannot be reached', { cause: error })
      throw error
    } finally {
      client?.release(broken)
      observe(kind, (performance.now() - started) / 1000)
    }
  }

  async function attempt<T>(work: (tx: Db) => Promise<T>): Promise<T> {
    return withClient('tx', async (client) => {
      await client.query('begin')
      try {
        const result = await work(onClient(client))
        await client.query('commit')
        return result
      } catch (error) {
        if (!isOutage(error)) await client.query('rollback')
        throw error
      }
    })
  }

  // The connection that hears NOTIFY. While it is away nothing is heard, and every waiter falls back to its own polling.
  async function keepListening(): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; ) {
      const client = new pg.Client(connection)
      try {
        const lost = new Promise<void>((resolve) => client.on('error', () => resolve()).on('end', () => resolve()))
        await client.connect()
        client.on('notification', ({ channel, payload }) => listeners.get(channel)?.forEach((hear) => hear(payload ?? '')))
        for (const channel of listeners.keys()) await client.query(`listen ${channel}`)
        listening = client
        failures = 0
        // Closed while it was connecting: nobody will end this one.
        if (!closing.signal.aborted) await lost
      } catch (error) {
        if (failures === 0) warn('the connection for wake-ups was lost', error)
      }
      listening = undefined
      await client.end().catch(() => {})
      await clock.sleep(backoffMs({ firstMs: 200, maxMs: 5_000 }, ++failures), closing.signal)
    }
  }
  let hearing: Promise<void> | undefined

  const base: Omit<Store, 'tx'> = {
    dialect,
    rows: <R>(sql: string, values?: readonly Value[]) => withClient('query', (client) => onClient(client).rows<R>(sql, values)),
    async run() {
      throw new Error('a write needs a transaction: use tx')
    },
    async insertMany() {
      throw new Error('a write needs a transaction: use tx')
    },
    async ping() {
      await withClient('query', (client) => client.query('select 1'))
    },
    notify(channel, payload) {
      if (closing.signal.aborted) return
      pool.query('select pg_notify($1, $2)', [channel, payload]).catch((error) => warn('a wake-up was not sent', error))
    },
    listen(channel, hear) {
      listeners.set(channel, [...(listeners.get(channel) ?? []), hear])
      listening?.query(`listen ${channel}`).catch(() => {})
      hearing ??= keepListening()
    },
    stats: () => ({ waiting: pool.waitingCount, connections: pool.totalCount, idle: pool.idleCount }),
    async close() {
      if (closing.signal.aborted) return
      closing.abort()
      await listening?.end().catch(() => {})
      await hearing
      // A pool that ends leaves those who wait for a connection without one.
      await Promise.allSettled(underWay)
      await pool.end()
    },
  }

  return {
    ...base,
    async tx<T>(work: (tx: Db) => Promise<T>): Promise<T> {
      for (let tries = 1; ; tries++) {
        try {
          return await attempt(work)
        } catch (error) {
          // A deadlock or a lost race between writers: nothing was written, the same work may simply be done again.
          if (!isCollision(error) || tries >= MAX_RETRIES) throw error
          // The database's time and not the product's: a clock that a test holds still must not hold this.
          await sleep(backoffMs({ firstMs: 5, maxMs: 100 }, tries))
        }
      }
    },
  }
}
