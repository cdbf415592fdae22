// The seam between the features and the engines. SQL is written once, with `?` for values, in what SQLite and
// PostgreSQL both understand; the few words that differ are fragments of the `Dialect`. Only files of this
// folder run it on a driver.
//
// 1. A query runs on the `Db` it is called on, which is a transaction or the store. A feature takes the `Db` as an
//    argument and keeps none, so no query escapes its transaction.
// 2. Inside a transaction, await nothing but the database, or a turn of the event loop in a long series of writes. On
//    SQLite, transactions that arrive together share one commit.
// 3. `tx` resolves after the commit is on disk, unless it is called with `mayBeLost`.
import type { DatabaseConfig } from '../config.ts'

export type Value = string | number | null | Uint8Array | readonly string[]

export type ColumnType = 'text' | 'bigint' | 'integer' | 'double precision' | 'bytea' | 'bit varying'

/** An insert of many rows: the columns with their types, and the clauses after `values`. */
export interface Insert {
  into: string
  columns: Readonly<Record<string, ColumnType>>
  /** For example `on conflict (tenant_id, id) do nothing`. */
  conflict?: string
  /**
   * For example `tenant_id, id`: columns to return of the rows that were written, as they were given. Without it
   * nothing is returned.
   */
  returning?: string
}

/**
 * Rows that move from one table to another. Each column of the new row is an expression over the columns of the old row
 * and over bound values (`?`).
 */
export interface Move {
  from: string
  to: string
  columns: Readonly<Record<string, string>>
}

export interface Dialect {
  /** For store/ only, whose statements differ by engine. Features ask about capabilities instead: see Capabilities. */
  engine: DatabaseConfig['engine']
  /** The condition that `column` is in a list, which is bound as one value made with `list`. */
  inList(column: string): string
  list(values: readonly string[]): Value
  /**
   * The condition that `column` is in the result of `query`, which runs once and first. Otherwise PostgreSQL would join
   * the two as its statistics suggest, and statistics lag behind: to lease a hundred deliveries, it read a mailbox of a
   * hundred thousand whole.
   */
  inRows(column: string, query: string): string
  /**
   * Stands after a table and its alias, and names the index to read it by. SQLite gathers no statistics: where an index
   * of the tenant and one of the recipient fit, or the key has the order that is asked for, it reads the whole tenant.
   * PostgreSQL chooses by statistics.
   */
  byIndex(index: string): string
  /**
   * Selects a text that may have megabytes. SQLite's driver takes 6 ms to decode one that is not ASCII, and 1 ms if it
   * is read as bytes.
   */
  longText(column: string, name: string): string
  /**
   * Selects such a text to be sent on: as bytes of UTF-8 where the driver has it as bytes, otherwise as a string. For
   * an event of a megabyte SQLite takes 0.8 ms; as a string it was 1.6, and 3 more until it was bytes again.
   */
  sentText(column: string, name: string): string
  /** The text of a value that is bound as UTF-8 bytes, which both drivers accept unchanged. */
  textOfBytes: string
  /** Ends a select whose rows competing workers divide among themselves instead of waiting for each other. */
  skipLocked: string
  /** Ends a select of rows that must not change until the transaction ends. */
  forUpdate: string
  /** The same, shared: transactions that only need the rows to stay unchanged do not wait for each other. */
  forShare: string
  /** Like `forShare`, for one table of a join. */
  forShareOf(alias: string): string
  /** A statement with one row if the table exists whose name is bound, otherwise with none. */
  hasTable: string
}

/**
 * Builds the text of a statement once for each dialect. A text of 600 characters that is built for every call has to be
 * hashed to find its prepared statement, which is 3 µs of a claim.
 */
export function statement(make: (dialect: Dialect) => string): (db: Reads) => string {
  const made = new Map<Dialect, string>()
  return ({ dialect }) => {
    let sql = made.get(dialect)
    if (sql === undefined) made.set(dialect, (sql = make(dialect)))
    return sql
  }
}

/** What a feature may ask about a store, instead of asking which engine it is. */
export interface Capabilities {
  /** Several nodes run on the store at once, so what one node has in memory is incomplete. */
  readonly isShared: boolean
  /**
   * The tenants lie on several machines. A transaction of one tenant runs on one of them, a transaction of several
   * tenants on all of them together.
   */
  readonly isSharded: boolean
  /** How many write transactions gain from running at the same time. */
  readonly writers: number
}

/** Any number of transactions may hold a `shared` lock on a name at once. An `exclusive` lock excludes all others. */
export type LockMode = 'shared' | 'exclusive'

export interface Db extends Capabilities {
  readonly dialect: Dialect
  rows<R>(sql: string, values?: readonly Value[]): Promise<R[]>
  /**
   * Returns the first row of a query that goes by a key and is quick whatever the store holds. On PostgreSQL many
   * look-ups share a connection.
   */
  lookUp<R>(sql: string, values?: readonly Value[]): Promise<R | undefined>
  /** Runs a statement and returns how many rows it changed. */
  run(sql: string, values?: readonly Value[]): Promise<number>
  insertMany<R>(insert: Insert, rows: readonly (readonly Value[])[]): Promise<R[]>
  /** Moves the rows where `where` holds, and returns how many. If two transactions move the same row, only one does. */
  move(move: Move, given: readonly Value[], where: string, values: readonly Value[]): Promise<number>
  /**
   * Runs a write whose result nobody needs. The transaction commits only if the write succeeds. On PostgreSQL nothing
   * waits for it before the commit.
   */
  runLater(sql: string, values?: readonly Value[]): void
  insertLater(insert: Insert, rows: readonly (readonly Value[])[]): void
  /**
   * Like `runLater`, for a write that nothing in the transaction reads. On SQLite it runs at the end, with those of all
   * transactions that share the commit: a full-text index is written out at each savepoint, and so once for all of
   * them. It must have no reason to fail, because there a failure fails all of those transactions.
   */
  runLast(sql: string, values?: readonly Value[]): void
  /**
   * Takes locks by name, in the order of the names, and holds them until the transaction ends. A caller that must be
   * sure of the locks awaits the promise. Others may ignore it: later statements run after it, and the transaction
   * commits only if it got the locks. With one writer there is nobody to lock out.
   */
  lock(names: readonly string[], mode: LockMode): Promise<void>
  /**
   * Sends the payload to the other nodes: at once, or from a transaction with its commit. Best effort: it only shortens
   * a wait. Where there is one node, it does nothing.
   */
  notify(channel: string, payload: string): void
  /**
   * Calls `effect` once the transaction is on disk, or committed if it may be lost, and before `tx` resolves. Never
   * calls it after a rollback, and calls it once even if the transaction had to be retried. State that a node keeps in
   * memory changes here, and not before.
   */
  afterCommit(effect: () => void): void
  /**
   * Calls `effect` when the writes of the transaction are undone or, on PostgreSQL, when that is unknown: before `tx`
   * rejects, or before the transaction is retried. Releases what was reserved in memory for it.
   */
  afterRollback(effect: () => void): void
}

/** The part of a `Db` that is needed to read. */
export type Reads = Pick<Db, 'dialect' | 'rows'>

export interface StoreStats {
  /** Transactions and queries that wait for their turn or for a connection. */
  waiting: number
  connections: number
  idle: number
}

/** A caller, such as an agent, and its tenant. */
export interface Caller {
  tenantId: string
  id: string
}

/** The caller of work that the service does by itself, or for many callers at once. */
export const SERVICE_CALLER: Caller = { tenantId: '', id: '' }

export interface TxOptions {
  /**
   * The caller that asked for the transaction. Where transactions wait, tenants take turns, and callers inside a
   * tenant. Work without a caller takes its turn like a tenant.
   */
  caller?: Caller
  /** The tenants of the callers, if there are several: each counts as a tenant that writes. */
  tenantIds?: readonly string[]
  /**
   * Resolves when the transaction is committed, without waiting for the disk. A power cut may undo it, alone or with
   * others of its kind, but never something that was answered as durable. For a lease, which may be forgotten but must
   * not be half written.
   */
  mayBeLost?: boolean
  /** For a change of the schema: it may take minutes, and no limit of time ends it. */
  takesLong?: boolean
}

interface ReadOptions {
  /**
   * The data may be two seconds old, and is read from a replica if there is one. For what people look through, never
   * for what an agent has just done.
   */
  mayBeStale?: boolean
}

export interface Store extends Db {
  /** The name of the engine, for people to read. No decision depends on it. */
  readonly name: string
  /**
   * Reads committed data on connections that no transaction holds, so that a transaction can wait for a read without
   * waiting for itself. For quick queries, like `lookUp`.
   */
  readonly outsideTx: Reads
  tx<T>(work: (tx: Db) => Promise<T>, options?: TxOptions): Promise<T>
  /**
   * Runs a statement that cannot be part of a transaction, such as a concurrent build of an index. It may take minutes.
   */
  runAlone(sql: string): Promise<void>
  /**
   * Calls `begin` when the transactions that it asks for can begin: at the end of this turn or, with one writer, right
   * before its next group, which they join. For work that is put together as late as possible.
   */
  beforeNextGroup(begin: () => void): void
  /**
   * Like `beforeNextGroup`, for work that only its own caller waits for. With one writer it joins a group of others if
   * one is to be expected, and waits up to 3 ms for it.
   */
  withNextGroup(begin: () => void): void
  /**
   * Returns the store for the reads of `caller`. Where each read takes a connection, a tenant gets a few at a time, and
   * reads wait in turns: tenants first, then callers inside a tenant.
   */
  readFor(caller: Caller, options?: ReadOptions): Db
  /** Rejects with the reason if the address leads to a database that cannot be used, or not in this way. */
  requireSuitable(): Promise<void>
  /** Reads again what may have changed about the store: whether it is sharded. */
  refreshCapabilities(): Promise<void>
  /** Rejects if the store cannot be reached or takes no writes. */
  ping(): Promise<void>
  /** Returns the time by the clock of the server that holds the store, or null if that is this machine. */
  serverTime(): Promise<number | null>
  /** Calls `hear` with what other nodes send on the channel. */
  listen(channel: string, hear: (payload: string) => void): void
  stats(): StoreStats
  close(): Promise<void>
}

/** Called with the seconds a transaction or a query took. */
export type Observe = (kind: 'tx' | 'query', seconds: number) => void

/**
 * `away`: the store cannot be reached or refuses to work, and nothing was written. `busy`: the store is there but has
 * more to do than it can, and nothing was written. `unsure`: the store went away during the commit, so the writes may
 * or may not have been made.
 */
export type Trouble = 'away' | 'busy' | 'unsure'

const CALLER_MESSAGES: Readonly<Record<Trouble, string>> = {
  away: 'The store cannot be reached or takes no writes',
  busy: 'The store has more to do than it can; nothing was written',
  unsure:
    'The store went away while it was writing, so this may have been done or not; the same event id or Idempotency-Key makes a retry safe',
}

/** Thrown when the store did not do what it was asked. The caller may retry later. */
export class StoreUnavailable extends Error {
  readonly trouble: Trouble

  constructor(message: string, { trouble = 'away', cause }: { trouble?: Trouble; cause?: unknown } = {}) {
    super(message, { cause })
    this.trouble = trouble
  }

  /** The sentence for the caller. The message is for the operator of the service. */
  get callerMessage(): string {
    return CALLER_MESSAGES[this.trouble]
  }
}

export async function one<R>(db: Reads, sql: string, values?: readonly Value[]): Promise<R | undefined> {
  return (await db.rows<R>(sql, values))[0]
}

const refuse = (): never => {
  throw new Error('a write needs a transaction: use tx')
}

/** The write methods of a store outside of `tx`, which all fail. */
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
 * Runs the effects of a transaction that has ended. An effect that throws is a bug, and neither undoes the transaction
 * nor stops the other effects.
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
