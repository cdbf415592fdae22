// Replaces an embedded store by a backup. The caller owns the directory, so nobody writes meanwhile.
import { existsSync, renameSync, rmSync } from 'node:fs'
import { copyDatabase } from './backup.ts'

/**
 * Returns where the previous database is kept, or null if there was none. One that was kept before is never
 * overwritten.
 */
export async function replaceDatabase(backupFile: string, database: string): Promise<string | null> {
  const arriving = `${database}.restoring`
  for (const suffix of ['', '-wal', '-shm']) rmSync(arriving + suffix, { force: true })
  await copyDatabase(backupFile, arriving)

  let aside = `${database}.before-restore`
  for (let n = 2; existsSync(aside); n++) aside = `${database}.before-restore-${n}`
  const kept = existsSync(database)
  if (kept) renameSync(database, aside)
  // The log may hold commits that the database file does not, so it moves along, under the name that SQLite looks for.
  if (existsSync(`${database}-wal`)) renameSync(`${database}-wal`, `${aside}-wal`)
  rmSync(`${database}-shm`, { force: true })
  renameSync(arriving, database)
  return kept ? aside : null
}
