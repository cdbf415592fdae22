// The statements of one SQLite connection, prepared once each.
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import {
  StoreUnavailable,
  writesNeedTx,
  type Capabilities,
  type Db,
  type Dialect,
  type Insert,
  type Move,
  type Value,
  type Store,
} from './db.ts'

/** Suffix of the name of a column whose text is selected as bytes. */
const AS_TEXT = ':text'

/** The SQL of a list, whose values are bound as JSON. */
const LISTED = '(select value from json_each(?))'

export const dialect: Dialect = {
  engine: 'sqlite',
  inList: (column) => `${column} in ${LISTED}`,
  list: (values) => values,
  inRows: (column, query) => `${column} in (${query})`,
  byIndex: (index) => `indexed by ${index}`,
  longText: (column, name) => `cast(${column} as blob) as "${name}${AS_TEXT}"`,
  sentText: (column, name) => `cast(${column} as blob) as ${name}`,
  textOfBytes: 'cast(? as text)',
  skipLocked: '',
  forUpdate: '',
  forShare: '',
  forShareOf: () => '',
  // A row if there is a table of this name.
  hasTable: "select 1 as found from sqlite_master where type = 'table' and name = ?",
}

/** One process owns the file, and one connection of it writes. */
export const capabilities: Capabilities = { isShared: false, isSharded: false, writers: 1 }

/** A file is made by the service itself, one node uses it, and its capabilities never change. */
export const noServer: Pick<Store, 'requireSuitable' | 'refreshCapabilities' | 'runAlone' | 'notify' | 'listen'> = {
  runAlone: async () => {
    throw new Error('SQLite runs every write in a transaction')
  },
  requireSuitable: async () => {},
  refreshCapabilities: async () => {},
  notify: () => {},
  listen: () => {},
}

/** SQLITE_BUSY, LOCKED, READONLY, IOERR, CORRUPT, FULL, CANTOPEN: the disk or another process, not the query. */
const OUTAGES = new Set([5, 6, 8, 10, 11, 13, 14])
/** BUSY and LOCKED: another process writes for longer than we waited. */
const CONTENTION = new Set([5, 6])

export function translate(error: unknown): unknown {
  const code = (error as { errcode?: number }).errcode
  if (typeof code === 'number' && OUTAGES.has(code & 0xff))
    return new StoreUnavailable((error as Error).message, {
      trouble: CONTENTION.has(code & 0xff) ? 'busy' : 'away',
      cause: error,
    })
  return error
}

/** Inserts one row. */
const insertSql = (insert: Insert): string => {
  const names = Object.keys(insert.columns)
  return `insert into ${insert.into} (${names.join(', ')}) values (${names.map(() => '?').join(', ')}) ${insert.conflict ?? ''}`
}

/** Copies the rows that meet the condition into the other table. */
const copySql = ({ from, to, columns }: Move, where: string): string =>
  `insert into ${to} (${Object.keys(columns).join(', ')}) select ${Object.values(columns).join(', ')} from ${from} where ${where}`

interface MoveSql {
  copy: string
  remove: string
}

const moves = new WeakMap<Move, Map<string, MoveSql>>()

/** Moves the rows that meet the condition: a copy, and then a deletion of those that were copied. */
function moveSql(move: Move, where: string): MoveSql {
  const known = moves.get(move) ?? new Map<string, MoveSql>()
  moves.set(move, known)
  let sql = known.get(where)
  if (!sql) known.set(where, (sql = { copy: copySql(move, where), remove: `delete from ${move.from} where ${where}` }))
  return sql
}

// The driver's own row objects are dictionaries, and reading a row of eleven columns out of one costs more than the
// query. So the driver returns arrays, and ordinary objects are made from them here: 3.5 µs instead of 6 for an agent
// by its id.
function readRows<R>(statement: StatementSync, values: SQLInputValue[]): R[] {
  const { names, long } = columnsOf(statement)
  const rows = statement.all(...values) as unknown as unknown[][]
  return rows.map((cells) => {
    const row: Record<string, unknown> = {}
    for (let i = 0; i < names.length; i++) row[names[i]!] = cells[i]
    for (const name of long) row[name] = decoded(row[name] as Uint8Array | null)
    return row as R
  })
}

function decoded(bytes: Uint8Array | null): string | null {
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
}

interface Columns {
  names: string[]
  /** Columns that arrive as bytes and are decoded to text. */
  long: string[]
}

const columns = new WeakMap<StatementSync, Columns>()

function columnsOf(statement: StatementSync): Columns {
  let known = columns.get(statement)
  if (!known) {
    const selected = statement.columns().map(({ name }) => name)
    const long = selected.filter((name) => name.endsWith(AS_TEXT)).map((name) => name.slice(0, -AS_TEXT.length))
    columns.set(statement, (known = { names: selected.map((name) => name.replace(AS_TEXT, '')), long }))
    statement.setReturnArrays(true)
  }
  return known
}

/**
 * SQLite looks at the number bound to a LIMIT while it plans, and so plans again whenever one is bound: a claim of one
 * delivery took 87 µs because of that, and takes 18 without. SQLite does not look at a sum.
 */
export const plannedOnce = (sql: string): string => sql.replace(/\blimit \?/g, 'limit ? + 0')

const isList = (value: Value): value is readonly string[] => Array.isArray(value)
const isOfOne = (value: Value): boolean => !isList(value) || value.length === 1

/** Returns the values as SQLite binds them: a list as JSON. */
export const bindable = (values: readonly Value[]): SQLInputValue[] =>
  (values.some(isList)
    ? values.map((value) => (isList(value) ? JSON.stringify(value) : value))
    : values) as SQLInputValue[]

/** Runs statements on a connection, and prepares each of them once. */
function makeStatements(connection: DatabaseSync) {
  const prepared = new Map<string, StatementSync>()
  const inserts = new WeakMap<Insert, StatementSync>()
  const prepare = (sql: string): StatementSync => {
    let statement = prepared.get(sql)
    if (!statement) prepared.set(sql, (statement = connection.prepare(plannedOnce(sql))))
    return statement
  }
  const ofOne = new Map<string, string>()
  /**
   * Returns the statement and its values. A list of one is bound as a plain value: as a table of JSON it costs more
   * than the row that is looked up. Three acknowledgements of one delivery each take 37 µs this way and 84 otherwise.
   */
  function bound(sql: string, values: readonly Value[]): [StatementSync, SQLInputValue[]] {
    if (!values.some(isList) || !values.every(isOfOne)) return [prepare(sql), bindable(values)]
    let plain = ofOne.get(sql)
    if (plain === undefined) ofOne.set(sql, (plain = sql.replaceAll(LISTED, '(?)')))
    return [prepare(plain), values.flat() as SQLInputValue[]]
  }
  function run(sql: string, values: readonly Value[] = []): number {
    try {
      const [statement, given] = bound(sql, values)
      return Number(statement.run(...given).changes)
    } catch (error) {
      throw translate(error)
    }
  }
  function insertRows<R>(insert: Insert, rows: readonly (readonly Value[])[]): R[] {
    let statement = inserts.get(insert)
    if (!statement) inserts.set(insert, (statement = prepare(insertSql(insert))))
    // The returned columns are values that were given, for the rows that were written, so no `returning` is needed.
    const echoed = insert.returning
      ?.split(', ')
      .map((name) => [name, Object.keys(insert.columns).indexOf(name)] as const)
    const results: R[] = []
    try {
      for (const row of rows) {
        const { changes } = statement.run(...(row as SQLInputValue[]))
        if (!echoed || changes === 0) continue
        const echo: Record<string, Value> = {}
        for (const [name, at] of echoed) echo[name] = row[at]!
        results.push(echo as R)
      }
    } catch (error) {
      throw translate(error)
    }
    return results
  }
  return { bound, run, insertRows }
}

/** Returns the `Db` of one connection. `failed` is called with the error of a write that nobody waits for. */
export function onConnection(connection: DatabaseSync, failed: (error: unknown) => void = () => {}): Db {
  const { bound, run, insertRows } = makeStatements(connection)
  const db: Db = {
    dialect,
    ...capabilities,
    async rows<R>(sql: string, values: readonly Value[] = []) {
      try {
        return readRows<R>(...bound(sql, values))
      } catch (error) {
        throw translate(error)
      }
    },
    lookUp: async <R>(sql: string, values?: readonly Value[]) => (await db.rows<R>(sql, values))[0],
    run: async (sql, values) => run(sql, values),
    insertMany: async (insert, rows) => insertRows(insert, rows),
    async move(move, given, where, values) {
      const { copy, remove } = moveSql(move, where)
      const moved = run(copy, [...given, ...values])
      if (moved > 0) run(remove, values)
      return moved
    },
    // With one thread and no round trips, these run at once.
    runLater(sql, values) {
      try {
        run(sql, values)
      } catch (error) {
        failed(error)
      }
    },
    insertLater(insert, rows) {
      try {
        insertRows(insert, rows)
      } catch (error) {
        failed(error)
      }
    },
    runLast: (sql, values) => void run(sql, values),
    lock: async () => {}, // transactions run one after the other
    notify: noServer.notify,
    afterCommit: writesNeedTx.afterCommit,
    afterRollback: writesNeedTx.afterRollback,
  }
  return db
}
