// The connections to PostgreSQL: a pool for transactions and queries, a few that look-ups share, and one that listens.
// All of them go to the server that takes writes, and their errors are translated to those of the store.
import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Clock } from '../kernel/clock.ts'
import { StoreUnavailable, type Caller, type Observe, type StoreStats, type Value } from './db.ts'
import { makeListening, messageSql, type Listening } from './postgres-listen.ts'
import { makeLookUps, type LookUps } from './postgres-lookups.ts'
import { makeServers, type Servers } from './postgres-servers.ts'
import { makeConnectionTurns, type ConnectionTurns } from './postgres-turns.ts'
import {
  BatchingClient,
  isOutage,
  isQueueTimeout,
  isReadOnlyRefusal,
  isStatementTimeout,
  MEANINGS,
  setUp,
} from './postgres-wire.ts'

export interface PostgresOptions {
  url: string
  /** The URL of a replica, for reads that may be a little stale. */
  readUrl?: string
  clock: Clock
  poolSize?: number
  observe?: Observe
  /** Called when connections are lost or regained. */
  warn?: Warn
}

export interface PooledConnections {
  /** Runs work on a connection of its own, which is returned to the pool or, if it was lost, dropped. */
  withClient<T>(kind: 'tx' | 'query', work: (client: pg.PoolClient) => Promise<T>, caller?: Caller): Promise<T>
  /** Runs a transaction on a new connection that has no limits of time: a change of the schema may take minutes. */
  withPatientClient<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T>
  /** Runs a query on behalf of a caller, in that caller's turn. */
  readFor<T>(caller: Caller, work: (client: pg.PoolClient) => Promise<T>): Promise<T>
  /** Runs a quick query on connections that many share. */
  lookUp<R>(sql: string, values: readonly Value[]): Promise<R[]>
  /** The name by which this store knows its own messages. */
  node: string
  /** Sent in a transaction of its own, which writes nothing and so waits for no disk. */
  notify(channel: string, payload: string): void
  listen: Listening['listen']
  /** Reports that the server takes no writes any more: another one may. */
  markDemoted(): void
  stats(): StoreStats
  close(): Promise<void>
}

const CONNECT_WITHIN_MS = 3_000
/** How long a transaction waits for a connection. After that the store is busy, which is not an outage. */
const QUEUE_WITHIN_MS = 5_000
const STATEMENT_TIMEOUT_MS = 15_000
/** The server enforces the timeout above; this one is for a server that does not respond at all. */
const RESULT_WITHIN_MS = STATEMENT_TIMEOUT_MS + 2_000
/** A look-up is quick, or something is wrong. */
const LOOK_UP_WITHIN_MS = 5_000
/** How long a shutdown waits for running work. */
const CLOSE_WITHIN_MS = 5_000
const MAX_WAITING = 5_000
/** The share of the connections for reads of callers; one tenant gets at most half of it. */
const SHARE_OF_READS = 0.6

/**
 * With this delay a connection that was dropped without a word is lost after 20 s; by default it is after two hours.
 */
const CONNECTION = {
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  application_name: 'sensorium',
  pipeline: true,
}

/** A database or a role may have limits of its own. */
const NO_LIMITS = 'set statement_timeout = 0; set idle_in_transaction_session_timeout = 0'

type Warn = (what: string, error: unknown) => void

/**
 * Translates an error for callers: the store is away or busy. Any other error is the statement's own and stays as it
 * is.
 */
function translated(error: unknown, connected: boolean): unknown {
  if (error instanceof StoreUnavailable) return error
  const busy = isStatementTimeout(error) || isQueueTimeout(error)
  // A server that lets nobody in, for whatever reason, counts as away.
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
    ...CONNECTION,
    Client,
    connectionTimeoutMillis: QUEUE_WITHIN_MS,
    query_timeout: RESULT_WITHIN_MS,
    max,
  })
  // A connection can also be lost between two statements, while it is in use. Unhandled, that error would end the
  // process.
  pool.on('connect', (client) => {
    client.on('error', (error) => warn('a connection was lost', error))
    setUp(client, STATEMENT_TIMEOUT_MS)
  })
  pool.on('error', () => {}) // the same for an idle connection; it is reported above
  return pool
}

/** Returns a class of clients that connect to the server that takes writes, and stay at no other. */
function clientOf(servers: Servers): typeof pg.Client {
  return class extends BatchingClient {
    constructor(options: pg.ClientConfig = {}) {
      super({ ...options, connectionString: servers.url(), connectionTimeoutMillis: CONNECT_WITHIN_MS })
      servers.watch(this)
    }

    // The pool passes a callback, everybody else takes the promise.
    override connect(): Promise<pg.Client>
    override connect(callback: (error: Error) => void): void
    override connect(callback?: (error: Error, client?: pg.Client) => void): Promise<pg.Client> | void {
      const connected = super.connect().then(() => servers.examineNew(this))
      if (!callback) return connected.then(() => this)
      connected.then(() => callback(null as never, this), callback)
    }
  }
}

/** Returns a function that runs work on a connection of the pool when the caller's turn comes. */
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
      if (isReadOnlyRefusal(error)) servers.markDemoted()
      else if (broken) servers.markInDoubt(error)
      throw told
    } finally {
      client?.release(broken)
      if (hasTurn) turns.leave(caller)
      observe(kind, (performance.now() - started) / 1000)
    }
  }
}

/** Returns a function that runs work on a new connection of its own. */
function onOwnConnection(Client: typeof pg.Client, servers: Servers, warn: Warn) {
  return async <T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> => {
    await servers.ready()
    const client = new Client(CONNECTION)
    client.on('error', (error) => warn('a connection was lost', error))
    let connected = false
    try {
      await client.connect()
      connected = true
      return await work(client)
    } catch (error) {
      throw translated(error, connected)
    } finally {
      await client.end().catch(() => {}) // it was lost
    }
  }
}

/** Returns a function that runs a look-up on the connections that look-ups share. */
function onLookUps(lookUps: LookUps, servers: Servers, observe: Observe): LookUps['rows'] {
  return async (sql, values) => {
    const started = performance.now()
    try {
      if (servers.inDoubt()) await servers.ready()
      return await lookUps.rows(sql, values)
    } catch (error) {
      const told = translated(error, true)
      if (told instanceof StoreUnavailable && told.trouble !== 'busy') servers.markInDoubt(error)
      throw told
    } finally {
      observe('query', (performance.now() - started) / 1000)
    }
  }
}

/** `mayBeStandby` is for the connections to a replica. */
export function makePooledConnections(options: PostgresOptions, mayBeStandby = false): PooledConnections {
  const { url, clock, poolSize = 10, observe = () => {}, warn = () => {} } = options
  const underWay = new Set<Promise<unknown>>()
  const servers = makeServers(url, mayBeStandby, () => underWay.size > 0, warn)
  const Client = clientOf(servers)
  const pool = makePool(Client, poolSize, warn)
  const turns = makeConnectionTurns(poolSize, MAX_WAITING, QUEUE_WITHIN_MS)
  const inTurn = onPool(pool, turns, servers, observe)
  // Reads do their computing at the database, so a tenant that has a few of them at a time gets a fair share of its
  // cores. 64 lists at once, on ten connections of which most were new, made a neighbour wait for 80 ms.
  const readPlaces = Math.max(1, Math.ceil(poolSize * SHARE_OF_READS))
  const readTurns = makeConnectionTurns(readPlaces, MAX_WAITING, QUEUE_WITHIN_MS, Math.ceil(readPlaces / 2))
  const newLookUp = (): pg.Client => new Client({ ...CONNECTION, query_timeout: LOOK_UP_WITHIN_MS })
  const lookUps = makeLookUps(newLookUp, LOOK_UP_WITHIN_MS, warn)
  const lookUp = onLookUps(lookUps, servers, observe)
  const onOwn = onOwnConnection(Client, servers, warn)
  const closing = new AbortController()
  const node = randomBytes(6).toString('hex')
  const listening = makeListening(
    async () => {
      await servers.ready()
      const client = new Client({ ...CONNECTION, query_timeout: LOOK_UP_WITHIN_MS })
      client.on('error', () => {}) // postgres-listen.ts adds its own handler; until then errors need this one
      await client.connect()
      setUp(client, LOOK_UP_WITHIN_MS)
      return client
    },
    node,
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

  const withClient: PooledConnections['withClient'] = (kind, work, caller) =>
    whileOpen(() => inTurn(kind, work, caller))

  async function readFor<T>(caller: Caller, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const turn = readTurns.take(caller)
    if (turn) await turn
    try {
      return await inTurn('query', work, caller)
    } finally {
      readTurns.leave(caller)
    }
  }

  return {
    withClient,
    withPatientClient: (work) =>
      whileOpen(() => onOwn((client) => client.query(MEANINGS + NO_LIMITS).then(() => work(client)))),
    readFor: (caller, work) => whileOpen(() => readFor(caller, work)),
    lookUp: (sql, values) => whileOpen(() => lookUp(sql, values)),
    node,
    notify(channel, payload) {
      if (closing.signal.aborted) return
      whileOpen(() => lookUps.rows(...messageSql(node, channel, payload))).catch((error) =>
        warn('a wake-up was not sent', error),
      )
    },
    listen: listening.listen,
    markDemoted: servers.markDemoted,
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
      // A pool that ends would leave work that waits for a connection without one, so running work ends first.
      const closed = Promise.allSettled(underWay).then(() => Promise.all([lookUps.close(), pool.end()]))
      const all = Promise.all([listening.close(), closed])
      await Promise.race([all, sleep(CLOSE_WITHIN_MS, null, { ref: false })])
      servers.close()
    },
  }
}
