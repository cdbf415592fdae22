// Copies an embedded store as it is at one moment, while a service writes to it.
import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { DatabaseSync, backup } from 'node:sqlite'
import path from 'node:path'
import { makePrivate } from './data-directory.ts'
import { newestVersion } from './migrate.ts'

// All pages in one step, off the main thread. A copy in several steps starts again whenever another process writes
// between two of them, so beside a busy service it would never end.
const ALL_PAGES = 2 ** 31 - 1

/** What a database file says about itself. */
interface StoreFile {
  bytes: number
  schemaVersion: number
  /** Identifies the master secret that the store was made with. */
  fingerprint: string
}

/** Copies the database to a file that did not exist; a copy that fails leaves nothing behind. */
export async function copyDatabase(from: string, to: string): Promise<StoreFile> {
  if (!existsSync(path.dirname(to)))
    throw new Error(`There is no folder ${path.dirname(path.resolve(to))}. Make it first.`)
  if (existsSync(to)) throw new Error(`${to} is there already. Name a file that is not.`)
  const partial = path.resolve(`${to}.partial`)
  rmSync(partial, { force: true })
  const source = new DatabaseSync(path.resolve(from), { readOnly: true, timeout: 5000 })
  try {
    makePrivate(partial) // before the first byte is in it
    await backup(source, partial, { rate: ALL_PAGES })
    foldLog(partial)
    const inspected = inspectDatabase(partial)
    renameSync(partial, to)
    return inspected
  } finally {
    source.close()
    for (const leftover of [partial, `${partial}-journal`, `${partial}-wal`, `${partial}-shm`])
      rmSync(leftover, { force: true })
  }
}

/** Makes a database a single file without a log beside it, so that it can be moved. */
export function foldLog(file: string): void {
  const connection = new DatabaseSync(file)
  try {
    connection.exec('pragma journal_mode = delete')
  } finally {
    connection.close()
  }
}

/**
 * Reads what a file says about itself. Throws if the file is damaged, is no sensorium store, or is newer than this
 * code.
 */
export function inspectDatabase(file: string): StoreFile {
  if (!existsSync(file)) throw new Error(`There is no file ${file}.`)
  const connection = new DatabaseSync(path.resolve(file), { readOnly: true, timeout: 5000 })
  const value = (sql: string): unknown => {
    try {
      return Object.values(connection.prepare(sql).get() ?? {})[0]
    } catch {
      return undefined // no database at all, or none with that table
    }
  }
  try {
    // The newest migration, and which secret: every store that was opened once has both.
    const schemaVersion = value('select max(version) from schema_migrations')
    const fingerprint = value("select value from settings where name = 'secret_fingerprint'")
    if (typeof schemaVersion !== 'number' || typeof fingerprint !== 'string')
      throw new Error(`${file} is not a sensorium store, or is damaged.`)
    const newest = newestVersion('sqlite')
    if (schemaVersion > newest)
      throw new Error(
        `${file} has schema version ${schemaVersion}; this release knows up to ${newest}. Use a newer release.`,
      )
    const check = value('pragma quick_check(1)')
    if (check !== 'ok') throw new Error(`${file} is damaged: ${String(check)}.`)
    return { bytes: statSync(file).size, schemaVersion, fingerprint }
  } finally {
    connection.close()
  }
}
