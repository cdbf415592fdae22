// What a search asks of the store, and what the two engines answer it with: index-sqlite.ts and index-postgres.ts.
import type { MemoryScope, MemoryType } from '@sensorium/contract'
import type { Db } from '../store/db.ts'
import type { Embedded } from './embed/embedding.ts'
import type { Meaning, Ranked } from './rank.ts'
import { hasFacts, type Scalar } from './facts.ts'
import { both, type Condition, type Viewer } from './see.ts'

/** Filters beside scope, type and confidence; left out, everything passes. */
export interface SearchFilters {
  projectId?: string | undefined
  sourceEventId?: string | undefined
  /** In milliseconds, both exclusive. */
  createdAfter?: number | undefined
  createdBefore?: number | undefined
  metadata?: Readonly<Record<string, Scalar>> | undefined
}

export interface Sought {
  viewer: Viewer
  scope: MemoryScope | null
  type: MemoryType | null
  minConfidence: number
  filters: SearchFilters
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

/** Ids of what meets the condition on `m` and holds the text, newest first. */
export type FindText = (viewer: Viewer, text: string, wanted: Condition) => Promise<string[]>

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
  /** Finds a substring in titles and contents. */
  findText: FindText
  /** Replaces the vectors of a memory. Called in the transaction that marked it as embedded. */
  keep(tx: Db, model: string, vectors: Vectors): Promise<void>
  /** Throws away what nobody reads any more. Called now and then. */
  tidy(): Promise<void>
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

/** The filters of a search beside scope, type and confidence, as conditions on `m`. */
export function filterConditions(filters: SearchFilters): Condition[] {
  const { projectId, sourceEventId, createdAfter, createdBefore, metadata = {} } = filters
  const conditions = hasFacts(metadata)
  if (projectId !== undefined) conditions.push({ sql: 'm.project_id = ?', values: [projectId] })
  if (sourceEventId !== undefined) conditions.push({ sql: 'm.source_event_id = ?', values: [sourceEventId] })
  if (createdAfter !== undefined) conditions.push({ sql: 'm.created_at > ?', values: [createdAfter] })
  if (createdBefore !== undefined) conditions.push({ sql: 'm.created_at < ?', values: [createdBefore] })
  return conditions
}

/** What passes the filters of a search, of what its viewer sees. */
export function wantedSql({ scope, type, minConfidence, filters }: Sought): Condition {
  const conditions: Condition[] = [{ sql: 'm.confidence >= ?::double precision', values: [minConfidence] }]
  if (scope !== null) conditions.push({ sql: 'm.scope = ?', values: [scope] })
  if (type !== null) conditions.push({ sql: 'm.type = ?', values: [type] })
  return both(...conditions, ...filterConditions(filters))
}
