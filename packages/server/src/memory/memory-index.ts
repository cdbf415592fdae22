// What a search asks of the store, and what the two engines answer it with: index-sqlite.ts and index-postgres.ts.
import type { MemoryScope, MemoryType } from '@sensorium/contract'
import type { Db } from '../store/db.ts'
import type { Embedded } from './embed/embedding.ts'
import type { Meaning, Ranked } from './rank.ts'
import type { Condition, Viewer } from './see.ts'

export interface Sought {
  viewer: Viewer
  scope: MemoryScope | null
  type: MemoryType | null
  minConfidence: number
  limit: number
  now: number
  /** The distinct words of the query. */
  terms: readonly string[]
  /** Null: by words alone. */
  meaning: Meaning | null
  /** Only vectors that this model made are compared. */
  model: string
}

/** The vectors of one memory, to be kept if its text is still the one that was embedded. */
export interface Vectors {
  tenantId: string
  memoryId: string
  version: number
  windows: readonly Embedded[]
}

export interface Finder {
  /**
   * The best of what the viewer may see and the filters let through, best first. Filters come before every choice of
   * candidates.
   */
  find(sought: Sought): Promise<Ranked[]>
}

export interface MemoryIndex extends Finder {
  /**
   * Finds out what the store can do. Called before a transaction that keeps vectors: inside one nothing else is waited
   * for.
   */
  prepare(): Promise<void>
  /** Replaces the vectors of a memory. Called in the transaction that marked it as embedded. */
  keep(tx: Db, model: string, vectors: Vectors): Promise<void>
  close(): Promise<void>
}

/** Distinct words beyond this many say nothing that the others did not. */
export const MAX_TERMS = 128

/**
 * A window of a memory with its vector from PostgreSQL: in base64, which is shorter than the server's own form and read
 * faster.
 */
export interface Window {
  memory_id: string
  part: number
  vector: string
}

/** What passes the filters of a search, of what its viewer sees. */
export function wantedSql({ scope, type, minConfidence }: Sought): Condition {
  const parts = ['m.confidence >= ?::double precision']
  const values: Condition['values'] = [minConfidence]
  if (scope !== null) values.push(scope) && parts.push('m.scope = ?')
  if (type !== null) values.push(type) && parts.push('m.type = ?')
  return { sql: parts.join(' and '), values }
}
