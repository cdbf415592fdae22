// The write-ahead log of the embedded engine is synced and checkpointed off the main thread, where an fsync would hold
// up every request for 0.2 to 2 ms, and a checkpoint for 10 to 40.
//
// 1. The writing connection commits without an fsync of its own (synchronous = normal). `sync` is that fsync: a caller
//    gets its response after it, so a response still means that the data is on disk.
// 2. A thread of its own copies the log into the database while writing goes on. Only if it cannot catch up do writers
//    rest for the last part; the log then starts over instead of growing.
import { closeSync, fdatasync, fstatSync, openSync } from 'node:fs'
import { makeThread } from '../kernel/thread.ts'

/**
 * A commit writes from ten pages to hundreds. The log is worth copying after this many commits; once it is long, after
 * fewer.
 */
const COMMITS = 64
const COMMITS_WHEN_LONG = 8
const BETWEEN_CHECKPOINTS_MS = 200
/** In pages of 4 KiB. A log that grew longer than this is worth a short rest of the writers. */
const LONG_LOG = 4_000
/**
 * A read waits for a flush that takes no longer than this. The alternative, a snapshot held by each commit, costs 50 to
 * 60 µs of the main thread: at 500 events a second receipts took 8 to 11 % longer with it on a busy host, and up to 7 %
 * on a quiet one.
 */
const QUICK_MS = 1
/** How much a slow flush counts after each further one: a disk is quick again after some twenty. */
const FADING = 0.95

interface Checkpointed {
  /** Pages that were in the log. */
  log: number
}

export interface WriteAheadLog {
  /** Resolves when everything committed before is on disk. Rejects if the disk refuses, or if the log was deleted. */
  sync(): Promise<void>
  /** Whether each of the last flushes took a moment only. */
  isQuick(): boolean
  /** Copies the last part of the log, if that is due, so that it starts over. Call it while nobody writes. */
  rest(): Promise<void>
  close(): Promise<void>
}

/** `now` is a clock in milliseconds. */
export function watchLog(file: string, now: () => number): WriteAheadLog {
  const thread = makeThread<null, Checkpointed>(new URL('./checkpoint-thread.ts', import.meta.url), 'checkpoint', file)
  let log: number | undefined
  /** How many names the log had when it was opened: 1, or 0 on a file system that does not count them. */
  let names = 0
  let timer: NodeJS.Timeout | undefined
  let tidying: Promise<void> | null = null
  let mustRest = false
  let commits = 0
  // Unknown at first, and so not quick.
  let slowestMs = 2 * QUICK_MS

  /** Copies the present content of the log, and returns its length in pages. */
  async function copy(): Promise<number> {
    commits = 0
    return (await thread.ask(null)).log
  }

  // Writing goes on during a copy, so the log never ends. A long log is copied again at once: this time only what was
  // written during the first copy is left. The writers then rest while the remainder is copied, and the log starts
  // over.
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

  function open(): number {
    const opened = openSync(`${file}-wal`, 'r')
    names = fstatSync(opened).nlink
    return opened
  }

  /** A deleted file takes every write, and is gone with the process. */
  const isDeleted = (): boolean => names > 0 && fstatSync(log!).nlink === 0

  return {
    sync() {
      log ??= open()
      if (++commits >= COMMITS || (commits % COMMITS_WHEN_LONG === 0 && fstatSync(log).size > LONG_LOG * 4_096)) later()
      const began = now()
      return new Promise((resolve, reject) =>
        fdatasync(log!, (error) => {
          slowestMs = Math.max(now() - began, slowestMs * FADING)
          if (error) reject(error)
          else if (isDeleted()) reject(new Error('the files in DATA_DIR were deleted'))
          else resolve()
        }),
      )
    },
    isQuick: () => slowestMs <= QUICK_MS,
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
