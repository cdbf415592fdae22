// The embedded engine: node:sqlite in WAL mode, on the main thread.
//
// One connection writes, one reads. Transactions that are requested in the same turn of the event loop, or while a
// commit is on its way to the disk, run one after the other inside one SQLite transaction, each in a savepoint of its
// own, and share its commit: an fsync costs 80 µs to 2 ms, and 64 publishers would otherwise pay for one each. A lone
// transaction waits for nothing.
//
// 1. A transaction resolves after its commit is on disk. The fsync runs in the thread pool; requests are read and
//    answered meanwhile.
// 2. No read returns what a power cut could undo: until a commit is on disk, reads wait for it or see the state before
//    it (sqlite-group-commit.ts).
// 3. A transaction that may be lost (a lease) resolves with its commit, before the commit is on disk. It runs first in
//    its group, so it has seen only what is on disk.
// 4. Reads of one turn share a snapshot: locking and unlocking the file costs as much as finding a row.
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { performance } from 'node:perf_hooks'
import { getLoadablePath } from 'sqlite-vec'
import { nextTurn } from '../kernel/step-turns.ts'
import { makePrivate } from './data-directory.ts'
import {
  SERVICE_CALLER,
  StoreUnavailable,
  writesNeedTx,
  type Db,
  type Observe,
  type Store,
  type TxOptions,
  type Value,
} from './db.ts'
import { makeGroupCommit } from './sqlite-group-commit.ts'
import { makeSnapshot } from './sqlite-snapshot.ts'
import { bindable, capabilities, dialect, noServer, onConnection, plannedOnce, translate } from './sqlite-statements.ts'
import { watchLog } from './sqlite-wal.ts'
import { makeWriter } from './sqlite-writer.ts'
import { checkSpace, makeWriteWatch } from './write-watch.ts'

const BUSY = 5
const SWITCH_WITHIN_MS = 5_000

/**
 * Switches to WAL mode. Retries, because another process may be creating the file at this moment: SQLite does not wait
 * for that by itself, it says "locked".
 */
function switchToLog(connection: DatabaseSync): void {
  for (const started = performance.now(); ; ) {
    try {
      return connection.exec('pragma journal_mode = wal')
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== BUSY || performance.now() - started > SWITCH_WITHIN_MS)
        throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}

function openConnection(file: string, readOnly: boolean, allowExtension = false): DatabaseSync {
  const connection = new DatabaseSync(file, { readOnly, timeout: 5000, allowExtension })
  // NORMAL, because sqlite-wal.ts does the fsync after a commit and the checkpoints. The size limit frees the disk
  // space of a log that shrank again.
  if (!readOnly) {
    switchToLog(connection)
    connection.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0; pragma journal_size_limit = 67108864')
  }
  // The cache size is in KiB. Pages that do not fit are in the cache of the operating system, some two microseconds a
  // page away. With 64 MiB for each connection, a store of 10,000 memories spent a fifth of the process's memory on
  // what it held twice.
  connection.exec(
    `pragma foreign_keys = on; pragma temp_store = memory; pragma cache_size = ${readOnly ? -16_384 : -32_768}`,
  )
  return connection
}

/** The values of a row, in the order of its columns. */
export type Cells = readonly (string | number | null | Uint8Array)[]

export interface ReaderDb extends Db {
  /** Calls `visit` for one row after the other and keeps none of them, however many there are. */
  each(sql: string, values: readonly Value[], visit: (cells: Cells) => void): void
}

interface ReadConnection {
  /** Runs the queries of `work` on one state of the store, whatever is committed meanwhile. One call at a time. */
  snapshot<T>(work: (db: ReaderDb) => Promise<T>): Promise<T>
  close(): void
}

/** Opens a file that another thread has in use. It may have been moved since. */
function openInUse(file: string): DatabaseSync {
  try {
    return openConnection(file, true, true)
  } catch (error) {
    throw translate(error)
  }
}

/** Loads the extension sqlite-vec. Its package for this platform may be missing, or be damaged. */
function loadVectors(connection: DatabaseSync): void {
  try {
    connection.loadExtension(getLoadablePath())
  } catch (cause) {
    throw new Error(
      `The extension sqlite-vec, with which memories are searched, cannot be loaded on ${process.platform} ${process.arch}: ` +
        `${(cause as Error).message}. npm leaves it out with --omit=optional; on a platform that it does not have, use PostgreSQL.`,
      { cause },
    )
  }
  connection.enableLoadExtension(false)
}

/**
 * Throws if a part of the engine is missing. The thread that searches would find out too late: every search would fail
 * in a service that says it is ready.
 */
export function requireVectors(): void {
  const connection = new DatabaseSync(':memory:', { allowExtension: true })
  try {
    loadVectors(connection)
  } finally {
    connection.close()
  }
}

/** Opens a read-only connection for another thread, with the sqlite-vec extension for the distances of vectors. */
export function openReadConnection(file: string): ReadConnection {
  const connection = openInUse(file)
  loadVectors(connection)
  const visited = new Map<string, StatementSync>()
  const db: ReaderDb = {
    ...onConnection(connection),
    each(sql, values, visit) {
      let statement = visited.get(sql)
      if (!statement) {
        visited.set(sql, (statement = connection.prepare(plannedOnce(sql))))
        statement.setReturnArrays(true)
      }
      for (const cells of statement.iterate(...bindable(values))) visit(cells as unknown as Cells)
    },
  }
  return {
    async snapshot(work) {
      connection.exec('begin')
      try {
        return await work(db)
      } catch (error) {
        throw translate(error)
      } finally {
        // Nothing was written. After an error of the disk SQLite may have ended the transaction by itself.
        if (connection.isTransaction) connection.exec('rollback')
      }
    },
    close: () => connection.close(),
  }
}

export function openSqlite(
  file: string,
  observe: Observe = () => {},
  now: () => number = () => performance.now(),
): Store {
  makePrivate(file)
  const writer = openConnection(file, false)
  const reader = openConnection(file, true)
  const read = onConnection(reader)
  const log = watchLog(file, now)
  const snapshot = makeSnapshot(reader)
  const writes = makeWriteWatch()
  let closed = false
  const groupCommit = makeGroupCommit({ writer, log, snapshot, writes, observe, now })

  const trouble = (): StoreUnavailable | null =>
    closed ? new StoreUnavailable('the store is closed') : groupCommit.refused()

  async function rows<R>(sql: string, values?: readonly Value[]): Promise<R[]> {
    for (let flush = groupCommit.syncing(); flush; flush = groupCommit.syncing()) await flush.catch(() => {})
    const reason = trouble()
    if (reason) throw reason
    snapshot.open()
    return read.rows<R>(sql, values)
  }

  const writerQueue = makeWriter(groupCommit, log, now)

  function tx<T>(work: (tx: Db) => Promise<T>, options: TxOptions = {}): Promise<T> {
    const {
      mayBeLost = false,
      caller = SERVICE_CALLER,
      tenantIds = caller.tenantId === '' ? [] : [caller.tenantId],
    } = options
    const reason = trouble()
    if (reason) return Promise.reject(reason)
    return new Promise<T>((resolve, reject) =>
      writerQueue.add({ tenantId: caller.tenantId, tenantIds, work, mayBeLost, resolve, reject }, caller),
    )
  }

  const store: Store = {
    name: 'sqlite',
    dialect,
    ...capabilities,
    rows,
    outsideTx: { dialect, rows },
    lookUp: async <R>(sql: string, values?: readonly Value[]) => (await rows<R>(sql, values))[0],
    ...writesNeedTx,
    tx,
    beforeNextGroup: writerQueue.beforeNextGroup,
    withNextGroup: writerQueue.withNextGroup,
    ...noServer,
    readFor: () => store as Db,
    async ping() {
      // Rejects if the store is closed, or the disk has refused to write.
      await rows('select 1')
      checkSpace(file)
      await writes.check(tx)
    },
    serverTime: async () => null,
    stats: () => ({ waiting: writerQueue.waiting, connections: 2, idle: writerQueue.isBusy ? 1 : 2 }),
    async close() {
      if (closed) return
      closed = true
      while (writerQueue.isBusy) await nextTurn()
      await log.close()
      reader.close()
      writer.close()
    },
  }
  return store
}
