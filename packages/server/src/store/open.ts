// From a configuration to an open store: shared by the service and the command line, which works beside it. Which
// engine it is, is decided here and nowhere else.
import { existsSync } from 'node:fs'
import type { Config } from '../config.ts'
import type { Clock } from '../kernel/clock.ts'
import { makeSecrets, type Secrets } from '../kernel/secrets.ts'
import { databaseFile, makeDataDirectory } from './data-directory.ts'
import { one, type Observe, type Store } from './db.ts'
import { followClock } from './follow-clock.ts'
import { migrate } from './migrate.ts'
import { openPostgres } from './postgres.ts'
import { keepSecret } from './secret-file.ts'
import { openSqlite } from './sqlite.ts'

export interface Opened {
  store: Store
  secrets: Secrets
}

export interface OpenOptions {
  observe?: Observe
  /** Told of lost and regained connections. */
  warn?: (what: string, error: unknown) => void
  /** Connections that transactions share, where the store has several. */
  poolSize?: number
}

/** The store as it is: nothing has been migrated and nothing checked. The folder must be there. */
export const connect = (
  { databaseUrl, databaseReadUrl, dataDir }: Config,
  clock: Clock,
  options: OpenOptions = {},
): Store =>
  databaseUrl === null
    ? openSqlite(databaseFile(dataDir), options.observe)
    : openPostgres({ url: databaseUrl, clock, ...options, ...(databaseReadUrl ? { readUrl: databaseReadUrl } : {}) })

/** Whether there is a store to open; a database server is asked when it is opened. */
export const storeExists = ({ databaseUrl, dataDir }: Config): boolean =>
  databaseUrl !== null || existsSync(databaseFile(dataDir))

/** Opens the store, makes it where there is none, and brings it to this code's schema. */
export async function openStore(config: Config, clock: Clock, options: OpenOptions = {}): Promise<Opened> {
  if (config.databaseUrl === null) makeDataDirectory(config.dataDir)
  const secrets = makeSecrets(config.secret ?? keepSecret(config.dataDir))
  const store = connect(config, clock, options)
  try {
    await store.requireSessions()
    // Before anything is written: no time of a clock that is ahead gets into a store that nodes share.
    await followClock(store, clock)
    await migrate(store, clock.now())
    await store.learn()
    await checkSecret(store, secrets)
  } catch (error) {
    await store.close()
    throw explained(error)
  }
  return { store, secrets }
}

/** A pooler refuses what it does not know, in words that its own settings are needed for. */
function explained(error: unknown): unknown {
  const parameter = /unsupported startup parameter: (\w+)/.exec((error as Error).message)?.[1]
  return parameter === undefined
    ? error
    : new Error(
        `DATABASE_URL leads through a pooler that refuses ${parameter}. Set pool_mode = session and ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout there, or name the server itself`,
        { cause: error },
      )
}

// With another master secret no key would be found and nothing sealed could be opened: say so instead of answering 401
// to all.
async function checkSecret(store: Store, secrets: Secrets): Promise<void> {
  await store.tx((tx) =>
    tx.run("insert into settings (name, value) values ('secret_fingerprint', ?) on conflict (name) do nothing", [
      secrets.fingerprint,
    ]),
  )
  const row = await one<{ value: string }>(store, "select value from settings where name = 'secret_fingerprint'")
  if (row?.value !== secrets.fingerprint)
    throw new Error('SENSORIUM_SECRET is not the secret this store was made with.')
}
