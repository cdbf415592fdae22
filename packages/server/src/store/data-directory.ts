// The folder of an embedded store and the files in it. Only the owner may read any of them. Each file is created that
// way, because a folder that existed before keeps its mode, and SQLite gives a log the mode of its database.
//
// SQLite gets absolute names only: it takes one that begins with `file:` for a URI.
import { closeSync, lchownSync, lstatSync, mkdirSync, openSync, readdirSync, statSync, type Stats } from 'node:fs'
import path from 'node:path'
import type { Config } from '../config.ts'

/** The folder whose files are the store; null if a server keeps it. */
export const storeFolder = ({ database, dataDir }: Pick<Config, 'database' | 'dataDir'>): string | null =>
  database.engine === 'sqlite' ? dataDir : null

export const databaseFile = (directory: string): string => path.resolve(directory, 'sensorium.db')

/** Throws if that cannot be seen, as without permission: what cannot be seen is not missing. */
export const isThere = (file: string): boolean => statSync(file, { throwIfNoEntry: false }) !== undefined

/** Throws for a database that is elsewhere: SQLite keeps the log beside it, and the lock is of this folder alone. */
export function requireNoLink(database: string): void {
  if (lstatSync(database, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new Error(
      `${database} is a symbolic link. Move the database here, or make DATA_DIR itself a link to its folder.`,
    )
}

/** Not `recursive`: where a folder that is there takes no other, as /proc, Node.js would try for ever. */
function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
  const parent = path.dirname(folder)
  if (parent !== folder) makeFolder(parent)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it at the same moment.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}

export function makeDataDirectory(directory: string): void {
  try {
    makeFolder(path.resolve(directory))
  } catch (error) {
    throw new Error(`DATA_DIR cannot be made or used as a folder: ${(error as Error).message}`, { cause: error })
  }
}

/** Creates an empty file that only its owner may read, if there is none. An existing file stays as it is. */
export const makePrivate = (file: string): void => closeSync(openSync(file, 'a', 0o600))

/** Gives a file that root has just made to the owner of its folder, whose service could not open it otherwise. */
export function giveToOwner(file: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(path.dirname(file))
  try {
    lchownSync(file, uid, gid)
  } catch {} // a container may forbid it, or not know the owner
}

const isOpen = ({ mode }: Stats): boolean => (mode & 0o077) !== 0

/**
 * Returns the files in a folder, and in those below it, that others than their owner can reach, each with its mode.
 * Whatever its name is, a file beside a store may be a copy of it. Folders that are links are not entered.
 */
export function tooOpen(directory: string): { file: string; mode: string }[] {
  if (!isThere(directory) || !isOpen(statSync(directory))) return []
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(directory, entry.name)
    if (entry.isDirectory()) return tooOpen(file)
    // A running service removes files meanwhile.
    const stats = statSync(file, { throwIfNoEntry: false })
    if (!stats?.isFile() || !isOpen(stats)) return []
    return [{ file, mode: (stats.mode & 0o777).toString(8).padStart(4, '0') }]
  })
}
