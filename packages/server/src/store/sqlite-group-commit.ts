// A group of transactions on SQLite: run one after the other, each in a savepoint of its own, and committed together.
// sqlite.ts lists the guarantees for each of them.
import { performance } from 'node:perf_hooks'
import type { DatabaseSync } from 'node:sqlite'
import { fairQueue } from '../kernel/fair-queue.ts'
import { nextTurn } from '../kernel/step-turns.ts'
import { runEffects, StoreUnavailable, type Db, type Observe, type Value } from './db.ts'
import type { Snapshot } from './sqlite-snapshot.ts'
import { onConnection, translate } from './sqlite-statements.ts'
import type { WriteAheadLog } from './sqlite-wal.ts'
import type { WriteWatch } from './write-watch.ts'

/** The most transactions in one commit, so that a flood holds back neither a commit nor the event loop for ever. */
const MAX_GROUP = 256
/** The longest time for the transactions of one commit. Those that are left wait for the next. */
const MAX_GROUP_MS = 10
/**
 * The same limit where several tenants write. With 10 ms, a neighbour of four hundred writing clients waited for 10 ms
 * of their transactions, and then for the commit of the next 10. (Rejected: yielding to the event loop inside a group.
 * Anything else in this process that writes to the file would block the event loop that the group waits for. Only
 * the deliveries of an event with thousands of recipients do, see `insertDeliveries`, and a routing table that is a
 * hundred changes behind: the service has one writer.)
 */
const MAX_SHARED_MS = 3
/**
 * The most bytes of values that are left for the end of a group: words of memories, some ten milliseconds of them. One
 * transaction may leave more. Six long texts that were sent together were one turn otherwise.
 */
const MAX_LEFT_BYTES = 262_144
/** A tenant that has written nothing in this many groups counts as gone: about a second of a flood. */
const RECENT_GROUPS = 256
/**
 * How many callers are told of their commit in one turn: what each does next, up to its response, takes some 0.06 to
 * 0.1 ms. With 32, beside four hundred clients, a turn took 3 ms. More turns cost nothing that could be measured.
 */
const TOLD_AT_ONCE = 12

/** A transaction that waits for its turn. */
export interface Job {
  /** The tenant whose turn it takes; empty if it belongs to no tenant, or to many. */
  tenantId: string
  /** The tenants that write with it. */
  tenantIds: readonly string[]
  work: (tx: Db) => Promise<unknown>
  mayBeLost: boolean
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

/** The queue of waiting transactions. */
export interface JobQueue {
  readonly size: number
  /** Takes the next transaction of those that may be lost, or of the others. */
  next(mayBeLost: boolean): Job | undefined
}

interface Last {
  sql: string
  values: readonly Value[] | undefined
}

interface JobOutcome {
  readonly job: Job
  /** The effects of `afterCommit`. */
  readonly effects: readonly (() => void)[]
  tell(): void
}

/** Transactions that share a commit. */
interface Group {
  readonly jobs: Job[]
  /** The outcome of each transaction. */
  readonly outcomes: JobOutcome[]
  /** How many of `outcomes` need not wait for the disk: all up to the last one that may be lost. */
  beforeDisk: number
  readonly atTheEnd: Last[]
  /** The effects of `afterRollback` of each transaction. */
  readonly undone: (() => void)[][]
}

function bytesLeft({ atTheEnd }: Group, from: number): number {
  let bytes = 0
  for (let i = from; i < atTheEnd.length; i++)
    for (const value of atTheEnd[i]!.values ?? [])
      if (typeof value === 'string' || value instanceof Uint8Array) bytes += value.length
  return bytes
}

const mustReachDisk = ({ outcomes, beforeDisk }: Group): boolean => beforeDisk < outcomes.length

export interface GroupCommit {
  /**
   * Takes jobs from the queue and runs them one after the other, as long as there is time, then commits them together.
   * A job that fails undoes its own savepoint only.
   */
  run(queue: JobQueue): Promise<void>
  /**
   * Set while a commit is on its way to the disk and reads wait for it: because no snapshot of the state before it is
   * held, or because some of its callers have been told already and would not see their own writes in it.
   */
  syncing(): Promise<void> | null
  /** How long the last group had the event loop to itself. */
  tookMs(): number
  /** Set once the disk refused an fsync. What is on the disk is unknown until the next start. */
  refused(): StoreUnavailable | null
}

interface GroupCommitTools {
  writer: DatabaseSync
  log: WriteAheadLog
  snapshot: Snapshot
  writes: WriteWatch
  observe: Observe
  /** The clock in milliseconds that limits the time of a group. */
  now: () => number
}

/**
 * Yields the jobs of one group, and adds each to `taken`. Those that may be lost come first: they see nothing that is
 * not on disk, and so need not wait for it. They get half of the time, so that the others get some.
 */
function* jobsOf(queue: JobQueue, taken: Job[], mostMs: number, now: () => number): Generator<Job> {
  const begun = now()
  const most = Math.min(queue.size, MAX_GROUP)
  for (const mayBeLost of [true, false]) {
    const until = begun + (mayBeLost ? mostMs / 2 : mostMs)
    while (taken.length < most && (taken.length === 0 || now() <= until)) {
      const job = queue.next(mayBeLost)
      if (!job) break
      taken.push(job)
      yield job
    }
  }
}

/** Tells whether tenants share the writer, that is, whether two have written recently. */
function makeRecentTenants(): { noteGroup(jobs: readonly Job[]): void; areSeveral(): boolean } {
  const lastWrote = new Map<string, number>()
  let group = 0
  return {
    noteGroup(jobs) {
      group++
      for (const { tenantIds } of jobs) for (const tenantId of tenantIds) lastWrote.set(tenantId, group)
      if (lastWrote.size < 2) return
      for (const [tenantId, last] of lastWrote) if (group - last >= RECENT_GROUPS) lastWrote.delete(tenantId)
    },
    areSeveral: () => lastWrote.size > 1,
  }
}

/**
 * Tells callers of their results over several turns of the event loop, in which tenants take turns: callers that are
 * told together also continue together. The next group does not wait for this. When it did, a neighbour of four hundred
 * clients waited up to 50 ms for 256 callers to be told before its own transaction began.
 */
function makeTellInTurns(): (outcomes: readonly JobOutcome[]) => void {
  const queue = fairQueue<JobOutcome>()
  let isTelling = false

  async function tellAll(): Promise<void> {
    isTelling = true
    for (;;) {
      let told = 0
      for (const { tell } of queue.take(() => ++told === TOLD_AT_ONCE)) tell()
      if (queue.size === 0) break
      await nextTurn()
    }
    isTelling = false
  }

  return (outcomes) => {
    for (const one of outcomes) queue.push(one.job.tenantId, '', one)
    if (!isTelling && queue.size > 0) void tellAll()
  }
}

/** Runs the transactions of a group on the connection that writes. */
function makeRunJob(writer: DatabaseSync, writes: WriteWatch) {
  let failedLater: { error: unknown } | null = null
  const write = onConnection(writer, (error) => (failedLater ??= { error }))
  const savepoint = writer.prepare('savepoint job')
  const release = writer.prepare('release job')
  /** What the running transaction leaves for the end of its group, and for after that. */
  let last: Last[] = []
  let effects: (() => void)[] = []
  let undone: (() => void)[] = []
  const inGroup: Db = {
    ...write,
    runLast: (sql, values) => void last.push({ sql, values }),
    afterCommit: (effect) => void effects.push(effect),
    afterRollback: (effect) => void undone.push(effect),
  }

  /** Runs a job, in a savepoint if others share the group. A lone job undoes everything when it fails. */
  async function runJob(job: Job, group: Group, isShared: boolean): Promise<void> {
    // A savepoint costs as much as two statements.
    if (isShared) savepoint.run()
    try {
      failedLater = null
      last = []
      effects = []
      group.undone.push((undone = []))
      const value = await job.work(inGroup)
      if (failedLater) throw (failedLater as { error: unknown }).error
      if (isShared) release.run()
      group.atTheEnd.push(...last)
      group.outcomes.push({ job, effects, tell: () => job.resolve(value as never) })
      if (job.mayBeLost) group.beforeDisk = group.outcomes.length
    } catch (error) {
      // On a full disk SQLite rolls back the whole transaction, with all jobs that share it.
      if (!writer.isTransaction) throw translate(error)
      writer.exec(isShared ? 'rollback to job; release job' : 'rollback; begin')
      writes.failed(error)
      runEffects(undone.splice(0))
      group.outcomes.push({ job, effects: [], tell: () => job.reject(error) })
    }
  }

  return { runJob, runLast: write.runLast }
}

export function makeGroupCommit({ writer, log, snapshot, writes, observe, now }: GroupCommitTools): GroupCommit {
  const { runJob, runLast } = makeRunJob(writer, writes)
  const recentTenants = makeRecentTenants()
  const tellInTurns = makeTellInTurns()
  const begin = writer.prepare('begin immediate')
  const commit = writer.prepare('commit')
  let refused: StoreUnavailable | null = null
  let syncing: Promise<void> | null = null
  let tookMs = 0

  async function runJobs(queue: JobQueue, group: Group): Promise<void> {
    begin.run()
    const isShared = queue.size > 1
    let left = MAX_LEFT_BYTES
    for (const job of jobsOf(queue, group.jobs, recentTenants.areSeveral() ? MAX_SHARED_MS : MAX_GROUP_MS, now)) {
      const before = group.atTheEnd.length
      await runJob(job, group, isShared)
      left -= bytesLeft(group, before)
      if (left < 0) break
    }
    recentTenants.noteGroup(group.jobs)
    for (const { sql, values } of group.atTheEnd) runLast(sql, values)
    // Also if nobody has read recently: without it, a read that came now waits for the disk.
    if (mustReachDisk(group) && !log.isQuick()) snapshot.hold()
    commit.run()
  }

  /** Rejects the jobs of a group that could not begin or commit: nothing of them is on disk. */
  function failAll(queue: JobQueue, { jobs, undone }: Group, error: unknown): void {
    if (writer.isTransaction) writer.exec('rollback')
    snapshot.release()
    // If the group could not even begin, the jobs that would have been in it are rejected too.
    if (jobs.length === 0) jobs.push(...jobsOf(queue, [], MAX_GROUP_MS, now))
    const outage = translate(error)
    writes.failed(outage)
    for (const effects of undone) runEffects(effects)
    for (const job of jobs) job.reject(outage)
  }

  /** Waits until the commit is on disk. Resolves to false if the disk refused. */
  async function reachedDisk({ jobs, beforeDisk }: Group): Promise<boolean> {
    try {
      const flushed = log.sync()
      if (beforeDisk > 0 || !snapshot.isHeld()) syncing = flushed
      await flushed
      return true
    } catch (error) {
      refused = new StoreUnavailable(`the disk refused to write: ${(error as Error).message}`, { cause: error })
      // It is unknown whether this commit reached the disk; later ones are not begun.
      const unsure = new StoreUnavailable(refused.message, { trouble: 'unsure', cause: error })
      for (const job of jobs) job.reject(unsure)
      return false
    } finally {
      syncing = null
    }
  }

  async function run(queue: JobQueue): Promise<void> {
    const group: Group = { jobs: [], outcomes: [], beforeDisk: 0, atTheEnd: [], undone: [] }
    const started = performance.now()
    try {
      await runJobs(queue, group)
      tookMs = performance.now() - started
    } catch (error) {
      return failAll(queue, group, error)
    }
    for (const { effects, tell } of group.outcomes.slice(0, group.beforeDisk)) {
      runEffects(effects)
      tell()
    }
    if (mustReachDisk(group)) {
      if (!(await reachedDisk(group))) return
      snapshot.release()
    }
    observe('tx', (performance.now() - started) / 1000)
    const onDisk = group.outcomes.slice(group.beforeDisk)
    // In the order of the commit, and before the next one, so that state kept in memory follows the store.
    for (const { effects } of onDisk) runEffects(effects)
    tellInTurns(onDisk)
  }

  return { run, tookMs: () => tookMs, refused: () => refused, syncing: () => syncing }
}
