// The embedded engine: node:sqlite in WAL mode, on the main thread.
//
// One connection writes, one reads. Transactions that are asked for in the same turn of the event loop, or while a
// commit is on its way to the disk, run one after the other inside one SQLite transaction, each in a savepoint of its
// own, and share its commit: an fsync costs 80 µs to 2 ms, and 64 publishers would otherwise pay for one each. A lone
// transaction waits for nothing.
//
// 1. A transaction resolves after its commit is on disk, which the thread pool sees to; requests are read and answered
//    meanwhile.
// 2. Nobody reads what a power cut could take back: until a commit is on disk, reads see the state before it.
// 3. What may be lost (a lease) resolves with its commit, before that is on disk. It runs first in its group, so it has
//    seen nothing but what is on disk.
// 4. Reads of one turn share a snapshot: locking and unlocking the file costs as much as finding a row.
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { performance } from 'node:perf_hooks'
import { getLoadablePath } from 'sqlite-vec'
import { letIn } from '../kernel/let-in.ts'
import { makePrivate } from './data-directory.ts'
import {
  runEffects,
  StoreUnavailable,
  writesNeedTx,
  type Db,
  type Observe,
  type Store,
  type TxOptions,
  type Value,
} from './db.ts'
import { makeSnapshot, type Snapshot } from './sqlite-snapshot.ts'
import {
  bindable,
  capabilities,
  dialect,
  onConnection,
  plannedOnce,
  translate,
  unchanging,
} from './sqlite-statements.ts'
import { watchLog, type WriteAheadLog } from './sqlite-wal.ts'
import { checkSpace, makeWriteWatch, type WriteWatch } from './write-watch.ts'

/**
 * More than this many, or what takes longer, share no commit: a flood neither holds a commit back for ever nor the
 * event loop.
 */
const MAX_GROUP = 256
const MAX_GROUP_MS = 10
/** Past this many waiting transactions the caller is told to come back later. */
const MAX_WAITING = 20_000

interface Job {
  work: (tx: Db) => Promise<unknown>
  mayBeLost: boolean
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

interface Last {
  sql: string
  values: readonly Value[] | undefined
}

const BUSY = 5
const SWITCH_WITHIN_MS = 5_000

/**
 * For a new file, which another process may be making at this moment: SQLite does not wait for that by itself, it says
 * "locked".
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
  // NORMAL: the fsync after a commit and the checkpoints are sqlite-wal.ts'. A log that shrank again gives its space
  // back.
  if (!readOnly) {
    switchToLog(connection)
    connection.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0; pragma journal_size_limit = 67108864')
  }
  // The cache is in KiB. What does not fit is in the system's own cache, some two microseconds a page away: with 64 MiB
  // for each connection a store of 10,000 memories took a fifth of the process for what it held twice.
  connection.exec(
    `pragma foreign_keys = on; pragma temp_store = memory; pragma cache_size = ${readOnly ? -16_384 : -32_768}`,
  )
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
  connection.loadExtension(getLoadablePath())
  connection.enableLoadExtension(false)
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
      } finally {
        connection.exec('rollback') // nothing was written
      }
    },
    close: () => connection.close(),
  }
}

interface GroupCommit {
  /**
   * Runs jobs one after the other and commits them together; a failing job undoes its own savepoint only. Gives back
   * those that there was no time for.
   */
  run(jobs: Job[]): Promise<Job[]>
  /**
   * While a commit is on its way to the disk and reads have to wait for it: some are told of it already, who would not
   * see their own work in the state before it; or nobody read of late, so that state is not kept (it costs 50 µs).
   */
  syncing(): Promise<void> | null
  /** Set once the disk refused an fsync. What is on it nobody knows before the next start. */
  refused(): StoreUnavailable | null
}

interface GroupCommitParts {
  writer: DatabaseSync
  log: WriteAheadLog
  snapshot: Snapshot
  writes: WriteWatch
  observe: Observe
}

function makeGroupCommit({ writer, log, snapshot, writes, observe }: GroupCommitParts): GroupCommit {
  let failedLater: { error: unknown } | null = null
  const write = onConnection(writer, (error) => (failedLater ??= { error }))
  const [begin, savepoint, releaseSavepoint, commit] = [
    'begin immediate',
    'savepoint job',
    'release job',
    'commit',
  ].map((sql) => writer.prepare(sql)) as [StatementSync, StatementSync, StatementSync, StatementSync]
  /** What the transaction under way leaves for the end of its group, and for when that is on disk. */
  let last: Last[] = []
  let effects: (() => void)[] = []
  const inGroup: Db = {
    ...write,
    runLast: (sql, values) => void last.push({ sql, values }),
    afterCommit: (effect) => void effects.push(effect),
  }
  let refused: StoreUnavailable | null = null
  let syncing: Promise<void> | null = null

  async function run(jobs: Job[]): Promise<Job[]> {
    let left: Job[] = []
    // Those that may be lost come first: they see nothing that is not on disk, and so need not wait for it.
    if (jobs.length > 1) jobs.sort((a, b) => Number(b.mayBeLost) - Number(a.mayBeLost))
    const settled: (() => void)[] = []
    let settledAtOnce = 0
    const atTheEnd: Last[] = []
    const started = performance.now()
    let refusal: unknown
    let isDurable = true
    let isHeld = false
    try {
      begin.run()
      const begun = performance.now()
      // Who is alone undoes everything when it fails: a savepoint costs as much as two statements.
      const isShared = jobs.length > 1
      for (const [i, job] of jobs.entries()) {
        if (i > 0 && performance.now() - begun > MAX_GROUP_MS) {
          left = jobs.splice(i)
          break
        }
        if (isShared) savepoint.run()
        try {
          failedLater = null
          last = []
          effects = []
          const value = await job.work(inGroup)
          if (failedLater) throw (failedLater as { error: unknown }).error
          if (isShared) releaseSavepoint.run()
          atTheEnd.push(...last)
          const committed = effects
          settled.push(() => {
            runEffects(committed)
            job.resolve(value as never)
          })
          if (job.mayBeLost) settledAtOnce = settled.length
        } catch (error) {
          // A full disk makes SQLite undo the whole transaction, with all that shares it.
          if (!writer.isTransaction) throw translate(error)
          writer.exec(isShared ? 'rollback to job; release job' : 'rollback; begin')
          refusal ??= error
          settled.push(() => job.reject(error))
        }
      }
      for (const { sql, values } of atTheEnd) write.runLast(sql, values)
      isDurable = settledAtOnce < settled.length
      isHeld = isDurable && snapshot.isRead()
      if (isHeld) snapshot.hold()
      commit.run()
    } catch (error) {
      // Neither begun nor committed: nobody's work is on disk.
      if (writer.isTransaction) writer.exec('rollback')
      snapshot.release()
      const outage = translate(error)
      writes.ended(outage)
      for (const job of jobs) job.reject(outage)
      return left
    }
    for (const settle of settled.splice(0, settledAtOnce)) settle()
    if (!isDurable) {
      observe('tx', (performance.now() - started) / 1000)
      return left
    }
    try {
      syncing = settledAtOnce > 0 || !isHeld ? log.sync() : null
      await (syncing ?? log.sync())
    } catch (error) {
      refused = new StoreUnavailable(`the disk refused to write: ${(error as Error).message}`, { cause: error })
      // Whether this commit reached the disk nobody knows; later ones are not begun.
      const unsure = new StoreUnavailable(refused.message, { trouble: 'unsure', cause: error })
      for (const job of jobs) job.reject(unsure)
      syncing = null
      return left
    }
    syncing = null
    snapshot.release()
    writes.ended(refusal)
    observe('tx', (performance.now() - started) / 1000)
    for (const settle of settled) settle()
    return left
  }

  return { run, refused: () => refused, syncing: () => syncing }
}

export function openSqlite(file: string, observe: Observe = () => {}): Store {
  makePrivate(file)
  const writer = openConnection(file, false)
  const reader = openConnection(file, true)
  const read = onConnection(reader)
  const log = watchLog(file)
  const snapshot = makeSnapshot(reader)
  const listeners = new Map<string, ((payload: string) => void)[]>()
  const writes = makeWriteWatch()
  let queue: Job[] = []
  let draining = false
  let closed = false
  const groupCommit = makeGroupCommit({ writer, log, snapshot, writes, observe })

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      // Let the responses out and new requests in before the next commit; what is asked for in this turn shares it.
      await letIn()
      await log.rest()
      const refused = groupCommit.refused()
      if (refused) {
        for (const job of queue.splice(0)) job.reject(refused)
        break
      }
      const group = queue.slice(0, MAX_GROUP)
      queue = queue.slice(MAX_GROUP)
      const left = await groupCommit.run(group)
      queue.unshift(...left)
    }
    draining = false
  }

  const trouble = (): StoreUnavailable | null =>
    closed ? new StoreUnavailable('the store is closed') : groupCommit.refused()

  async function rows<R>(sql: string, values?: readonly Value[]): Promise<R[]> {
    const reason = trouble()
    if (reason) throw reason
    const syncing = groupCommit.syncing()
    if (syncing) await syncing.catch(() => {})
    snapshot.open()
    return read.rows<R>(sql, values)
  }

  function tx<T>(work: (tx: Db) => Promise<T>, { mayBeLost = false }: TxOptions = {}): Promise<T> {
    const reason = trouble()
    if (reason) return Promise.reject(reason)
    if (queue.length >= MAX_WAITING)
      return Promise.reject(new StoreUnavailable('too many transactions are waiting', { trouble: 'busy' }))
    return new Promise<T>((resolve, reject) => {
      queue.push({ work, mayBeLost, resolve, reject })
      if (draining) return
      draining = true
      void drain()
    })
  }

  const store: Omit<Store, 'behind'> = {
    name: 'sqlite',
    dialect,
    ...capabilities,
    rows,
    beside: { dialect, rows },
    lookUp: async <R>(sql: string, values?: readonly Value[]) => (await rows<R>(sql, values))[0],
    ...writesNeedTx,
    tx,
    ...unchanging,
    async ping() {
      await rows('select 1')
      checkSpace(file)
      await writes.check(tx)
    },
    serverTime: async () => null,
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
      await log.close()
      reader.close()
      writer.close()
    },
  }
  return Object.assign(store, { behind: store as Db })
}
