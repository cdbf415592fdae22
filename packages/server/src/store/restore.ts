// Puts a backup in the place of an embedded store. The caller owns the directory, so nobody writes meanwhile.
import { existsSync, renameSync, rmSync } from 'node:fs'
import { copyDatabase } from './backup.ts'

/** Where the database that was there is kept; null if there was none. What was kept before is never overwritten. */
export async function replaceDatabase(backupFile: string, database: string): Promise<string | null> {
  const arriving = `${database}.restoring`
  for (const suffix of ['', '-wal', '-shm']) rmSync(arriving + suffix, { force: true })
  await copyDatabase(backupFile, arriving)

  let aside = `${database}.before-restore`
  for (let n = 2; existsSync(aside); n++) aside = `${database}.before-restore-${n}`
  const kept = existsSync(database)
  if (kept) renameSync(database, aside)
  // The log holds commits that the database file may not: it goes with it under the name SQLite looks for.
  if (existsSync(`${database}-wal`)) renameSync(`${database}-wal`, `${aside}-wal`)
  rmSync(`${database}-shm`, { force: true })
  renameSync(arriving, database)
  return kept ? aside : null
}
