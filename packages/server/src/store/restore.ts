// Replaces an embedded store by a backup. The caller owns the directory, so nobody writes meanwhile.
import { existsSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { copyDatabase, foldLog } from './backup.ts'
import { giveToOwner, isThere } from './data-directory.ts'

const arrivingFor = (database: string): string => `${database}.restoring`

/** Throws if a restore ended between its renames: a start would take the folder for an empty one. */
export function requireNotHalfRestored(database: string): void {
  if (!isThere(database) && isThere(arrivingFor(database)))
    throw new Error(`A restore was interrupted in ${path.dirname(database)}. Run it again: sensorium restore <file>`)
}

/**
 * Returns where the previous database is kept, or null if there was none. One that was kept before is never
 * overwritten.
 */
export async function replaceDatabase(backupFile: string, database: string): Promise<string | null> {
  const arriving = arrivingFor(database)
  // Copied beside it first: a restore that is run again and fails must leave the mark of the first one.
  const copy = `${arriving}.copy`
  for (const suffix of ['', '-wal', '-shm']) rmSync(copy + suffix, { force: true })
  await copyDatabase(backupFile, copy)
  giveToOwner(copy)
  renameSync(copy, arriving)

  let aside = `${database}.before-restore`
  for (let n = 2; existsSync(aside); n++) aside = `${database}.before-restore-${n}`
  const kept = existsSync(database)
  try {
    if (kept) foldLog(database) // so that one rename moves both
  } catch {} // damaged, or a command is using it
  if (kept) renameSync(database, aside)
  // A log that is left may hold commits that the database does not: it moves along, by the name that SQLite looks for.
  if (existsSync(`${database}-wal`)) renameSync(`${database}-wal`, `${aside}-wal`)
  rmSync(`${database}-shm`, { force: true })
  renameSync(arriving, database)
  return kept ? aside : null
}
