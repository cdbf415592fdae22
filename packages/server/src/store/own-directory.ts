// One service owns a data directory. The operating system drops the lock with the process, so a crash leaves nothing to
// clean up. The command line works beside a running service and does not take the lock.
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import path from 'node:path'
import { databaseFile, giveToOwner, isThere, makePrivate } from './data-directory.ts'

/** SQLITE_BUSY: another process holds the lock. */
const BUSY = 5

/** How long a command that runs beside the start may take. */
const COMMAND_MS = 5_000

// A connection that nothing refers to is garbage-collected, and its lock is dropped with it.
const held = new Set<DatabaseSync>()

export function ownDirectory(directory: string): () => void {
  const file = path.resolve(directory, 'service.lock')
  const isNew = !isThere(file)
  makePrivate(file)
  if (isNew) giveToOwner(file)
  const lock = new DatabaseSync(file, { timeout: 0 })
  try {
    lock.exec('pragma journal_mode = delete; begin exclusive')
  } catch (error) {
    lock.close()
    const { errcode, message } = error as Error & { errcode?: number }
    if (errcode !== BUSY) throw new Error(`${file} cannot be locked: ${message}`, { cause: error })
    throw new Error(
      `Another sensorium already runs on ${directory}. Stop it first, or give this one a DATA_DIR of its own.`,
    )
  }
  held.add(lock)
  return () => {
    if (held.delete(lock)) lock.close()
  }
}

/**
 * Throws if a process uses the database by another name: SQLite keeps a log beside each name, and each service would
 * overwrite what the other has stored. More names alone are no reason, because a snapshot by hard links makes some.
 * SQLite's exclusive mode locks the file itself.
 */
export function requireUnused(directory: string): void {
  const database = databaseFile(directory)
  if (!isThere(database) || statSync(database).nlink === 1) return
  const probe = new DatabaseSync(database, { timeout: COMMAND_MS })
  try {
    probe.exec('pragma locking_mode = exclusive; begin immediate; rollback')
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== BUSY) return // whoever opens it says what is wrong with it
    throw new Error(
      `${database} has several names (hard links), and another process uses it. Stop that one first, or copy the database with "sensorium backup" in its folder.`,
    )
  } finally {
    probe.close()
  }
}

/** The same for a command, which works beside a service of this folder: that one uses the database by this name. */
export function requireUnusedElsewhere(directory: string): void {
  const database = databaseFile(directory)
  if (statSync(database).nlink === 1) return
  let release: () => void
  try {
    release = ownDirectory(directory)
  } catch {
    return
  }
  try {
    requireUnused(directory)
  } finally {
    release()
  }
}
