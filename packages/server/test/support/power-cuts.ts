// What a disk is guaranteed to hold whenever the power could fail while a store on SQLite works: a copy of its files as
// of each flush of the log. Of what was written after a flush any part may be on disk, torn and in any order.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import path from 'node:path'
import { databaseFile } from '../../src/store/data-directory.ts'

interface Files {
  database: Buffer
  log: Buffer
}

export interface Cut<T> extends Files {
  /** What had been confirmed to clients at the last moment at which only these files were guaranteed on disk. */
  told: T
  /** The files as of the next flush, or null after the last one. */
  next: Files | null
}

const PAGE = 4_096
const FRAME_HEADER = 24
/** The salts in the log's header tell which frames are current: two numbers that change when the log restarts. */
const salts = (log: Buffer): string => log.toString('hex', 16, 24)

/** Starts recording. `told` is called before anybody is notified of a flush. */
export function recordCuts<T>(file: string, told: () => T): { cuts: Cut<T>[]; stop(): void } {
  const disk = fs.fdatasync
  const cuts: Cut<T>[] = []
  const flush = (fd: number, done: (error: NodeJS.ErrnoException | null) => void): void => {
    // The log is read first: anything that is copied from it into the database meanwhile is still in it.
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

/** Whether the log restarted before the next flush: its frames are in the database, and are overwritten. */
export const beginsAnew = ({ log, next }: Cut<unknown>): boolean => next !== null && salts(log) !== salts(next.log)

function firstDifference(a: Buffer, b: Buffer): number {
  let i = 0
  while (i < b.length && a.subarray(i, i + PAGE).equals(b.subarray(i, i + PAGE))) i += PAGE
  while (i < b.length && a[i] === b[i]) i++
  return i
}

/** States of the disk after a power cut between this flush and the next; the one with the least data comes first. */
export function* remainsOf(cut: Cut<unknown>): Generator<Files> {
  const { database, log, next } = cut
  yield { database, log }
  if (!next) return
  // A log restarts when all of it is in the database, and the database is on disk.
  const base = beginsAnew(cut) ? next.database : database
  const from = firstDifference(log, next.log)
  for (const end of [from + FRAME_HEADER + 100, from + PAGE + FRAME_HEADER, next.log.length - 1]) {
    if (end < next.log.length)
      yield { database: base, log: Buffer.concat([next.log.subarray(0, end), log.subarray(end)]) }
  }
  // The later part of the written data is on disk, and the earlier part is not.
  const hole = Buffer.from(next.log)
  hole.fill(0, from, Math.min(from + PAGE, hole.length))
  if (from > 32) yield { database: base, log: hole }
}

/**
 * The same while this log is copied into the database, when every other page has reached the disk. Null if the log was
 * not copied.
 */
export function halfCopied({ database, log, next }: Cut<unknown>): Files | null {
  if (!next || database.equals(next.database)) return null
  const half = Buffer.from(next.database)
  for (let at = 0; at < database.length; at += 2 * PAGE) database.copy(half, at, at, at + PAGE)
  return { database: half, log }
}

/** Writes the files to where a service looks for its data. */
export function layOut({ database, log }: Files, folder: string): string {
  const file = databaseFile(folder)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.rmSync(`${file}-shm`, { force: true })
  fs.writeFileSync(file, database)
  fs.writeFileSync(`${file}-wal`, log)
  return file
}
