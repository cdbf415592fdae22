// What a disk holds for sure at every moment at which the power could fail, while a store on SQLite works: a copy of its
// files as of each flush of the log. Of what was written after a flush any part may be there, torn and in any order.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import path from 'node:path'
import { databaseFile } from '../../src/store/data-directory.ts'

interface Files {
  database: Buffer
  log: Buffer
}

export interface Cut<T> extends Files {
  /** What clients had been told by the last moment at which the disk was sure of no more than this. */
  told: T
  /** The files as of the next flush; null after the last. */
  next: Files | null
}

const PAGE = 4_096
const FRAME_HEADER = 24
/** The log's header says which of its frames are of this time round: two numbers that change when it begins anew. */
const salts = (log: Buffer): string => log.toString('hex', 16, 24)

/** Records from now on; `told` is asked before anybody hears of a flush. */
export function recordCuts<T>(file: string, told: () => T): { cuts: Cut<T>[]; stop(): void } {
  const disk = fs.fdatasync
  const cuts: Cut<T>[] = []
  const flush = (fd: number, done: (error: NodeJS.ErrnoException | null) => void): void => {
    // The log first: what is copied from it into the database meanwhile is in it.
    const log = fs.readFileSync(`${file}-wal`)
    const files = { log, database: fs.readFileSync(file) }
    disk(fd, (error) => {
      const last = cuts.at(-1)
      if (last) Object.assign(last, { told: told(), next: files })
      cuts.push({ ...files, told: told(), next: null })
      done(error)
    })
  }
  fs.fdatasync = flush as typeof fs.fdatasync
  syncBuiltinESMExports()
  return {
    cuts,
    stop() {
      fs.fdatasync = disk
      syncBuiltinESMExports()
      const last = cuts.at(-1)
      if (last) last.told = told()
    },
  }
}

/** Whether the log began anew before the next flush: its frames are in the database, and are written over. */
export const beginsAnew = ({ log, next }: Cut<unknown>): boolean => next !== null && salts(log) !== salts(next.log)

function firstDifference(a: Buffer, b: Buffer): number {
  let i = 0
  while (i < b.length && a.subarray(i, i + PAGE).equals(b.subarray(i, i + PAGE))) i += PAGE
  while (i < b.length && a[i] === b[i]) i++
  return i
}

/** What the disk may look like after a power cut between this flush and the next; the least of it comes first. */
export function* remainsOf(cut: Cut<unknown>): Generator<Files> {
  const { database, log, next } = cut
  yield { database, log }
  if (!next) return
  // A log begins anew when all of it is in the database, and that is on disk.
  const base = beginsAnew(cut) ? next.database : database
  const from = firstDifference(log, next.log)
  for (const end of [from + FRAME_HEADER + 100, from + PAGE + FRAME_HEADER, next.log.length - 1]) {
    if (end < next.log.length)
      yield { database: base, log: Buffer.concat([next.log.subarray(0, end), log.subarray(end)]) }
  }
  // The later part of what was written is there, and the earlier is not.
  const hole = Buffer.from(next.log)
  hole.fill(0, from, Math.min(from + PAGE, hole.length))
  if (from > 32) yield { database: base, log: hole }
}

/**
 * The same while this log was copied into the database, of which every other page has reached the disk. Null where none
 * was.
 */
export function halfCopied({ database, log, next }: Cut<unknown>): Files | null {
  if (!next || database.equals(next.database)) return null
  const half = Buffer.from(next.database)
  for (let at = 0; at < database.length; at += 2 * PAGE) database.copy(half, at, at, at + PAGE)
  return { database: half, log }
}

/** Puts them where a service looks for its data. */
export function layOut({ database, log }: Files, folder: string): string {
  const file = databaseFile(folder)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.rmSync(`${file}-shm`, { force: true })
  fs.writeFileSync(file, database)
  fs.writeFileSync(`${file}-wal`, log)
  return file
}
