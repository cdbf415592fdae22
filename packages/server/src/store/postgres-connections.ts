// The connections to PostgreSQL: a pool for transactions and queries, a few that look-ups share, and one that listens.
// All of them go to the server that takes writes, and what goes wrong with them is said in the store's words.
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Clock } from '../kernel/clock.ts'
import { StoreUnavailable, type Caller, type Observe, type StoreStats, type Value } from './db.ts'
import { makeListening, type Listening } from './postgres-listen.ts'
import { makeLookUps } from './postgres-lookups.ts'
import { makeServers, type Servers } from './postgres-servers.ts'
import { makeConnectionTurns, type ConnectionTurns } from './postgres-turns.ts'
import { BatchingClient, isOutage, isOvertime, isQueueTimeout, setUp } from './postgres-wire.ts'

export interface PostgresOptions {
  url: string
  /** Of a server that follows it, for what may be a little old. */
  readUrl?: string
  clock: Clock
  poolSize?: number
  observe?: Observe
  /** Told of lost and regained connections. */
  warn?: Warn
}

export interface Connections {
  /** Work on a connection of its own, which is given back or, if it was lost, left. */
  withClient<T>(kind: 'tx' | 'query', work: (client: pg.PoolClient) => Promise<T>, caller?: Caller): Promise<T>
  /** A query that somebody asked for. */
  readFor<T>(caller: Caller, work: (client: pg.PoolClient) => Promise<T>): Promise<T>
  /** Over connections that many share: for what is quick. */
  lookUp<R>(sql: string, values: readonly Value[]): Promise<R[]>
  /** Like a look-up, for what is only told: best effort. */
  tell(sql: string, values: readonly Value[]): void
  listen: Listening['listen']
  /** The server takes no writes any more: another one may. */
  doubt(): void
  stats(): StoreStats
  close(): Promise<void>
}

const CONNECT_WITHIN_MS = 3_000
/** A transaction waits this long for a connection that others use. Then the store is busy, which is no outage. */
const QUEUE_WITHIN_MS = 5_000
const STATEMENT_TIMEOUT_MS = 15_000
/** The server keeps the one above; this is for a server that does not respond at all. */
const RESULT_WITHIN_MS = STATEMENT_TIMEOUT_MS + 2_000
/** A look-up is quick, or something is wrong. */
const LOOK_UP_WITHIN_MS = 5_000
/** A shutdown waits this long for what is under way. */
const CLOSE_WITHIN_MS = 5_000
const MAX_WAITING = 5_000
/** Of the connections, for what callers read; a tenant has half of these. */
const SHARE_OF_READS = 0.6

const CONNECTION = { keepAlive: true, application_name: 'sensorium', pipeline: true }
const TIMED = { ...CONNECTION, statement_timeout: STATEMENT_TIMEOUT_MS }

type Warn = (what: string, error: unknown) => void

/** What went wrong, as callers know it: the store is away or busy; anything else is the statement's own fault. */
function translated(error: unknown, connected: boolean): unknown {
  if (error instanceof StoreUnavailable) return error
  const busy = isOvertime(error) || isQueueTimeout(error)
  // A server that lets nobody in, for whatever reason, is as good as away.
  if (!busy && connected && !isOutage(error)) return error
  const message = isQueueTimeout(error) ? 'all connections are in use' : (error as Error).message
  return new StoreUnavailable(message || 'the database cannot be reached', {
    trouble: busy ? 'busy' : 'away',
    cause: error,
  })
}

/** The pool of connections for transactions and queries. */
function makePool(Client: new (options?: pg.ClientConfig) => pg.Client, max: number, warn: Warn): pg.Pool {
  const pool = new pg.Pool({
    ...TIMED,
    Client,
    connectionTimeoutMillis: QUEUE_WITHIN_MS,
    query_timeout: RESULT_WITHIN_MS,
    max,
    idle_in_transaction_session_timeout: 30_000,
  })
  // A connection can be lost between two statements too, while somebody holds it: unheard, that would end the process.
  pool.on('connect', (client) => {
    client.on('error', (error) => warn('a connection was lost', error))
    setUp(client)
  })
  pool.on('error', () => {}) // the same, of a connection that nobody holds: said above
  return pool
}

/** Connections to the server that takes writes. */
function clientOf(servers: Servers): typeof pg.Client {
  return class extends BatchingClient {
    constructor(options: pg.ClientConfig = {}) {
      super({ ...options, connectionString: servers.url(), connectionTimeoutMillis: CONNECT_WITHIN_MS })
      servers.watch(this)
    }
  }
}

/** Work on a connection of the pool, when it has its turn. */
function onPool(pool: pg.Pool, turns: ConnectionTurns, servers: Servers, observe: Observe) {
  return async <T>(
    kind: 'tx' | 'query',
    work: (client: pg.PoolClient) => Promise<T>,
    caller: Caller | undefined,
  ): Promise<T> => {
    const started = performance.now()
    let hasTurn = false
    let client: pg.PoolClient | undefined
    let broken = false
    try {
      if (servers.inDoubt()) await servers.ready()
      const turn = turns.take(caller)
      if (turn) await turn
      hasTurn = true
      client = await pool.connect()
      return await work(client)
    } catch (error) {
      const told = translated(error, client !== undefined)
      broken = told instanceof StoreUnavailable && told.trouble !== 'busy'
      if (broken) servers.doubt()
      throw told
    } finally {
      client?.release(broken)
      if (hasTurn) turns.leave(caller)
      observe(kind, (performance.now() - started) / 1000)
    }
  }
}

export function makeConnections(options: PostgresOptions): Connections {
  const { url, clock, poolSize = 10, observe = () => {}, warn = () => {} } = options
  const underWay = new Set<Promise<unknown>>()
  const servers = makeServers(url, () => underWay.size > 0, warn)
  const Client = clientOf(servers)
  const pool = makePool(Client, poolSize, warn)
  const turns = makeConnectionTurns(poolSize, MAX_WAITING, QUEUE_WITHIN_MS)
  const inTurn = onPool(pool, turns, servers, observe)
  // What reads compute they compute at the database, and who has a few there at a time has his share of its cores: 64
  // lists at once, on ten connections of which most were new, let a neighbour wait for 80 ms.
  const readPlaces = Math.max(1, Math.ceil(poolSize * SHARE_OF_READS))
  const readTurns = makeConnectionTurns(readPlaces, MAX_WAITING, QUEUE_WITHIN_MS, Math.ceil(readPlaces / 2))
  const lookUps = makeLookUps(
    () => new Client({ ...TIMED, statement_timeout: LOOK_UP_WITHIN_MS, query_timeout: LOOK_UP_WITHIN_MS }),
    warn,
  )
  const closing = new AbortController()
  const listening = makeListening(
    async () => {
      await servers.ready()
      const client = new Client(CONNECTION)
      client.on('error', () => {}) // who listens is told; until it does nobody is
      await client.connect()
      return client
    },
    clock,
    warn,
  )

  function whileOpen<T>(work: () => Promise<T>): Promise<T> {
    if (closing.signal.aborted) return Promise.reject(new StoreUnavailable('the store is closed'))
    const running = work()
    underWay.add(running)
    const over = (): void => void underWay.delete(running)
    running.then(over, over)
    return running
  }

  const withClient: Connections['withClient'] = (kind, work, caller) => whileOpen(() => inTurn(kind, work, caller))

  async function readFor<T>(caller: Caller, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const turn = readTurns.take(caller)
    if (turn) await turn
    try {
      return await inTurn('query', work, caller)
    } finally {
      readTurns.leave(caller)
    }
  }

  async function lookUp<R>(sql: string, values: readonly Value[]): Promise<R[]> {
    const started = performance.now()
    try {
      if (servers.inDoubt()) await servers.ready()
      return await lookUps.rows<R>(sql, values)
    } catch (error) {
      const told = translated(error, true)
      if (told instanceof StoreUnavailable) servers.doubt()
      throw told
    } finally {
      observe('query', (performance.now() - started) / 1000)
    }
  }

  return {
    withClient,
    readFor: (caller, work) => whileOpen(() => readFor(caller, work)),
    lookUp: (sql, values) => whileOpen(() => lookUp(sql, values)),
    tell(sql, values) {
      if (closing.signal.aborted) return
      whileOpen(() => lookUps.rows(sql, values)).catch((error) => warn('a wake-up was not sent', error))
    },
    listen: listening.listen,
    doubt: servers.doubt,
    stats() {
      const { connections, idle } = lookUps.stats()
      return {
        waiting: turns.waiting + readTurns.waiting + pool.waitingCount,
        connections: pool.totalCount + connections,
        idle: pool.idleCount + idle,
      }
    },
    async close() {
      if (closing.signal.aborted) return
      closing.abort()
      servers.close()
      await listening.close()
      // A pool that ends leaves those who wait for a connection without one.
      const closed = Promise.allSettled(underWay).then(() => Promise.all([lookUps.close(), pool.end()]))
      await Promise.race([closed, sleep(CLOSE_WITHIN_MS, null, { ref: false })])
    },
  }
}
