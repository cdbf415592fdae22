// The single writer of SQLite: the transactions that wait for it, and when its next group runs. Tenants take turns, and
// callers inside a tenant. Without that, a neighbour of four hundred writing clients waited for all of them.
import { performance } from 'node:perf_hooks'
import { fairQueue } from '../kernel/fair-queue.ts'
import { acceptWaiting } from '../kernel/let-in.ts'
import { StoreUnavailable, type Caller, type Store } from './db.ts'
import type { GroupCommit, Job, JobQueue } from './sqlite-group-commit.ts'
import type { WriteAheadLog } from './sqlite-wal.ts'

/** After a group that was put together late (publishes), the next one is expected within this time. */
const EXPECTED_WITHIN_MS = 3
/** With this many transactions waiting, the caller is told to come back later. */
const MAX_WAITING = 20_000

interface Writer extends Pick<Store, 'beforeNextGroup' | 'withNextGroup'> {
  /** Queues a transaction. Throws if too many are waiting. */
  add(job: Job, caller: Caller): void
  readonly waiting: number
  readonly isBusy: boolean
}

const nextOf = (queue: JobQueue): Job | undefined => queue.next(true) ?? queue.next(false)

/** The queue of waiting transactions. Those that may be lost wait apart from the others. */
function makeJobQueue(): JobQueue & { push(job: Job, caller: Caller): void } {
  const forgettable = fairQueue<Job>()
  const durable = fairQueue<Job>()
  const queueOf = (mayBeLost: boolean) => (mayBeLost ? forgettable : durable)
  return {
    get size() {
      return forgettable.size + durable.size
    },
    push: (job, { tenantId, id }) => queueOf(job.mayBeLost).push(tenantId, id, job),
    next: (mayBeLost) => queueOf(mayBeLost).next(),
  }
}

export function makeWriter(groupCommit: GroupCommit, log: WriteAheadLog, now: () => number): Writer {
  const queue = makeJobQueue()
  let toBegin: (() => void)[] = []
  let toJoin: (() => void)[] = []
  let lastBegunAt = -Infinity
  let joinTimer: NodeJS.Timeout | undefined
  let draining = false

  async function drain(): Promise<void> {
    while (queue.size > 0 || toBegin.length > 0) {
      // Let responses out and new requests in before the next commit; transactions requested in this turn share it.
      await acceptWaiting(groupCommit.tookMs(), now)
      await log.rest()
      if (toBegin.length > 0) lastBegunAt = performance.now()
      const begins = [...toBegin, ...toJoin]
      toBegin = []
      toJoin = []
      for (const begin of begins) begin()
      const refused = groupCommit.refused()
      if (refused) {
        for (let job = nextOf(queue); job; job = nextOf(queue)) job.reject(refused)
        break
      }
      if (queue.size > 0) await groupCommit.run(queue)
    }
    draining = false
    if (toJoin.length > 0) waitForOthers()
  }

  /** Waits for a group that the work in `toJoin` can join, and starts one for it if none comes. */
  function waitForOthers(): void {
    const wait = EXPECTED_WITHIN_MS - (performance.now() - lastBegunAt)
    if (wait <= 0) return beginAnyway()
    joinTimer ??= setTimeout(beginAnyway, wait)
  }

  function beginAnyway(): void {
    clearTimeout(joinTimer)
    joinTimer = undefined
    toBegin.push(...toJoin)
    toJoin = []
    if (toBegin.length > 0) wakeWriter()
  }

  function wakeWriter(): void {
    if (draining) return
    draining = true
    void drain()
  }

  return {
    add(job, caller) {
      if (queue.size >= MAX_WAITING)
        throw new StoreUnavailable('too many transactions are waiting', { trouble: 'busy' })
      queue.push(job, caller)
      wakeWriter()
    },
    beforeNextGroup(begin) {
      toBegin.push(begin)
      wakeWriter()
    },
    withNextGroup(begin) {
      toJoin.push(begin)
      if (!draining) waitForOthers()
    },
    get waiting() {
      return queue.size
    },
    get isBusy() {
      return draining
    },
  }
}
