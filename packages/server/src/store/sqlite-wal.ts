// The write-ahead log of the embedded engine is made durable and emptied beside the main thread: there an fsync holds
// up every request for 0.2 to 2 ms, and a checkpoint for 10 to 40.
//
// 1. The connection that writes commits without an fsync of its own (synchronous = normal). `sync` is that fsync:
//    whoever committed gets a response after it, so a response still means that the data is on disk.
// 2. The log is copied into the database by a thread of its own while writing goes on. Only when that cannot catch up
//    do writers rest for the last part of it; the log then begins anew instead of growing.
import { closeSync, fdatasync, fstatSync, openSync } from 'node:fs'
import { makeThread } from '../kernel/thread.ts'

/**
 * A commit writes from ten pages to hundreds. The log is worth copying after this many; once it was long, after fewer.
 */
const COMMITS = 64
const COMMITS_WHEN_LONG = 8
const BETWEEN_CHECKPOINTS_MS = 200
/** In pages of 4 KiB. A log that got longer than this is worth a short rest of the writers. */
const LONG_LOG = 4_000

export interface Checkpointed {
  /** Pages that were in the log. */
  log: number
}

export interface WriteAheadLog {
  /** Resolves when all that was committed before is on disk; rejects when the disk refuses. */
  sync(): Promise<void>
  /** Lets the log come to an end, where that is due. Call it when nobody writes. */
  rest(): Promise<void>
  close(): Promise<void>
}

export function watchLog(file: string): WriteAheadLog {
  const thread = makeThread<null, Checkpointed>(new URL('./checkpoint-thread.ts', import.meta.url), 'checkpoint', file)
  let log: number | undefined
  let timer: NodeJS.Timeout | undefined
  let tidying: Promise<void> | null = null
  let mustRest = false
  let commits = 0

  /** Copies what is in the log now, and returns how long it is. */
  async function copy(): Promise<number> {
    commits = 0
    return (await thread.ask(null)).log
  }

  // While it copies, writing goes on, so the log never ends. One that got long is copied again at once, which leaves
  // what was written during the first time; of that the writers let the rest be copied, and the log begins anew.
  async function tidy(): Promise<void> {
    try {
      if ((await copy()) > LONG_LOG) {
        await copy()
        mustRest = true
      }
    } catch {
      later() // a thread that died is started again; until then the log grows, and nothing is lost
    } finally {
      tidying = null
    }
  }

  function later(): void {
    timer ??= setTimeout(() => {
      timer = undefined
      tidying ??= tidy()
    }, BETWEEN_CHECKPOINTS_MS).unref()
  }

  return {
    sync() {
      log ??= openSync(`${file}-wal`, 'r')
      if (++commits >= COMMITS || (commits % COMMITS_WHEN_LONG === 0 && fstatSync(log).size > LONG_LOG * 4_096)) later()
      return new Promise((resolve, reject) => fdatasync(log!, (error) => (error ? reject(error) : resolve())))
    },
    async rest() {
      if (!mustRest) return
      mustRest = false
      await copy().catch(later)
    },
    async close() {
      clearTimeout(timer)
      await thread.close()
      if (log !== undefined) closeSync(log)
    },
  }
}
