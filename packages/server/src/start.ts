// From a configuration to an open store: shared by the service and the command line, which works beside it.
import { mkdirSync } from 'node:fs'
import type { Config } from './config.ts'
import type { Clock } from './kernel/clock.ts'
import { makeSecrets, type Secrets } from './kernel/secrets.ts'
import { one, type Observe, type Store } from './store/db.ts'
import { migrate } from './store/migrate.ts'
import { openPostgres } from './store/postgres.ts'
import { keepSecret } from './store/secret-file.ts'
import { databaseFile, openSqlite } from './store/sqlite.ts'

export interface Opened {
  store: Store
  secrets: Secrets
}

export async function openStore(
  config: Config,
  clock: Clock,
  observe?: Observe,
  warn?: (what: string, error: unknown) => void,
): Promise<Opened> {
  if (config.databaseUrl === null) mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  const secrets = makeSecrets(config.secret ?? keepSecret(config.dataDir))
  const store =
    config.databaseUrl === null
      ? openSqlite(databaseFile(config.dataDir), observe)
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
