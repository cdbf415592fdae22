// The one writer of SQLite: what waits for it, and when its next group runs.
import { performance } from 'node:perf_hooks'
import { letIn } from '../kernel/let-in.ts'
import { StoreUnavailable, type Store } from './db.ts'
import type { GroupCommit, Job } from './sqlite-group-commit.ts'
import type { WriteAheadLog } from './sqlite-wal.ts'

/** More than this many share no commit: a flood neither holds a commit back for ever nor the event loop. */
const MAX_GROUP = 256
/** After a group that was put together late (publishes) the next one is expected within this time. */
const EXPECTED_WITHIN_MS = 3
/** Past this many waiting transactions the caller is told to come back later. */
const MAX_WAITING = 20_000

interface Writer extends Pick<Store, 'soon' | 'alongside'> {
  /** Puts a transaction in line. Throws where too many wait. */
  add(job: Job): void
  readonly waiting: number
  readonly isBusy: boolean
}

export function makeWriter(groupCommit: GroupCommit, log: WriteAheadLog): Writer {
  let queue: Job[] = []
  let gathering: (() => void)[] = []
  let riding: (() => void)[] = []
  let lastGathered = -Infinity
  let patience: NodeJS.Timeout | undefined
  let draining = false

  async function drain(): Promise<void> {
    while (queue.length > 0 || gathering.length > 0) {
      // Let the responses out and new requests in before the next commit; what is asked for in this turn shares it.
      await letIn()
      await log.rest()
      if (gathering.length > 0) lastGathered = performance.now()
      const gathered = [...gathering, ...riding]
      gathering = []
      riding = []
      for (const begin of gathered) begin()
      const refused = groupCommit.refused()
      if (refused) {
        for (const job of queue.splice(0)) job.reject(refused)
        break
      }
      const group = queue.slice(0, MAX_GROUP)
      queue = queue.slice(MAX_GROUP)
      if (group.length === 0) continue
      const left = await groupCommit.run(group)
      queue.unshift(...left)
    }
    draining = false
    if (riding.length > 0) waitForOthers()
  }

  /** Who rides along begins a group after all where none has come. */
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
    add(job) {
      if (queue.length >= MAX_WAITING)
        throw new StoreUnavailable('too many transactions are waiting', { trouble: 'busy' })
      queue.push(job)
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
      return queue.length
    },
    get isBusy() {
      return draining
    },
  }
}
