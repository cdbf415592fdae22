// Migrations are numbered, forward only, one SQL text for all engines, and run under a lock. A store that is newer
// than this code is refused, because its rows may have a meaning that this code does not know.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Db, Store } from './db.ts'
import { distributeTables, isDistributed } from './distribution.ts'
import { compareBytes } from './postgres-collation.ts'

const FOLDER = new URL('../../migrations/', import.meta.url)

/** The lock that is held while the schema changes. */
export const MIGRATING = 'schema migrations'

/** PostgreSQL's code for a table or an index that exists; its message may be in another language. */
const DUPLICATE_TABLE = '42P07'

const DEPENDED_ON = 'If that is yours, drop it, start the service, and create it again.'
/** What to do about an error of PostgreSQL, by its code. */
const WHAT_TO_DO: Readonly<Record<string, string>> = {
  '0A000': DEPENDED_ON, // a column of which a view or a publication is made has a new type or collation
  '2BP01': DEPENDED_ON, // what a view is made of is dropped
  42501:
    'The role in DATABASE_URL must own the tables of Sensorium and have CREATE on their schema: run "grant create on schema <schema> to <role>".',
  '3F000': 'Create the schema that the role in DATABASE_URL has in its search_path, and grant it CREATE on it.',
}

interface Migration {
  version: number
  name: string
  statements: string[]
}

// `/* sqlite: … */` and `/* postgres: … */` are for one engine only: storage options, nothing that changes a meaning.
const forEngine = (sql: string, engine: string): string =>
  sql.replace(/\/\* (\w+): ([^*]*) \*\//g, (_, only: string, text: string) => (only === engine ? text : ''))

export function readMigrations(engine: string): Migration[] {
  return readdirSync(fileURLToPath(FOLDER))
    .filter((file) => /^\d{4}_.*\.sql$/.test(file))
    .sort()
    .map((name) => ({
      version: Number(name.slice(0, 4)),
      name,
      statements: forEngine(readFileSync(new URL(name, FOLDER), 'utf8').replace(/^\s*--.*$/gm, ''), engine)
        .split(/;\s*$/m)
        .map((statement) => statement.trim())
        .filter(Boolean),
    }))
}

/** The schema version this code brings a store to. */
export const newestVersion = (engine: string): number => readMigrations(engine).at(-1)?.version ?? 0

/** The version a store has, and the one this code brings it to. Changes nothing. */
export const schemaStanding = async (db: Db): Promise<{ current: number; newest: number }> => ({
  current: await schemaVersion(db),
  newest: newestVersion(db.dialect.engine),
})

/** The schema version a store has, 0 for an empty one. Changes nothing. */
export async function schemaVersion(db: Db): Promise<number> {
  if ((await db.rows(db.dialect.hasTable, ['schema_migrations'])).length === 0) return 0
  const [row] = await db.rows<{ version: number | null }>('select max(version) as version from schema_migrations')
  return row?.version ?? 0
}

/** Throws if an older release made the store, and may be running on it. */
export async function requireNotOlder(store: Store): Promise<void> {
  const { current, newest } = await schemaStanding(store)
  if (current > 0 && current < newest) {
    throw new Error(
      `The store has schema version ${current} and is older than this command, which needs ${newest}. Start the new release first: it migrates the store.`,
    )
  }
}

/** Adds to the error what a database is that has a table before the migration that creates it, and what to do. */
function withLeftoversHint(error: unknown, current: number): unknown {
  const { message, code } = error as Error & { code?: string }
  if (code !== DUPLICATE_TABLE && !/already exists/.test(message)) return error
  return new Error(
    `${message}. The database has tables of a newer release beside schema version ${current}, as after a backup that was restored over them. Restore it into an empty database, or see "Going back" in docs/upgrading.md.`,
    { cause: error },
  )
}

/** Adds what to do, and what the error is about: PostgreSQL names a view in the details alone. */
function withWhatToDo(error: unknown): never {
  const { message, code, detail } = error as Error & { code?: string; detail?: string }
  const hint = WHAT_TO_DO[code ?? '']
  if (hint === undefined) throw error
  const whole = detail === undefined ? message : `${message}: ${detail}`
  throw new Error(`${whole.replace(/\.$/, '')}. ${hint}`, { cause: error })
}

/** Brings the store to this code's schema and returns how many migrations ran. */
export async function migrate(store: Store, now: number): Promise<number> {
  const migrations = readMigrations(store.dialect.engine)
  const newest = migrations.at(-1)?.version ?? 0
  const bringUp = async (tx: Db): Promise<number> => {
    // Nodes that start together migrate one after the other.
    await tx.lock([MIGRATING], 'exclusive')
    await tx.run(
      'create table if not exists schema_migrations (version integer primary key, name text not null, applied_at bigint not null)',
    )
    const current = await schemaVersion(tx)
    if (current > newest) {
      throw new Error(
        `The store has schema version ${current}; this release knows up to ${newest}. Start a newer release.`,
      )
    }
    const missing = migrations.filter((migration) => migration.version > current)
    const isSharded = missing.length > 0 && (await isDistributed(tx))
    for (const { version, name, statements } of missing) {
      for (const statement of statements)
        await tx.run(statement).catch((error: unknown) => {
          throw current > 0 ? withLeftoversHint(error, current) : error
        })
      // A table that the migration created or recreated would otherwise lie on the coordinator alone.
      if (isSharded) {
        await compareBytes(tx)
        await distributeTables(tx)
      }
      await tx.run('insert into schema_migrations (version, name, applied_at) values (?, ?, ?)', [version, name, now])
    }
    if (missing.length > 0) await compareBytes(tx)
    return missing.length
  }
  // An index on fifteen million events took 20 s, more than any other statement may take.
  return store.tx(bringUp, { takesLong: true }).catch(withWhatToDo)
}
