// The seam between the features and the engines. SQL is written once, with `?` for values, in what SQLite and
// PostgreSQL both speak; the few words that differ are fragments of the dialect. Only sqlite.ts and postgres.ts know a
// driver.
//
// 1. What a query is given runs where it is given: a `Db` is a transaction or the store; a feature takes it as an
//    argument and keeps none, so nothing escapes its transaction.
// 2. Inside a transaction await nothing but the database. On SQLite transactions that arrive together share one commit.
// 3. `tx` resolves after the commit is on disk, unless it says that it may be lost.

export type Value = string | number | null | Uint8Array | readonly string[]

export type ColumnType = 'text' | 'bigint' | 'integer' | 'double precision' | 'bytea' | 'bit varying'

/** An insert of many rows: the columns with their types, and what follows `values`. */
export interface Insert {
  into: string
  columns: Readonly<Record<string, ColumnType>>
  /** For example `on conflict (tenant_id, id) do nothing`. */
  conflict?: string
  /**
   * For example `tenant_id, id`: columns of the rows that were written, as they were given. Left out returns nothing.
   */
  returning?: string
}

/**
 * Rows that leave one table for another: what each column of the new row is, in terms of the old one and of values
 * given (`?`).
 */
export interface Move {
  from: string
  to: string
  columns: Readonly<Record<string, string>>
}

export interface Dialect {
  /** For store/ and memory/, whose statements differ. Others ask for what they need to know: see Capabilities. */
  engine: 'sqlite' | 'postgres'
  /** `column` is one of a list bound as one value, made with `list`. */
  inList(column: string): string
  list(values: readonly string[]): Value
  /**
   * `column` is one of what `query` selects, which is run once and first. PostgreSQL would otherwise join the two as
   * its statistics suggest, and statistics lag behind: a mailbox of a hundred thousand was read whole to lease a
   * hundred.
   */
  inRows(column: string, query: string): string
  /**
   * A selected text that may have megabytes. SQLite's driver takes 6 ms to decode one that is not ASCII; of bytes it
   * takes one.
   */
  longText(column: string, name: string): string
  /** The text of a value that is bound as bytes of UTF-8, which both drivers take as they are. */
  textOfBytes: string
  /** Ends a select of rows that competing workers should share out instead of waiting for each other. */
  skipLocked: string
  /** Ends a select of rows that must not change until the transaction ends. */
  forUpdate: string
  /** The same for many at once: those who only need the rows to stay do not wait for each other. */
  forShare: string
  /** The same for one table of a join. */
  forShareOf(alias: string): string
}

/**
 * A statement that is put together once for each dialect: a text of 600 characters that is made anew for every call has
 * to be hashed to find what was prepared for it, 3 µs of a claim.
 */
export function statement(make: (dialect: Dialect) => string): (db: Reads) => string {
  const made = new Map<Dialect, string>()
  return ({ dialect }) => {
    let sql = made.get(dialect)
    if (sql === undefined) made.set(dialect, (sql = make(dialect)))
    return sql
  }
}

/** What a feature may ask about a store, instead of which engine it is. */
export interface Capabilities {
  /** Several nodes run on it at once, so what one of them has in memory is not all there is. */
  readonly isShared: boolean
  /**
   * Its tenants lie on several machines: a transaction of one tenant is done by one of them, one of several tenants by
   * all of them together.
   */
  readonly isSharded: boolean
  /** How many writing transactions gain from being under way at once. */
  readonly writers: number
}

/** Many may hold a `shared` lock of a name at once, and nobody beside who holds it `exclusive`. */
export type LockMode = 'shared' | 'exclusive'

export interface Db extends Capabilities {
  readonly dialect: Dialect
  rows<R>(sql: string, values?: readonly Value[]): Promise<R[]>
  /**
   * The first row of a query that goes by a key and is quick whatever the store holds: on PostgreSQL many share a
   * connection.
   */
  lookUp<R>(sql: string, values?: readonly Value[]): Promise<R | undefined>
  /** Runs a statement and returns how many rows it changed. */
  run(sql: string, values?: readonly Value[]): Promise<number>
  insertMany<R>(insert: Insert, rows: readonly (readonly Value[])[]): Promise<R[]>
  /** Moves the rows where `where` holds, and returns how many those were: of two that move the same row one does. */
  move(move: Move, given: readonly Value[], where: string, values: readonly Value[]): Promise<number>
  /**
   * A write whose result nobody needs. The transaction commits only if it succeeds; on PostgreSQL it goes out with the
   * commit.
   */
  runLater(sql: string, values?: readonly Value[]): void
  insertLater(insert: Insert, rows: readonly (readonly Value[])[]): void
  /**
   * The same for what nothing in the transaction reads: on SQLite it runs at the end, with that of all transactions
   * that share the commit. A full-text index is written out at each savepoint, and so once for all of them. It must
   * have no reason to fail: there it would fail them all.
   */
  runLast(sql: string, values?: readonly Value[]): void
  /**
   * Takes locks by name, in the order of the names, and holds them until the transaction ends. Who needs to be sure
   * awaits it; who does not may leave it: the statements after it run after it, and the transaction commits only if it
   * got them. With one writer there is nobody to lock out.
   */
  lock(names: readonly string[], mode: LockMode): Promise<void>
  /**
   * Calls back once the transaction is on disk, before `tx` resolves; never when it is rolled back, and once where it
   * had to be tried again. What a node keeps in memory changes here, and not before.
   */
  afterCommit(effect: () => void): void
  /**
   * Calls back when what the transaction wrote is undone, or nobody can tell: before `tx` rejects, or before it is tried
   * again. For what was taken in memory for its sake.
   */
  afterRollback(effect: () => void): void
}

/** All that is needed to read. */
export type Reads = Pick<Db, 'dialect' | 'rows'>

export interface StoreStats {
  /** Transactions waiting for their turn or for a connection. */
  waiting: number
  connections: number
  idle: number
}

/** An agent, or whoever else calls, in its tenant. */
export interface Caller {
  tenantId: string
  id: string
}

/** Of what the service does by itself, or for many at once. */
export const ITSELF: Caller = { tenantId: '', id: '' }

export interface TxOptions {
  /**
   * Who asked for it. Where transactions wait, tenants take turns, and callers inside a tenant; what is nobody's has its
   * turn among the tenants.
   */
  caller?: Caller
  /** The tenants of those who asked, where they are several: they count as tenants that write. */
  tenantIds?: readonly string[]
  /**
   * It resolves when it is committed and does not wait for the disk: a power cut may take it back, alone or with others
   * of its kind, never something that was answered as durable. For a lease, which may be forgotten but not be half
   * there.
   */
  mayBeLost?: boolean
}

export interface Store extends Db {
  /** What it is called, for people to read. Nothing is decided by it. */
  readonly name: string
  /**
   * Reads what is committed, on connections that no transaction holds: a transaction may wait for it and not for
   * itself. For what is quick, as `lookUp` is.
   */
  readonly beside: Reads
  tx<T>(work: (tx: Db) => Promise<T>, options?: TxOptions): Promise<T>
  /**
   * Calls back when transactions that are asked for then can begin: at the end of this turn, or with one writer just
   * before its next group, which they join. For what is put together as late as can be.
   */
  soon(begin: () => void): void
  /**
   * The same for what nobody is waiting for elsewhere: with one writer it goes with a group of others, where one is to be
   * expected, and waits up to 3 ms for it.
   */
  alongside(begin: () => void): void
  /**
   * The store for what `caller` reads. Where reads take a connection each, those of a tenant take a few at a time, and
   * wait in turns, tenants first and then callers inside a tenant.
   */
  readFor(caller: Caller): Db
  /**
   * Reads what may be two seconds old, from a replica where there is one: for what people look through, never for what
   * an agent has just done.
   */
  readonly behind: Db
  /** Rejects with the reason where it cannot be worked with as it is reached. */
  requireSessions(): Promise<void>
  /** Finds out what may have changed about what it can: whether it is sharded. */
  learn(): Promise<void>
  /** Rejects when the store cannot be reached or takes no writes. */
  ping(): Promise<void>
  /** The time by the clock of the server that holds the store; null where that is this machine. */
  serverTime(): Promise<number | null>
  /** Tells every node, this one too. Best effort: it only shortens a wait. */
  notify(channel: string, payload: string): void
  listen(channel: string, hear: (payload: string) => void): void
  stats(): StoreStats
  close(): Promise<void>
}

/** Called with the seconds a transaction or a query took. */
export type Observe = (kind: 'tx' | 'query', seconds: number) => void

/**
 * `away`: it cannot be reached or refuses to work, and nothing was written. `busy`: it is there, has more to do than it
 * can, and nothing was written. `unsure`: it went away while it committed, so what was asked may have been written.
 */
export type Trouble = 'away' | 'busy' | 'unsure'

const SENTENCES: Readonly<Record<Trouble, string>> = {
  away: 'The store cannot be reached',
  busy: 'The store has more to do than it can; nothing was written',
  unsure:
    'The store went away while it was writing, so this may have been done or not; the same event id or Idempotency-Key makes a retry safe',
}

/** The store did not do what it was asked; the caller may try again later. */
export class StoreUnavailable extends Error {
  readonly trouble: Trouble

  constructor(message: string, { trouble = 'away', cause }: { trouble?: Trouble; cause?: unknown } = {}) {
    super(message, { cause })
    this.trouble = trouble
  }

  /** For whoever asked; the message is for who runs the service. */
  get sentence(): string {
    return SENTENCES[this.trouble]
  }
}

export async function one<R>(db: Reads, sql: string, values?: readonly Value[]): Promise<R | undefined> {
  return (await db.rows<R>(sql, values))[0]
}

const refuse = (): never => {
  throw new Error('a write needs a transaction: use tx')
}

/** What a store throws for writes outside of `tx`. */
export const writesNeedTx: Pick<
  Db,
  'run' | 'insertMany' | 'move' | 'runLater' | 'insertLater' | 'runLast' | 'lock' | 'afterCommit' | 'afterRollback'
> = {
  run: async () => refuse(),
  insertMany: async () => refuse(),
  move: async () => refuse(),
  runLater: refuse,
  insertLater: refuse,
  runLast: refuse,
  lock: async () => refuse(),
  afterCommit: refuse,
  afterRollback: refuse,
}

/**
 * Runs the effects of a transaction that has ended. One that throws is a bug, and neither undoes it nor stops the
 * rest.
 */
export function runEffects(effects: readonly (() => void)[]): void {
  for (const effect of effects) {
    try {
      effect()
    } catch (error) {
      process.emitWarning(error as Error)
    }
  }
}
