// The embedded engine: node:sqlite in WAL mode with synchronous=FULL, on the main thread.
//
// One connection writes, one reads. Transactions that are asked for in the same turn of the event loop run one after the other
// inside one SQLite transaction, each in a savepoint of its own, and share its commit: an fsync costs 80 µs to 2 ms, and 64
// publishers would otherwise pay for one each. A lone transaction starts in the same turn and waits for nothing.
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import path from 'node:path'
import { performance } from 'node:perf_hooks'
import { getLoadablePath } from 'sqlite-vec'
import { StoreUnavailable, type Db, type Dialect, type Insert, type Observe, type Store, type Value } from './db.ts'

/** The embedded store of a data directory. */
export const databaseFile = (directory: string): string => path.join(directory, 'sensorium.db')

/** More than this many share no commit, so that a flood cannot hold a commit back for ever. */
const MAX_GROUP = 256
/** Past this many waiting transactions the caller is told to come back later. */
const MAX_WAITING = 20_000

const dialect: Dialect = {
  engine: 'sqlite',
  inList: (column) => `${column} in (select value from json_each(?))`,
  list: (values) => JSON.stringify(values),
  inRows: (column, query) => `${column} in (${query})`,
  skipLocked: '',
  forUpdate: '',
}

/** SQLITE_BUSY, LOCKED, READONLY, IOERR, CORRUPT, FULL, CANTOPEN: the disk or another process, not the query. */
const OUTAGES = new Set([5, 6, 8, 10, 11, 13, 14])

function translate(error: unknown): unknown {
  const code = (error as { errcode?: number }).errcode
  if (typeof code === 'number' && OUTAGES.has(code & 0xff)) return new StoreUnavailable((error as Error).message, { cause: error })
  return error
}

const insertSql = (insert: Insert): string => {
  const names = Object.keys(insert.columns)
  return `insert into ${insert.into} (${names.join(', ')}) values (${names.map(() => '?').join(', ')}) ${insert.conflict ?? ''}`
}

// The driver's own row objects are dictionaries, and reading a row of eleven columns out of one costs more than the query. It is
// asked for arrays, of which ordinary objects are made here: 3.5 µs instead of 6 for an agent by its id.
function readRows<R>(statement: StatementSync, values: readonly Value[]): R[] {
  const names = namesOf(statement)
  const rows = statement.all(...(values as SQLInputValue[])) as unknown as unknown[][]
  return rows.map((cells) => {
    const row: Record<string, unknown> = {}
    for (let i = 0; i < names.length; i++) row[names[i]!] = cells[i]
    return row as R
  })
}

const columnNames = new WeakMap<StatementSync, string[]>()

function namesOf(statement: StatementSync): string[] {
  let names = columnNames.get(statement)
  if (!names) {
    columnNames.set(statement, (names = statement.columns().map(({ name }) => name)))
    statement.setReturnArrays(true)
  }
  return names
}

function onConnection(connection: DatabaseSync): Db {
  const prepared = new Map<string, StatementSync>()
  const inserts = new WeakMap<Insert, StatementSync>()
  const prepare = (sql: string): StatementSync => {
    let statement = prepared.get(sql)
    if (!statement) prepared.set(sql, (statement = connection.prepare(sql)))
    return statement
  }
  return {
    dialect,
    async rows<R>(sql: string, values: readonly Value[] = []) {
      try {
        return readRows<R>(prepare(sql), values)
      } catch (error) {
        throw translate(error)
      }
    },
    async run(sql, values = []) {
      try {
        return Number(prepare(sql).run(...(values as SQLInputValue[])).changes)
      } catch (error) {
        throw translate(error)
      }
    },
    async insertMany<R>(insert: Insert, rows: readonly (readonly Value[])[]) {
      let statement = inserts.get(insert)
      if (!statement) inserts.set(insert, (statement = prepare(insertSql(insert))))
      // What is returned is what was given, for the rows that were written: no statement has to bring it back.
      const echoed = insert.returning?.split(', ').map((name) => [name, Object.keys(insert.columns).indexOf(name)] as const)
      const answers: R[] = []
      try {
        for (const row of rows) {
          const { changes } = statement.run(...(row as SQLInputValue[]))
          if (echoed && changes > 0) answers.push(Object.fromEntries(echoed.map(([name, at]) => [name, row[at]])) as R)
        }
      } catch (error) {
        throw translate(error)
      }
      return answers
    },
  }
}

interface Job {
  work: (tx: Db) => Promise<unknown>
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

function openConnection(file: string, readOnly: boolean, allowExtension = false): DatabaseSync {
  const connection = new DatabaseSync(file, { readOnly, timeout: 5000, allowExtension })
  if (!readOnly) connection.exec('pragma journal_mode = wal')
  // FULL: a commit that was answered survives a power cut. The cache is in KiB; 64 MiB keeps the hot indexes of a large store.
  connection.exec('pragma synchronous = full; pragma foreign_keys = on; pragma temp_store = memory; pragma cache_size = -65536')
  return connection
}

/** A row as its columns in their order. */
export type Cells = readonly (string | number | null | Uint8Array)[]

export interface ReaderDb extends Db {
  /** Visits rows one by one: nothing of them stays, however many there are. */
  each(sql: string, values: readonly Value[], visit: (cells: Cells) => void): void
}

export interface Reader {
  /** Runs its queries on one state of the store, whatever is committed meanwhile. One at a time. */
  snapshot<T>(work: (db: ReaderDb) => Promise<T>): Promise<T>
  close(): void
}

/** A connection that only reads, for a thread of its own; it knows the distances of vectors. */
export function openReader(file: string): Reader {
  const connection = openConnection(file, true, true)
  connection.exec('pragma cache_size = -16384') // what it reads often it keeps itself
  connection.loadExtension(getLoadablePath())
  connection.enableLoadExtension(false)
  const visited = new Map<string, StatementSync>()
  const db: ReaderDb = {
    ...onConnection(connection),
    each(sql, values, visit) {
      let statement = visited.get(sql)
      if (!statement) {
        visited.set(sql, (statement = connection.prepare(sql)))
        statement.setReturnArrays(true)
      }
      for (const cells of statement.iterate(...(values as SQLInputValue[]))) visit(cells as unknown as Cells)
    },
  }
  return {
    async snapshot(work) {
      connection.exec('begin')
      try {
        return await work(db)
      } finally {
        connection.exec('rollback') // nothing was written
      }
    },
    close: () => connection.close(),
  }
}

export function openSqlite(file: string, observe: Observe = () => {}): Store {
  const writer = openConnection(file, false)
  const reader = openConnection(file, true)
  const write = onConnection(writer)
  const read = onConnection(reader)
  const listeners = new Map<string, ((payload: string) => void)[]>()
  let queue: Job[] = []
  let draining = false
  let closed = false

  // Runs the jobs one after the other; a failing job undoes its own savepoint only.
  async function runGroup(jobs: Job[]): Promise<void> {
    const settled: (() => void)[] = []
    const started = performance.now()
    try {
      writer.exec('begin immediate')
      for (const job of jobs) {
        writer.exec('savepoint job')
        try {
          const value = await job.work(write)
          writer.exec('release job')
          settled.push(() => job.resolve(value as never))
        } catch (error) {
          writer.exec('rollback to job')
          writer.exec('release job')
          settled.push(() => job.reject(error))
        }
      }
      writer.exec('commit')
    } catch (error) {
      // Neither begun nor committed: nobody's work is on disk.
      if (writer.isTransaction) writer.exec('rollback')
      const outage = translate(error)
      for (const job of jobs) job.reject(outage)
      return
    }
    observe('tx', (performance.now() - started) / 1000)
    for (const settle of settled) settle()
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      const group = queue.slice(0, MAX_GROUP)
      queue = queue.slice(MAX_GROUP)
      await runGroup(group)
      // Let the answers out and new requests in before the next commit.
      if (queue.length > 0) await new Promise(setImmediate)
    }
    draining = false
  }

  return {
    dialect,
    rows: <R>(sql: string, values?: readonly Value[]) =>
      closed ? Promise.reject(new StoreUnavailable('the store is closed')) : read.rows<R>(sql, values),
    async run() {
      throw new Error('a write needs a transaction: use tx')
    },
    async insertMany() {
      throw new Error('a write needs a transaction: use tx')
    },
    tx<T>(work: (tx: Db) => Promise<T>): Promise<T> {
      if (closed) return Promise.reject(new StoreUnavailable('the store is closed'))
      if (queue.length >= MAX_WAITING) return Promise.reject(new StoreUnavailable('too many transactions are waiting'))
      return new Promise<T>((resolve, reject) => {
        queue.push({ work, resolve, reject })
        if (draining) return
        draining = true
        setImmediate(drain)
      })
    },
    async ping() {
      if (closed) throw new StoreUnavailable('the store is closed')
      await read.rows('select 1')
    },
    notify(channel, payload) {
      for (const hear of listeners.get(channel) ?? []) queueMicrotask(() => hear(payload))
    },
    listen(channel, hear) {
      listeners.set(channel, [...(listeners.get(channel) ?? []), hear])
    },
    stats: () => ({ waiting: queue.length, connections: 2, idle: draining ? 1 : 2 }),
    async close() {
      if (closed) return
      closed = true
      while (draining) await new Promise(setImmediate)
      reader.close()
      writer.close()
    },
  }
}
