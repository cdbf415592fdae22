// The write-ahead log of the embedded engine is made durable and emptied beside the main thread: there an fsync holds up every
// request for 0.2 to 2 ms, and a checkpoint for 10 to 40.
//
// 1. The connection that writes commits without an fsync of its own (synchronous = normal). `sync` is that fsync: whoever
//    committed is answered after it, so an answer still means that the data is on disk.
// 2. The log is copied into the database by a thread of its own while writing goes on. Only when that cannot catch up do writers
//    rest for the last part of it; the log then begins anew instead of growing.
import { closeSync, fdatasync, fstatSync, openSync } from 'node:fs'
import { makeThread } from '../kernel/thread.ts'

/** A commit writes from ten pages to hundreds. The log is worth copying after this many; once it was long, after fewer. */
const COMMITS = 64
const COMMITS_WHEN_LONG = 8
const BETWEEN_CHECKPOINTS_MS = 200
/** Of 4 KiB. A log that got longer than this, and could not be copied whole, is worth a rest of the writers. */
const LONG_LOG = 4_000

export interface Checkpointed {
  /** Pages in the log, and how many of them are in the database by now. */
  log: number
  copied: number
}

export interface WriteAheadLog {
  /** Resolves when all that was committed before is on disk; rejects when the disk refuses. */
  sync(): Promise<void>
  /** Waits while the log needs a rest. Call it before a transaction. */
  rest(): Promise<void> | null
  close(): Promise<void>
}

export function watchLog(file: string): WriteAheadLog {
  const thread = makeThread<null, Checkpointed>(new URL('./checkpoint-thread.ts', import.meta.url), 'checkpoint', file)
  let log: number | undefined
  let timer: NodeJS.Timeout | undefined
  let copying: Promise<void> | null = null
  let resting: Promise<void> | null = null
  let tooLong = false
  let commits = 0

  async function copy(): Promise<void> {
    commits = 0
    try {
      const { log: pages, copied } = await thread.ask(null)
      tooLong = copied < pages && pages > LONG_LOG
      if (copied < pages) later()
    } catch {
      later() // a thread that died is started again; until then the log grows, and nothing is lost
    } finally {
      copying = null
    }
  }

  function later(): void {
    timer ??= setTimeout(() => {
      timer = undefined
      copying ??= copy()
    }, BETWEEN_CHECKPOINTS_MS).unref()
  }

  return {
    sync() {
      log ??= openSync(`${file}-wal`, 'r')
      if (++commits >= COMMITS || (commits % COMMITS_WHEN_LONG === 0 && fstatSync(log).size > LONG_LOG * 4_096)) later()
      return new Promise((resolve, reject) => fdatasync(log!, (error) => (error ? reject(error) : resolve())))
    },
    rest() {
      if (!tooLong) return null
      return (resting ??= (async () => {
        await copying
        copying = copy()
        await copying
        tooLong = false
        resting = null
      })())
    },
    async close() {
      clearTimeout(timer)
      await thread.close()
      if (log !== undefined) closeSync(log)
    },
  }
}
