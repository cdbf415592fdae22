// PostgreSQL with pgvector without a server: WebAssembly in this process, behind the store interface of the features.
import { PGlite, types, type Transaction } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { runEffects, type Db, type Insert, type Store, type Value } from '../../../src/store/db.ts'
import { dialect, moveSql } from '../../../src/store/postgres-wire.ts'

const parsers = { [types.INT8]: Number }

function on(
  client: PGlite | Transaction,
  later: (answer: Promise<unknown>) => void = () => {},
  afterCommit: Db['afterCommit'] = () => {},
): Db {
  const query = async <R>(sql: string, values: readonly Value[]) => {
    let n = 0
    return client.query<R>(
      sql.replace(/\?/g, () => `$${++n}`),
      values as unknown[],
      { parsers },
    )
  }
  const db: Db = {
    dialect,
    isShared: false,
    isSharded: false,
    writers: 1,
    lock: async () => {},
    notify: () => {},
    lookUp: async <R>(sql: string, values?: readonly Value[]) => (await db.rows<R>(sql, values))[0],
    runLater: (sql, values) => later(db.run(sql, values)),
    runLast: (sql, values) => later(db.run(sql, values)),
    afterCommit,
    afterRollback: () => {},
    insertLater: (insert, rows) => later(db.insertMany(insert, rows)),
    rows: async <R>(sql: string, values: readonly Value[] = []) => (await query<R>(sql, values)).rows,
    move: (move, given, where, values) => db.run(moveSql(move, where), [...values, ...given]),
    run: async (sql, values = []) => (await query(sql, values)).affectedRows ?? 0,
    async insertMany<R>({ into, columns, conflict = '', returning }: Insert, rows: readonly (readonly Value[])[]) {
      const names = Object.keys(columns)
      const answers: R[] = []
      for (const row of rows) {
        const places = Object.values(columns)
          .map((type) => `?::${type}`)
          .join(', ')
        answers.push(
          ...(
            await query<R>(
              `insert into ${into} (${names.join(', ')}) values (${places}) ${conflict} ${returning ? `returning ${returning}` : ''}`,
              row,
            )
          ).rows,
        )
      }
      return answers
    },
  }
  return db
}

export async function pgliteStore(): Promise<Store> {
  const pglite = await PGlite.create({ extensions: { vector } })
  const store: Store = {
    ...on(pglite),
    name: 'pglite',
    serverTime: async () => null,
    beforeNextGroup: (begin) => void setImmediate(begin),
    withNextGroup: (begin) => void setImmediate(begin),
    outsideTx: on(pglite),
    async tx<T>(work: (tx: Db) => Promise<T>): Promise<T> {
      const effects: (() => void)[] = []
      const result = await pglite.transaction(async (tx) => {
        const sent: Promise<unknown>[] = []
        const given = await work(
          on(
            tx,
            (answer) => sent.push(answer),
            (effect) => effects.push(effect),
          ),
        )
        await Promise.all(sent)
        return given
      })
      runEffects(effects)
      return result as T
    },
    runAlone: async (sql) => void (await pglite.query(sql)),
    readFor: () => store as Db,
    requireSuitable: async () => {},
    refreshCapabilities: async () => {},
    ping: async () => void (await pglite.query('select 1')),
    listen: () => {},
    stats: () => ({ waiting: 0, connections: 1, idle: 1 }),
    close: () => pglite.close(),
  }
  return store
}
