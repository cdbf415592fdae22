// The environment, read once. All errors are reported together, each with the name of the variable and the values it
// takes.
import { availableParallelism } from 'node:os'
import { DEFAULT_CLIENT_TYPES, SLUG } from '@sensorium/contract'
import { databaseServers, OPTIONS_ACCEPTED } from './kernel/database-url.ts'
import { parseRange, type AddressRange } from './kernel/addresses.ts'
import { LOG_LEVELS } from './kernel/logger.ts'
import { misspelt, type Misspelt } from './kernel/misspelt.ts'

/** The database that keeps the store. Its engine is chosen here, and known to `store/` and `memory/index/` alone. */
export type DatabaseConfig =
  /** In this process, with its files in `dataDir`. */
  | { engine: 'sqlite' }
  /** `readUrl` is of a replica, for reads that may be a little stale. */
  | { engine: 'postgres'; url: string; readUrl: string | null }

export interface Config {
  host: string
  port: number
  dataDir: string
  /** Processes behind the port; one with the embedded store. */
  workers: number
  /** How long it serves on after a signal, while it reports that it is not ready. */
  drainS: number
  database: DatabaseConfig
  publicUrl: string | null
  logLevel: string
  /** Unset only with the embedded store, which keeps a secret of its own. */
  secret: string | null
  visibilityTimeoutMs: number
  maxAttempts: number
  /** The waits after failed pushes 1, 2, 3 and so on; the last repeats. */
  pushRetryS: readonly number[]
  /** Requests per window; null is off. */
  rateLimitAgent: number | null
  rateLimitTenant: number | null
  rateLimitWindowS: number
  maxEventBytes: number
  maxMemoryBytes: number
  retentionDays: number
  auditDays: number
  /** A service that reranks the best results of a search. */
  rerank: { url: string; model: string; apiKey: string | null } | null
  embeddings: { kind: 'builtin' } | { kind: 'http'; url: string; model: string; apiKey: string | null }
  pushAllowPrivate: boolean
  /** Without `other`, which is always accepted. */
  clientTypes: readonly string[]
  operatorToken: string | null
  /** Whether `/console` is served. */
  console: boolean
  /** The proxies whose word about a client's address is believed. */
  trustedProxies: readonly AddressRange[]
  bootstrapTenant: string
  bootstrapAdminKey: string | null
  /** Variables that are no setting, and almost have the name of one. */
  misspelt: readonly Misspelt[]
}

export class ConfigError extends Error {
  /** One sentence for each variable that is wrong. */
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`Configuration refused:\n${problems.map((line) => `  ${line}`).join('\n')}`)
    this.problems = problems
  }
}

type Env = Readonly<Record<string, string | undefined>>

const MIB = 1_048_576

/** The fewest characters of a master secret. */
export const LEAST_SECRET = 16
const SECRET_TEXT = `at least ${LEAST_SECRET} characters, not counting white space around them`

/** Reads variables, and collects a sentence for each that is wrong. */
function makeEnvReader(env: Env) {
  const wrong: string[] = []
  const names = new Set<string>()

  function read<T>(name: string, fallback: T, accepted: string, parse: (text: string) => T | undefined): T {
    names.add(name)
    const text = env[name]
    if (text === undefined || text === '') return fallback
    const value = parse(text)
    if (value !== undefined) return value
    wrong.push(`${name} takes ${accepted}`)
    return fallback
  }

  const whole = (name: string, fallback: number, min: number, max: number): number =>
    read(name, fallback, `a whole number from ${min} to ${max}`, (text) => {
      const n = /^\d{1,15}$/.test(text) ? Number(text) : NaN
      return n >= min && n <= max ? n : undefined
    })

  const limit = (name: string, fallback: number): number | null =>
    read<number | null>(name, fallback, 'a whole number from 1 to 1000000000, or off', (text) =>
      text === 'off' ? null : /^[1-9]\d{0,9}$/.test(text) && Number(text) <= 1e9 ? Number(text) : undefined,
    )

  const text = (name: string): string | null => read<string | null>(name, null, 'a text', (value) => value)

  return { wrong, names, read, whole, limit, text }
}

type EnvReader = ReturnType<typeof makeEnvReader>

/**
 * Without credentials: no request can be made to a URL that has some, and its error would show them in the log. Without
 * the white space that the parser ignores, such as the end of a line of an edited file: the text is used as it is.
 */
function webUrl(text: string): string | undefined {
  const { username, password } = URL.parse(text) ?? { username: 'none' }
  const fine = /^https?:\/\/[^\s\p{Cc}]+$/iu.test(text) && !username && !password
  return fine ? text.replace(/\/+$/, '') : undefined
}
const WEB_URL = 'an http or https URL without user and password'

/** Without a query and fragment too: paths are appended to it. */
const baseUrl = (text: string): string | undefined => (/[?#]/.test(text) ? undefined : webUrl(text))
const BASE_URL = 'an http or https URL without user, password, query and fragment'

const onOrOff = (text: string): boolean | undefined =>
  ['on', 'true', '1'].includes(text) ? true : ['off', 'false', '0'].includes(text) ? false : undefined

function fiveNames(text: string): string[] | undefined {
  const names = text.split(',').map((name) => name.trim())
  const fine =
    names.length === 5 &&
    new Set(names).size === 5 &&
    names.every((name) => /^[a-z0-9][a-z0-9_.-]{0,62}$/i.test(name) && name !== 'other')
  return fine ? names : undefined
}

function pushWaits(text: string): number[] | undefined {
  const waits = text.split(',').map((wait) => (/^ *\d{1,5} *$/.test(wait) ? Number(wait) : NaN))
  return waits.length <= 16 && waits.every((wait) => wait >= 1 && wait <= 86_400) ? waits : undefined
}

function addressRanges(text: string): AddressRange[] | undefined {
  const ranges = text.split(',').map((range) => parseRange(range.trim()))
  return ranges.includes(undefined) ? undefined : (ranges as AddressRange[])
}

function readEmbeddings({ read, text, wrong }: EnvReader): Config['embeddings'] {
  const embeddings = read<Config['embeddings']>(
    'EMBEDDINGS',
    { kind: 'builtin' },
    `builtin, or ${WEB_URL}; a key goes into EMBEDDINGS_API_KEY`,
    (value) => {
      if (value === 'builtin') return { kind: 'builtin' }
      const service = webUrl(value)
      return service === undefined
        ? undefined
        : { kind: 'http', url: service, model: text('EMBEDDINGS_MODEL') ?? '', apiKey: text('EMBEDDINGS_API_KEY') }
    },
  )
  if (embeddings.kind === 'http' && embeddings.model === '')
    wrong.push('EMBEDDINGS_MODEL takes the name of a model; it is required when EMBEDDINGS is a URL')
  return embeddings
}

function readRerank({ read, text, wrong }: EnvReader): Config['rerank'] {
  const url = read<string | null>('RERANK', null, `${WEB_URL}; a key goes into RERANK_API_KEY`, webUrl)
  const model = text('RERANK_MODEL')
  const apiKey = text('RERANK_API_KEY')
  if (url === null) return null
  if (model === null) wrong.push('RERANK_MODEL takes the name of a model; it is required when RERANK is set')
  return { url, model: model ?? '', apiKey }
}

/**
 * The most workers for `auto`, which is otherwise one for each core of the machine or of the container: each worker has
 * connections and a model of its own.
 */
const MOST_AUTO_WORKERS = 8
const autoWorkers = (): number => Math.min(MOST_AUTO_WORKERS, availableParallelism())

function isOneServer(url: string): boolean {
  const servers = databaseServers(url)
  return servers !== null && servers.urls.length === 1 && !servers.mustFindPrimary
}

function readDatabase({ read, wrong }: EnvReader): DatabaseConfig {
  const url = read<string | null>(
    'DATABASE_URL',
    null,
    `a postgres:// or postgresql:// URL, of one server or of several separated by commas; ${OPTIONS_ACCEPTED}`,
    (value) => (databaseServers(value) === null ? undefined : value.replace(/\/+$/, '')),
  )
  const readUrl = read<string | null>(
    'DATABASE_READ_URL',
    null,
    `the postgres:// or postgresql:// URL of one server; ${OPTIONS_ACCEPTED}`,
    (value) => (isOneServer(value) ? value.replace(/\/+$/, '') : undefined),
  )
  if (url !== null) return { engine: 'postgres', url, readUrl }
  if (readUrl !== null)
    wrong.push('DATABASE_READ_URL takes the replica of the server in DATABASE_URL, which is not set')
  return { engine: 'sqlite' }
}

function readWorkers({ read, wrong }: EnvReader, isEmbedded: boolean): number {
  const auto = isEmbedded ? 1 : autoWorkers()
  const workers = read<number>('WORKERS', auto, 'a whole number from 1 to 64, or auto', (text) => {
    if (text === 'auto') return auto
    return /^[1-9]\d?$/.test(text) && Number(text) <= 64 ? Number(text) : undefined
  })
  if (isEmbedded && workers > 1)
    wrong.push('WORKERS takes 1 with the embedded store, which one process writes; several need DATABASE_URL')
  return workers
}

export function readConfig(env: Env): Config {
  const reader = makeEnvReader(env)
  const { wrong, read, whole, limit } = reader
  const config: Config = {
    host: read('HOST', '0.0.0.0', 'a host name or address', (value) => (/^[\w.:-]+$/.test(value) ? value : undefined)),
    port: whole('PORT', 8080, 0, 65_535),
    workers: readWorkers(reader, (env['DATABASE_URL'] ?? '') === ''),
    drainS: whole('DRAIN_S', 0, 0, 300),
    dataDir: read('DATA_DIR', './data', 'a folder', (value) => (value.includes('\0') ? undefined : value)),
    database: readDatabase(reader),
    publicUrl: read<string | null>('PUBLIC_URL', null, BASE_URL, baseUrl),
    logLevel: read<string>('LOG_LEVEL', 'info', `one of ${LOG_LEVELS.join(', ')}`, (value) =>
      LOG_LEVELS.find((level) => level === value),
    ),
    secret: read<string | null>('SENSORIUM_SECRET', null, SECRET_TEXT, (value) =>
      value.trim().length >= LEAST_SECRET ? value : undefined,
    ),
    visibilityTimeoutMs: whole('VISIBILITY_TIMEOUT_S', 30, 1, 43_200) * 1000,
    maxAttempts: whole('MAX_ATTEMPTS', 5, 1, 1000),
    pushRetryS: read<readonly number[]>(
      'PUSH_RETRY_S',
      [5, 60, 600, 3600],
      '1 to 16 whole numbers from 1 to 86400, separated by commas',
      pushWaits,
    ),
    rateLimitAgent: limit('RATE_LIMIT_AGENT', 6000),
    rateLimitTenant: limit('RATE_LIMIT_TENANT', 60_000),
    rateLimitWindowS: whole('RATE_LIMIT_WINDOW_S', 60, 1, 86_400),
    maxEventBytes: whole('MAX_EVENT_BYTES', MIB, 1024, 64 * MIB),
    maxMemoryBytes: whole('MAX_MEMORY_BYTES', 10 * MIB, 1024, 64 * MIB),
    retentionDays: whole('RETENTION_DAYS', 30, 1, 36_500),
    auditDays: whole('AUDIT_DAYS', 365, 1, 36_500),
    embeddings: readEmbeddings(reader),
    rerank: readRerank(reader),
    pushAllowPrivate: read('PUSH_ALLOW_PRIVATE', false, 'on or off', onOrOff),
    clientTypes: read<readonly string[]>(
      'CLIENT_TYPES',
      DEFAULT_CLIENT_TYPES,
      'five different names, separated by commas',
      fiveNames,
    ),
    operatorToken: read<string | null>('OPERATOR_TOKEN', null, 'at least 16 characters without spaces', (value) =>
      /^[\x21-\x7e]{16,}$/.test(value) ? value : undefined,
    ),
    console: read('CONSOLE', true, 'on or off', onOrOff),
    trustedProxies: read<readonly AddressRange[]>(
      'TRUSTED_PROXIES',
      [],
      'addresses or ranges such as 10.0.0.0/8, separated by commas',
      addressRanges,
    ),
    bootstrapTenant: read(
      'BOOTSTRAP_TENANT',
      'default',
      'a slug: 1 to 63 lower-case letters, digits and inner hyphens',
      (value) => (new RegExp(SLUG).test(value) ? value : undefined),
    ),
    bootstrapAdminKey: read<string | null>('BOOTSTRAP_ADMIN_KEY', null, 'ak_live_ and 32 letters or digits', (value) =>
      /^ak_live_[A-Za-z0-9]{32}$/.test(value) ? value : undefined,
    ),
    misspelt: [],
  }
  // One that is set and too short has its sentence already.
  if (config.database.engine === 'postgres' && reader.text('SENSORIUM_SECRET') === null) {
    wrong.push(
      `SENSORIUM_SECRET takes at least ${LEAST_SECRET} characters; it is required with DATABASE_URL, the same on every node`,
    )
  }
  if (wrong.length > 0) throw new ConfigError(wrong)
  return { ...config, misspelt: misspelt(env, reader.names) }
}
