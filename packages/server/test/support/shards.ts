// Whether a statement stays on one shard: it is planned, not run, with its values, on a schema whose tables are spread
// over partitions by tenant. A plan that reads or writes two partitions would go to two machines.
import pg from 'pg'
import { readDistribution } from '../../src/store/distribution.ts'
import type { Db, Store, Value } from '../../src/store/db.ts'
import { OVER_ALL_TENANTS } from './over-all-tenants.ts'
import { numbered, openPlanner, type Plan } from './plans.ts'
import { statementsOverRecipients } from './recipient-plans.ts'

export const SHARDED_URL = process.env['TEST_POSTGRES_SHARDED']

const TENANT_TABLES = new RegExp(
  `\\b(${Object.entries(readDistribution())
    .filter(([, how]) => how === 'tenant')
    .map(([name]) => name)
    .join('|')})\\b`,
)

/** The shards that a plan touches. */
function* shardsIn(plan: Plan): Generator<string> {
  const shard = /_shard_(\d+)$/.exec(plan['Relation Name'] ?? '')
  if (shard) yield shard[1]!
  for (const part of plan.Plans ?? []) yield* shardsIn(part)
}

/** Returns why the statement cannot be handed to one shard as a whole, or null if it can. */
export async function whyNotOneShard(client: pg.Client, sql: string, values: readonly Value[]): Promise<string | null> {
  if (!TENANT_TABLES.test(sql) || /^\s*(analyze|set|create|alter|drop)\b/i.test(sql)) return null
  if (/tenant_id\s*=\s*any\b/.test(sql)) return 'names its tenants as a list'
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (format json, costs off) ${numbered(sql)}`,
    values as unknown[],
  )
  const shards = new Set(shardsIn(rows[0]!['QUERY PLAN'][0].Plan))
  if (shards.size > 1) return `touches ${shards.size} shards`
  // The plan of an insert does not name its shard: its values do.
  if (/^\s*(with\b.*\)\s*)?insert into/is.test(sql) && shards.size === 0 && /\bselect\b/i.test(sql))
    return 'inserts what the coordinator has to look into first'
  return null
}

function isMeant(sql: string, isSharded: boolean): boolean {
  const line = sql.replace(/\s+/g, ' ')
  return OVER_ALL_TENANTS.some(
    ({ statement, onOneServerOnly }) => statement.test(line) && !(onOneServerOnly && isSharded),
  )
}

export interface Recording {
  store: Store
  /**
   * Returns the recorded statements that leave their shard or use no index, or on SQLite leave the recipient that they
   * name, with the reason, and starts afresh.
   */
  check(): Promise<string[]>
}

/** Wraps the store to record each statement with the first values that it was given. */
export function recorded(store: Store): Recording {
  const noted = new Map<string, readonly Value[]>()
  const note = (sql: string, values: readonly Value[] = []): void => void (noted.has(sql) || noted.set(sql, values))
  const check = async (): Promise<string[]> => {
    if (store.isShared) return checkNoted(noted, store.isSharded)
    const statements = [...noted.keys()]
    noted.clear()
    return statementsOverRecipients(statements)
  }
  return { store: recordedStore(store, note), check }
}

type Note = (sql: string, values?: readonly Value[]) => void

const recordedDb = (db: Db, note: Note): Db => ({
  ...db,
  rows: (sql, values) => (note(sql, values), db.rows(sql, values)),
  lookUp: (sql, values) => (note(sql, values), db.lookUp(sql, values)),
  run: (sql, values) => (note(sql, values), db.run(sql, values)),
  runLater: (sql, values) => (note(sql, values), db.runLater(sql, values)),
  runLast: (sql, values) => (note(sql, values), db.runLast(sql, values)),
  move: (move, given, where, values) => (
    note(`delete from ${move.from} where ${where}`, values), db.move(move, given, where, values)
  ),
})

const recordedStore = (store: Store, note: Note): Store => ({
  ...store,
  get isSharded() {
    return store.isSharded
  },
  rows: (sql, values) => (note(sql, values), store.rows(sql, values)),
  lookUp: (sql, values) => (note(sql, values), store.lookUp(sql, values)),
  outsideTx: {
    dialect: store.dialect,
    rows: (sql, values) => (note(sql, values), store.outsideTx.rows(sql, values)),
  },
  readFor(caller, options) {
    const db = store.readFor(caller, options)
    return { ...recordedDb(store, note), rows: (sql, values) => (note(sql, values), db.rows(sql, values)) }
  },
  tx: (work, options) => store.tx((tx) => work(recordedDb(tx, note)), options),
})

async function checkNoted(noted: Map<string, readonly Value[]>, isSharded: boolean): Promise<string[]> {
  const statements = [...noted].filter(([sql]) => TENANT_TABLES.test(sql) && !isMeant(sql, isSharded))
  noted.clear()
  if (!SHARDED_URL || statements.length === 0) return []
  const client = new pg.Client(SHARDED_URL)
  await client.connect()
  try {
    // Each statement is checked once in a run, by whichever test file is first, and once more for sharded stores, where
    // fewer statements may span tenants.
    const { rows } = await client.query<{ statement: string }>(
      'insert into looked_at select $2, * from unnest($1::text[]) on conflict do nothing returning statement',
      [statements.map(([sql]) => sql), isSharded],
    )
    if (rows.length === 0) return []
    const fresh = new Set(rows.map(({ statement }) => statement))
    return await whatIsWrong(
      client,
      statements.filter(([sql]) => fresh.has(sql)),
    )
  } finally {
    await client.end()
  }
}

async function whatIsWrong(
  client: pg.Client,
  statements: readonly (readonly [string, readonly Value[]])[],
): Promise<string[]> {
  const planner = await openPlanner()
  try {
    const wrong: string[] = []
    for (const [sql, values] of statements) {
      const why = (await whyNotOneShard(client, sql, values)) ?? (await planner.whyNotByIndex(sql))
      if (why !== null) wrong.push(`${why}: ${sql.replace(/\s+/g, ' ')}`)
    }
    return wrong
  } finally {
    await planner.end()
  }
}
