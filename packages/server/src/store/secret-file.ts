// The master secret of an embedded store that was configured without one: a file beside the database that only its
// owner can read.
import { chmodSync, closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { LEAST_SECRET } from '../config.ts'
import { isThere } from './data-directory.ts'

export const secretFile = (directory: string): string => path.join(directory, 'secret')

/** Returns the stored secret, or null if none was made yet. Throws if it is too short to be one. */
export function readSecret(directory: string): string | null {
  const file = secretFile(directory)
  if (!isThere(file)) return null
  const secret = readFileSync(file, 'utf8').trim()
  // A command that failed to write a secret leaves an empty file, from which anybody could derive every key.
  if (secret.length >= LEAST_SECRET) return secret
  throw new Error(
    `${file} holds ${secret.length} characters; a master secret has at least ${LEAST_SECRET}. Put the secret of the store there or, if there is no store yet, delete the file.`,
  )
}

/** Returns the stored secret, which only its owner can read from now on. Makes it for a new store that has none. */
export function keepSecret(directory: string, isNew: boolean): string | null {
  const file = secretFile(directory)
  if (isNew && !isThere(file)) createSecret(file)
  if (isThere(file)) chmodSync(file, 0o600)
  return readSecret(directory)
}

// Written elsewhere and linked into place, so that a process that starts at the same moment sees the whole secret or
// none. It is on disk before the store is: after a power cut that left the store alone, no key would work.
function createSecret(file: string): void {
  const draft = `${file}.${process.pid}`
  try {
    writeFileSync(draft, randomBytes(32).toString('base64url') + '\n', { mode: 0o600, flush: true })
    linkSync(draft, file)
    flushFolder(path.dirname(file))
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

function flushFolder(folder: string): void {
  if (process.platform === 'win32') return // it opens no folders
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
