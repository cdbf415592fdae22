// The files of the built console, each with its compressed forms and what a cache needs to know about it.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'

export interface ConsoleFile {
  type: string
  etag: string
  /** The name contains the hash of the file, so the content of its URL never changes. */
  isForever: boolean
  /** The whole file in each encoding it was compressed with, smallest first; `identity` is the last. */
  forms: readonly { encoding: string; bytes: Buffer }[]
}

const HERE = import.meta.dirname
/** Inside the installed package, or else where the setup script builds it. */
const PLACES = [path.resolve(HERE, '../../assets/console'), path.resolve(HERE, '../../../console/dist')]

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.md': 'text/plain; charset=utf-8',
}
const COMPRESSED = [
  { encoding: 'br', suffix: '.br' },
  { encoding: 'gzip', suffix: '.gz' },
]

/** Returns the folder of the console, or null if it was not built. */
export const consoleFolder = (): string | null =>
  PLACES.find((place) => existsSync(path.join(place, 'index.html'))) ?? null

function fileAt(folder: string, name: string): ConsoleFile {
  const bytes = readFileSync(path.join(folder, name))
  const compressed = COMPRESSED.filter(({ suffix }) => existsSync(path.join(folder, name + suffix))).map(
    ({ encoding, suffix }) => ({ encoding, bytes: readFileSync(path.join(folder, name + suffix)) }),
  )
  return {
    type: TYPES[path.extname(name)]!,
    etag: createHash('sha256').update(bytes).digest('base64url').slice(0, 22),
    isForever: name.startsWith('assets/'),
    forms: [...compressed, { encoding: 'identity', bytes }],
  }
}

/** Returns all files by their path below `/console/`: about 1 MB, read with the first request. */
export function readConsole(folder: string): Map<string, ConsoleFile> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.split(path.sep).join('/'))
    .filter((name) => TYPES[path.extname(name)] !== undefined)
  return new Map(names.map((name) => [name, fileAt(folder, name)]))
}
