// The files of the built console, each with its compressed forms and what a cache needs to know of it.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'

export interface ConsoleFile {
  type: string
  etag: string
  /** Its name carries its hash: what lies behind the address never changes. */
  isForever: boolean
  /** The whole file in each encoding it was compressed with, smallest first; `identity` is the last. */
  forms: readonly { encoding: string; bytes: Buffer }[]
}

const HERE = import.meta.dirname
/** In the package where it was installed, as set-up built it otherwise. */
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

/** Null where the console was not built. */
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

/** All of them by their path below `/console/`: about 1 MB, read when somebody first looks. */
export function readConsole(folder: string): Map<string, ConsoleFile> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.split(path.sep).join('/'))
    .filter((name) => TYPES[path.extname(name)] !== undefined)
  return new Map(names.map((name) => [name, fileAt(folder, name)]))
}
