// The single writer of SQLite: the transactions that wait for it, and when its next group runs. Tenants take turns, and
// callers inside a tenant. Without that, a neighbour of four hundred writing clients waited for all of them.
import { performance } from 'node:perf_hooks'
import { fairQueue } from '../kernel/fair-queue.ts'
import { letIn } from '../kernel/let-in.ts'
import { StoreUnavailable, type Caller, type Store } from './db.ts'
import type { GroupCommit, Job, Line } from './sqlite-group-commit.ts'
import type { WriteAheadLog } from './sqlite-wal.ts'

/** After a group that was put together late (publishes), the next one is expected within this time. */
const EXPECTED_WITHIN_MS = 3
/** With this many transactions waiting, the caller is told to come back later. */
const MAX_WAITING = 20_000

interface Writer extends Pick<Store, 'soon' | 'alongside'> {
  /** Queues a transaction. Throws if too many are waiting. */
  add(job: Job, caller: Caller): void
  readonly waiting: number
  readonly isBusy: boolean
}

const nextOf = (line: Line): Job | undefined => line.next(true) ?? line.next(false)

/** The queue of waiting transactions. Those that may be lost wait apart from the others. */
function makeLine(): Line & { push(job: Job, caller: Caller): void } {
  const forgettable = fairQueue<Job>()
  const durable = fairQueue<Job>()
  const queueOf = (mayBeLost: boolean) => (mayBeLost ? forgettable : durable)
  return {
    get size() {
      return forgettable.size + durable.size
    },
    push: (job, { tenantId, id }) => queueOf(job.mayBeLost).push(tenantId, id, job),
    next: (mayBeLost) => queueOf(mayBeLost).take(() => true)[0],
  }
}

export function makeWriter(groupCommit: GroupCommit, log: WriteAheadLog, now: () => number): Writer {
  const line = makeLine()
  let gathering: (() => void)[] = []
  let riding: (() => void)[] = []
  let lastGathered = -Infinity
  let patience: NodeJS.Timeout | undefined
  let draining = false

  async function drain(): Promise<void> {
    while (line.size > 0 || gathering.length > 0) {
      // Let responses out and new requests in before the next commit; transactions requested in this turn share it.
      await letIn(groupCommit.tookMs(), now)
      await log.rest()
      if (gathering.length > 0) lastGathered = performance.now()
      const gathered = [...gathering, ...riding]
      gathering = []
      riding = []
      for (const begin of gathered) begin()
      const refused = groupCommit.refused()
      if (refused) {
        for (let job = nextOf(line); job; job = nextOf(line)) job.reject(refused)
        break
      }
      if (line.size > 0) await groupCommit.run(line)
    }
    draining = false
    if (riding.length > 0) waitForOthers()
  }

  /** Waits for a group that the riding work can join, and starts one for it if none comes. */
  function waitForOthers(): void {
    const wait = EXPECTED_WITHIN_MS - (performance.now() - lastGathered)
    if (wait <= 0) return wakeRiders()
    patience ??= setTimeout(wakeRiders, wait)
  }

  function wakeRiders(): void {
    clearTimeout(patience)
    patience = undefined
    gathering.push(...riding)
    riding = []
    if (gathering.length > 0) wakeWriter()
  }

  function wakeWriter(): void {
    if (draining) return
    draining = true
    void drain()
  }

  return {
    add(job, caller) {
      if (line.size >= MAX_WAITING) throw new StoreUnavailable('too many transactions are waiting', { trouble: 'busy' })
      line.push(job, caller)
      wakeWriter()
    },
    soon(begin) {
      gathering.push(begin)
      wakeWriter()
    },
    alongside(begin) {
      riding.push(begin)
      if (!draining) waitForOthers()
    },
    get waiting() {
      return line.size
    },
    get isBusy() {
      return draining
    },
  }
}
