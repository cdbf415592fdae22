// PostgreSQL 14 or newer, through a pool. Statements are prepared once per connection under a name of their own; a
// server that restarts is met again by the next query without a restart of ours.
//
// Statements are sent without waiting for the answers before them (pipelining): `begin` goes out with the first
// statement of a transaction, and what nobody waits for goes out with its `commit`.
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Clock } from '../kernel/clock.ts'
import { backoffMs } from '../kernel/backoff.ts'
import { StoreUnavailable, writesNeedTx, type Db, type Insert, type Observe, type Store, type Value } from './db.ts'
import { makeLookUps } from './postgres-lookups.ts'
import {
  batchingSocket,
  capabilities,
  dialect,
  isAftermath,
  isCollision,
  isOutage,
  isOvertime,
  lockSql,
  moveSql,
  send,
  sendMany,
  setUp,
} from './postgres-wire.ts'

export interface PostgresOptions {
  url: string
  clock: Clock
  poolSize?: number
  observe?: Observe
  /** Told of lost and regained connections. */
  warn?: (what: string, error: unknown) => void
}

const STATEMENT_TIMEOUT_MS = 15_000
/** The server keeps the one above; this is for a server that does not answer at all. */
const ANSWER_WITHIN_MS = STATEMENT_TIMEOUT_MS + 2_000
/** A look-up is quick, or something is wrong. */
const LOOK_UP_WITHIN_MS = 5_000
const PING_WITHIN_MS = 2_000
/** A shutdown waits this long for what is under way. */
const CLOSE_WITHIN_MS = 5_000
const MAX_WAITING = 5_000
const MAX_RETRIES = 5

/** The statements of one transaction; `later` takes the answers that nobody waits for. */
function onClient(client: pg.ClientBase, later: (answer: Promise<unknown>) => void): Db {
  const rows = async <R>(sql: string, values: readonly Value[] = []): Promise<R[]> =>
    (await send(client, sql, values)).rows as R[]
  return {
    dialect,
    ...capabilities,
    rows,
    lookUp: async <R>(sql: string, values?: readonly Value[]) => (await rows<R>(sql, values))[0],
    run: async (sql, values = []) => (await send(client, sql, values)).rowCount ?? 0,
    insertMany: async <R>(insert: Insert, given: readonly (readonly Value[])[]) =>
      given.length === 0 ? [] : ((await sendMany(client, insert, given)).rows as R[]),
    move: async (move, given, where, values) =>
      (await send(client, moveSql(move, where), [...values, ...given])).rowCount ?? 0,
    runLater: (sql, values = []) => later(send(client, sql, values)),
    runLast: (sql, values = []) => later(send(client, sql, values)),
    insertLater: (insert, given) => (given.length === 0 ? undefined : later(sendMany(client, insert, given))),
    lock(names, mode) {
      const held = send(client, lockSql(mode), [names]).then(() => {})
      later(held)
      return held
    },
  }
}

export function openPostgres({
  url,
  clock,
  poolSize = 10,
  observe = () => {},
  warn = () => {},
}: PostgresOptions): Store {
  const connection = {
    connectionString: url,
    connectionTimeoutMillis: 3_000,
    keepAlive: true,
    application_name: 'sensorium',
  }
  const pipelined = { ...connection, pipeline: true, stream: batchingSocket, statement_timeout: STATEMENT_TIMEOUT_MS }
  const pool = new pg.Pool({
    ...pipelined,
    query_timeout: ANSWER_WITHIN_MS,
    max: poolSize,
    idle_in_transaction_session_timeout: 30_000,
  })
  const lookUps = makeLookUps(
    { ...pipelined, statement_timeout: LOOK_UP_WITHIN_MS, query_timeout: LOOK_UP_WITHIN_MS },
    warn,
  )
  // A connection can be lost between two statements too, while somebody holds it: unheard, that would end the process.
  pool.on('connect', (client) => {
    client.on('error', (error) => warn('a connection was lost', error))
    setUp(client)
  })
  pool.on('error', () => {}) // the same, of a connection that nobody holds: said above
  const closing = new AbortController()
  const listeners = new Map<string, ((payload: string) => void)[]>()
  let listening: pg.Client | undefined
  const underWay = new Set<Promise<unknown>>()

  function whileOpen<T>(work: () => Promise<T>): Promise<T> {
    if (closing.signal.aborted) return Promise.reject(new StoreUnavailable('the store is closed'))
    const running = work()
    underWay.add(running)
    const over = (): void => void underWay.delete(running)
    running.then(over, over)
    return running
  }

  const withClient = <T>(kind: 'tx' | 'query', work: (client: pg.PoolClient) => Promise<T>): Promise<T> =>
    whileOpen(() => withPooled(kind, work))

  const unavailable = (error: unknown): StoreUnavailable =>
    new StoreUnavailable((error as Error).message || 'the database cannot be reached', { cause: error })

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
      throw broken || isOvertime(error) ? unavailable(error) : error
    } finally {
      client?.release(broken)
      observe(kind, (performance.now() - started) / 1000)
    }
  }

  async function lookUpAll<R>(sql: string, values: readonly Value[]): Promise<R[]> {
    const started = performance.now()
    try {
      return await lookUps.rows<R>(sql, values)
    } catch (error) {
      // Nobody reached the server, or it went away: said as an outage.
      throw isOutage(error) || isOvertime(error) ? unavailable(error) : error
    } finally {
      observe('query', (performance.now() - started) / 1000)
    }
  }

  async function attempt<T>(work: (tx: Db) => Promise<T>): Promise<T> {
    return withClient('tx', async (client) => {
      const sent: Promise<unknown>[] = []
      // Heard of when the transaction ends; until then a failure must not count as one that nobody handles.
      const later = (answer: Promise<unknown>): void => {
        answer.catch(() => {})
        sent.push(answer)
      }
      later(client.query('begin'))
      try {
        const result = await work(onClient(client, later))
        const commit = client.query('commit')
        later(commit)
        for (const answer of sent) await answer
        // A statement failed and somebody kept quiet about it.
        if ((await commit).command !== 'COMMIT') throw new Error('the transaction was rolled back')
        return result
      } catch (error) {
        // If the commit went out as well, the server has rolled back already, and this does nothing.
        if (!isOutage(error)) await client.query('rollback')
        // What failed first is why the rest was refused.
        throw isAftermath(error)
          ? await Promise.all(sent).then(
              () => error,
              (first: unknown) => first,
            )
          : error
      }
    })
  }

  // The connection that hears NOTIFY. While it is away nothing is heard, and every waiter falls back to its own
  // polling.
  async function keepListening(): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; ) {
      const client = new pg.Client(connection)
      try {
        const lost = new Promise<void>((resolve) => client.on('error', () => resolve()).on('end', () => resolve()))
        await client.connect()
        client.on('notification', ({ channel, payload }) =>
          listeners.get(channel)?.forEach((hear) => hear(payload ?? '')),
        )
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
    name: 'postgres',
    dialect,
    ...capabilities,
    rows: <R>(sql: string, values: readonly Value[] = []) =>
      withClient('query', async (client) => (await send(client, sql, values)).rows as R[]),
    lookUp: async <R>(sql: string, values: readonly Value[] = []) =>
      (await whileOpen(() => lookUpAll<R>(sql, values)))[0],
    beside: {
      dialect,
      rows: <R>(sql: string, values: readonly Value[] = []) => whileOpen(() => lookUpAll<R>(sql, values)),
    },
    ...writesNeedTx,
    async ping() {
      const asked = withClient('query', (client) =>
        client.query<{ readonly: string }>("select current_setting('transaction_read_only') as readonly"),
      )
      const answer = await Promise.race([asked, sleep(PING_WITHIN_MS, null, { ref: false })])
      if (answer === null) throw new StoreUnavailable('the database does not answer')
      if (answer.rows[0]?.readonly === 'on') throw new StoreUnavailable('the database takes no writes')
    },
    async serverTime() {
      const row = await base.lookUp<{ now: number }>(
        'select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now',
      )
      return row!.now
    },
    notify(channel, payload) {
      if (closing.signal.aborted) return
      whileOpen(() => lookUps.rows('select pg_notify(?, ?)', [channel, payload])).catch((error) =>
        warn('a wake-up was not sent', error),
      )
    },
    listen(channel, hear) {
      listeners.set(channel, [...(listeners.get(channel) ?? []), hear])
      listening?.query(`listen ${channel}`).catch(() => {})
      hearing ??= keepListening()
    },
    stats() {
      const { connections, idle } = lookUps.stats()
      return { waiting: pool.waitingCount, connections: pool.totalCount + connections, idle: pool.idleCount + idle }
    },
    async close() {
      if (closing.signal.aborted) return
      closing.abort()
      await listening?.end().catch(() => {})
      await hearing
      // A pool that ends leaves those who wait for a connection without one.
      const closed = Promise.allSettled(underWay).then(() => Promise.all([lookUps.close(), pool.end()]))
      await Promise.race([closed, sleep(CLOSE_WITHIN_MS, null, { ref: false })])
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
