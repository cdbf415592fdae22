// PostgreSQL 14 or newer. Statements are prepared once per connection under a name of their own and pipelined
// (postgres-transaction.ts). When a server restarts, or another one takes over, the next query reaches it without a
// restart of the service (postgres-connections.ts, postgres-servers.ts).
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { backoffMs } from '../kernel/backoff.ts'
import { StoreUnavailable, writesNeedTx, type Db, type Store, type TxOptions, type Value } from './db.ts'
import { isDistributed } from './distribution.ts'
import { makePooledConnections, type PooledConnections, type PostgresOptions } from './postgres-connections.ts'
import { transact } from './postgres-transaction.ts'
import { capabilities, dialect, isCollision, isUniqueViolation, send } from './postgres-wire.ts'
import { followReplica, writeMark, type RowsFor } from './replica.ts'
import { makeWriteWatch, type WriteWatch } from './write-watch.ts'

const PING_WITHIN_MS = 2_000
const MAX_RETRIES = 5

/** Returns how a caller's queries are run on these connections, and those of the service if none is given. */
function rowsOn({ withClient, readFor }: PooledConnections): RowsFor {
  return (caller) =>
    <R>(sql: string, values: readonly Value[] = []) => {
      const query = async (client: pg.PoolClient): Promise<R[]> => (await send(client, sql, values)).rows as R[]
      return caller ? readFor(caller, query) : withClient('query', query)
    }
}

/** Rejects if the database cannot hold every text. One that takes any bytes (SQL_ASCII) can. */
async function requireUnicode(rows: Db['rows']): Promise<void> {
  const [found] = await rows<{ encoding: string }>("select current_setting('server_encoding') as encoding")
  const { encoding } = found!
  if (encoding === 'UTF8' || encoding === 'SQL_ASCII') return
  throw new Error(
    `The database of DATABASE_URL has the encoding ${encoding}, which lacks most characters. Create it with encoding 'UTF8': create database sensorium template template0 encoding 'UTF8' locale 'C'`,
  )
}

/** Returns a function that runs a transaction, and retries one that collided with others. */
function makeTx(
  { withClient, withPatientClient, node }: PooledConnections,
  writes: WriteWatch,
  isSharded: () => boolean,
): Store['tx'] {
  return async <T>(work: (tx: Db) => Promise<T>, options: TxOptions = {}) => {
    const onClient = (client: pg.ClientBase): Promise<T> =>
      transact(client, work, { isSharded: isSharded(), node }, options)
    for (let tries = 1; ; tries++) {
      try {
        return await (options.takesLong ? withPatientClient(onClient) : withClient('tx', onClient, options.caller))
      } catch (error) {
        writes.failed(error)
        // Writers collided: nothing was written, and the same work can be retried.
        if (!isCollision(error)) throw error
        // A value that is taken on every try is not a race.
        if (tries >= MAX_RETRIES && isUniqueViolation(error)) throw error
        if (tries >= MAX_RETRIES)
          throw new StoreUnavailable((error as Error).message, { trouble: 'busy', cause: error })
        // Real time instead of the product's clock: a test that holds the clock still must not hold this wait.
        await sleep(backoffMs({ firstMs: 5, maxMs: 100 }, tries))
      }
    }
  }
}

export function openPostgres(options: PostgresOptions): Store {
  const connections = makePooledConnections(options)
  const { withClient } = connections
  const rowsFor = rowsOn(connections)
  const rows = rowsFor()
  const replica =
    options.readUrl === undefined ? null : makePooledConnections({ ...options, url: options.readUrl }, true)

  const lookUp = async <R>(sql: string, values: readonly Value[] = []): Promise<R | undefined> =>
    (await connections.lookUp<R>(sql, values))[0]

  const writes = makeWriteWatch()
  let isSharded = false
  const tx = makeTx(connections, writes, () => isSharded)
  const mark = (text: string): Promise<number> => tx((db) => writeMark(db, text))
  const staleRowsFor = replica ? followReplica(rowsFor, mark, rowsOn(replica), options.warn) : rowsFor

  const store: Store = {
    name: 'postgres',
    dialect,
    ...capabilities,
    get isSharded() {
      return isSharded
    },
    rows,
    lookUp,
    outsideTx: {
      dialect,
      rows: <R>(sql: string, values: readonly Value[] = []) => connections.lookUp<R>(sql, values),
    },
    ...writesNeedTx,
    tx,
    runAlone: (sql) => connections.withPatientClient(async (client) => void (await client.query(sql))),
    readFor: (caller, { mayBeStale = false } = {}) =>
      Object.create(store, { rows: { value: mayBeStale ? staleRowsFor(caller) : rowsFor(caller) } }) as Db,
    beforeNextGroup: (begin) => void setImmediate(begin),
    withNextGroup: (begin) => void setImmediate(begin),
    requireSuitable: () => requireUnicode(rows),
    async refreshCapabilities() {
      isSharded = await isDistributed({ dialect, rows })
    },
    async ping() {
      // Whether the server takes writes: a standby responds too.
      const asked = withClient('query', (client) =>
        client.query<{ readonly: string }>("select current_setting('transaction_read_only') as readonly"),
      )
      asked.catch(() => {}) // it may fail when nobody waits for it any more
      const result = await Promise.race([asked, sleep(PING_WITHIN_MS, null, { ref: false })])
      if (result === null) throw new StoreUnavailable('the database does not respond')
      if (result.rows[0]?.readonly === 'on') {
        connections.markDemoted()
        throw new StoreUnavailable('the database takes no writes')
      }
      await writes.check(tx)
    },
    async serverTime() {
      // Not now(), which stands still within a transaction.
      const row = await lookUp<{ now: number }>(
        'select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now',
      )
      return row!.now
    },
    notify: connections.notify,
    listen: connections.listen,
    stats: connections.stats,
    async close() {
      await Promise.all([connections.close(), replica?.close()])
    },
  }
  return store
}
