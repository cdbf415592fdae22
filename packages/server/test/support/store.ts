// An open store of either engine, for tests of the store interface itself.
import { readConfig, type Config } from '../../src/config.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import type { Db, Store } from '../../src/store/db.ts'
import { readMigrations } from '../../src/store/migrate.ts'
import { connect, openStore } from '../../src/store/open.ts'
import type { Engine } from './engines.ts'

export interface OpenedStore {
  store: Store
  config: Config
  env: Record<string, string>
  /** Opens another store on the same data, as another process would. */
  another(): Promise<Store>
  /** Closes all of them and removes the data. */
  drop(): Promise<void>
}

/** Makes the store that an environment names, as the first start does, and closes it. */
export async function makeStore(env: Record<string, string>): Promise<void> {
  await (await openStore(readConfig(env), systemClock)).store.close()
}

/** Brings a store to a version before the newest, as an older release did. */
export async function migrateTo(tx: Db, newest: number, now: number): Promise<void> {
  await tx.run(
    'create table if not exists schema_migrations (version integer primary key, name text not null, applied_at bigint not null)',
  )
  const [row] = await tx.rows<{ version: number | null }>('select max(version) as version from schema_migrations')
  for (const { version, name, statements } of readMigrations(tx.dialect.engine)) {
    if (version <= (row?.version ?? 0) || version > newest) continue
    for (const statement of statements) await tx.run(statement)
    await tx.run('insert into schema_migrations (version, name, applied_at) values (?, ?, ?)', [version, name, now])
  }
}

/** Opens an empty store, on which no migration has run. */
export async function emptyStore(engine: Engine): Promise<OpenedStore> {
  const { env, drop } = await engine.fresh()
  const config = readConfig(env)
  const opened: Store[] = []
  const another = async (): Promise<Store> => {
    const store = await connect(config, systemClock)
    opened.push(store)
    return store
  }
  return {
    store: await another(),
    config,
    env,
    another,
    async drop() {
      await Promise.all(opened.map((store) => store.close()))
      await drop()
    },
  }
}
