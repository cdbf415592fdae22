// From a configuration to an open store: shared by the service and the command line, which works beside it.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import type { Config } from './config.ts'
import type { Clock } from './kernel/clock.ts'
import { makeSecrets, type Secrets } from './kernel/secrets.ts'
import { one, type Observe, type Store } from './store/db.ts'
import { migrate } from './store/migrate.ts'
import { openPostgres } from './store/postgres.ts'
import { openSqlite } from './store/sqlite.ts'

/** The master secret: the configured one, or the one kept beside the embedded store, made at the first start. */
export function masterSecret(config: Config): string {
  if (config.secret !== null) return config.secret
  const file = path.join(config.dataDir, 'secret')
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('base64url') + '\n', { mode: 0o600, flag: 'wx' })
  chmodSync(file, 0o600)
  return readFileSync(file, 'utf8').trim()
}

export interface Opened {
  store: Store
  secrets: Secrets
}

export async function openStore(config: Config, clock: Clock, observe?: Observe, warn?: (what: string, error: unknown) => void): Promise<Opened> {
  if (config.databaseUrl === null) mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  const secrets = makeSecrets(masterSecret(config))
  const store =
    config.databaseUrl === null
      ? openSqlite(path.join(config.dataDir, 'sensorium.db'), observe)
      : openPostgres({ url: config.databaseUrl, clock, ...(observe ? { observe } : {}), ...(warn ? { warn } : {}) })
  try {
    await migrate(store, clock.now())
    await checkSecret(store, secrets)
  } catch (error) {
    await store.close()
    throw error
  }
  return { store, secrets }
}

// With another master secret no key would be found and nothing sealed could be opened: say so instead of answering 401 to all.
async function checkSecret(store: Store, secrets: Secrets): Promise<void> {
  await store.tx((tx) => tx.run("insert into settings (name, value) values ('secret_fingerprint', ?) on conflict (name) do nothing", [secrets.fingerprint]))
  const row = await one<{ value: string }>(store, "select value from settings where name = 'secret_fingerprint'")
  if (row?.value !== secrets.fingerprint) throw new Error('SENSORIUM_SECRET is not the secret this store was made with.')
}
