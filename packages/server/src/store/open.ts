// Opens a store from a configuration, for the service and for the command line, which works beside it. The engine is
// chosen here and nowhere else.
import type { Config, DatabaseConfig } from '../config.ts'
import type { Clock } from '../kernel/clock.ts'
import { shownDatabaseUrl } from '../kernel/database-url.ts'
import { makeSecrets, type Secrets } from '../kernel/secrets.ts'
import { databaseFile, isThere, makeDataDirectory, requireNoLink, storeFolder } from './data-directory.ts'
import { StoreUnavailable, type Observe, type Store } from './db.ts'
import { agreeOnTime, followClock } from './follow-clock.ts'
import { migrate, requireNotOlder } from './migrate.ts'
import { ownDirectory, requireUnused, requireUnusedElsewhere } from './own-directory.ts'
import { keepSecret, secretFile } from './secret-file.ts'
import { requireNotHalfRestored } from './restore.ts'
import { openSqlite, requireVectors } from './sqlite.ts'
import { readSetting } from './setting.ts'

export interface Opened {
  store: Store
  secrets: Secrets
}

interface OpenOptions {
  observe?: Observe
  /** Called when connections are lost or regained. */
  warn?: (what: string, error: unknown) => void
  /** How many connections transactions share, if the store has several. */
  poolSize?: number
  /** Refuses a store that an older release made, instead of migrating it. An empty one is migrated. */
  refuseOlder?: boolean
}

/** Throws if the engine was not installed completely. */
export function requireWholeEngine({ database }: Pick<Config, 'database'>): void {
  if (database.engine === 'sqlite') requireVectors()
}

/** Opens the store as it is, without migrations and checks. The folder must exist. */
export async function connect({ database, dataDir }: Config, clock: Clock, options: OpenOptions = {}): Promise<Store> {
  if (database.engine === 'sqlite') {
    requireNoLink(databaseFile(dataDir))
    requireWholeEngine({ database })
    return openSqlite(databaseFile(dataDir), options.observe)
  }
  // Loaded where it is used: the driver takes 34 ms of a start.
  const { openPostgres } = await import('./postgres.ts')
  const { url, readUrl } = database
  return openPostgres({ url, clock, ...options, ...(readUrl ? { readUrl } : {}) })
}

/** Whether there is a store to open. A database server is only asked when it is opened. */
export function storeExists(config: Config): boolean {
  const folder = storeFolder(config)
  if (folder === null) return true
  requireNotHalfRestored(databaseFile(folder))
  return isThere(databaseFile(folder))
}

/** Keeps other services off a store that only one may use, until this process ends. */
export function ownStore(config: Config): void {
  const folder = storeFolder(config)
  if (folder === null) return
  makeDataDirectory(folder)
  ownDirectory(folder)
  requireUnused(folder)
}

/** Opens the store, creates it if there is none, and migrates it to this code's schema. */
export async function openStore(config: Config, clock: Clock, options: OpenOptions = {}): Promise<Opened> {
  const folder = storeFolder(config)
  if (folder !== null) {
    makeDataDirectory(folder)
    requireNotHalfRestored(databaseFile(folder))
  }
  const store = await connect(config, clock, options)
  try {
    await store.requireSuitable()
    // Before anything is written, so that no time of a clock that is ahead gets into a store that nodes share.
    await followClock(store, clock)
    if (options.refuseOlder) await requireNotOlder(store)
    await migrate(store, clock.now())
    await agreeOnTime(store, clock, true)
    await store.refreshCapabilities()
    return { store, secrets: await checkedSecrets(store, config) }
  } catch (error) {
    await store.close()
    throw withAddress(error, config.database)
  }
}

/**
 * Opens an existing store for a command, beside a service that may be running on it; returns null if there is none. It
 * never creates one: a mistyped folder must not become a store. Nor does it migrate one, because the service may be of
 * the release that made it, and would not know the new schema.
 */
export async function openBesideService(config: Config, clock: Clock): Promise<Opened | null> {
  if (!storeExists(config)) return null
  const folder = storeFolder(config)
  if (folder !== null) requireUnusedElsewhere(folder)
  return openStore(config, clock, { refuseOlder: true })
}

/** The driver verifies certificates where libpq does not, and names only options of Node.js. */
const CERTIFICATE_HINT =
  '. If the certificate is of an authority of your own, add sslmode=verify-full&sslrootcert=<file> to DATABASE_URL'

/** Adds which setting names the database that cannot be reached: the driver's message has no more than an address. */
function withAddress(error: unknown, database: DatabaseConfig): unknown {
  if (database.engine === 'sqlite' || !(error instanceof Error)) return error
  // The driver reads the files that the URL names, such as sslrootcert, when it connects.
  const isFile = (error as NodeJS.ErrnoException).syscall === 'open'
  if (!isFile && !(error instanceof StoreUnavailable && error.trouble === 'away')) return error
  const message = `PostgreSQL at ${shownDatabaseUrl(database.url)} (DATABASE_URL) cannot be used: ${error.message}${/certificate/.test(error.message) ? CERTIFICATE_HINT : ''}`
  return new StoreUnavailable(message, { cause: error })
}

// With another master secret no key would be found and nothing sealed could be opened. Saying so here is better than
// answering 401 to every request.
async function checkedSecrets(store: Store, { secret, dataDir }: Config): Promise<Secrets> {
  // Asked before the file is looked for: a process that starts at the same moment makes the file first.
  const isNew = (await fingerprintOf(store)) === undefined
  const master = secret ?? keepSecret(dataDir, isNew)
  const file = secretFile(dataDir)
  if (master === null)
    throw new Error(`The secret this store was made with is missing: set SENSORIUM_SECRET, or bring back ${file}.`)
  const secrets = makeSecrets(master)
  if (isNew)
    await store.tx((tx) =>
      tx.run("insert into settings (name, value) values ('secret_fingerprint', ?) on conflict (name) do nothing", [
        secrets.fingerprint,
      ]),
    )
  if ((await fingerprintOf(store)) !== secrets.fingerprint)
    throw new Error(`${secret === null ? file : 'SENSORIUM_SECRET'} is not the secret this store was made with.`)
  return secrets
}

/** Returns what identifies the secret that the store was made with, undefined before its first start. */
export const fingerprintOf = (store: Store): Promise<string | undefined> => readSetting(store, 'secret_fingerprint')
