// The memory index as the verbs see it: put, remove, keep vectors, find. How it is implemented, and on which engine, is
// known in this folder alone.
import type { MemoryScope, MemoryType } from '@sensorium/contract'
import type { Db } from '../../store/db.ts'
import type { EmbeddedWindow } from '../embed/embedder.ts'
import type { AskedTime } from '../asked-time.ts'
import type { Words } from './bm25.ts'
import type { Scale } from '../calibrate.ts'
import type { Meaning, Ranked, Signals } from '../rank.ts'
import type { Condition, Viewer, Visibility } from '../see.ts'
import type { Ahead, Texts, WaitingCaller } from './analyse.ts'
import type { Scalar } from './facts.ts'
import type { Word } from './terms.ts'

/** The data by which a memory is found: its text, who may see it, and the scalars of its metadata. */
export interface IndexedMemory extends Pick<Visibility, 'tenant_id' | 'agent_id' | 'team_id' | 'scope'> {
  id: string
  title: string
  content: string
  /** JSON text. */
  metadata: string | Buffer
}

export interface Named {
  tenant_id: string
  id: string
}

/** Filters besides scope, type and confidence. A filter that is left out lets everything pass. */
export interface SearchFilters {
  projectId?: string | undefined
  sourceEventId?: string | undefined
  /** In milliseconds, both exclusive. */
  createdAfter?: number | undefined
  createdBefore?: number | undefined
  metadata?: Readonly<Record<string, Scalar>> | undefined
}

export interface SearchQuery {
  viewer: Viewer
  scope: MemoryScope | null
  type: MemoryType | null
  minConfidence: number
  filters: SearchFilters
  limit: number
  now: number
  /** The distinct words of the query, each as the forms by which it may be found. */
  words: readonly Word[]
  /** Null to search by words alone. */
  meaning: Meaning | null
  /** The time that the query names, if it names one. */
  time?: AskedTime | null
  /** Only vectors that this model made are compared. */
  model: string
}

/** Asks for the memories that mean nearly the same as a text. */
export type NearestQuery = Pick<SearchQuery, 'viewer' | 'limit' | 'now' | 'model'> & {
  meaning: Meaning
  /** Memories with a lower cosine are not wanted, and may be left out. */
  leastCos?: number
}

/** Returns the search by meaning alone that lets every memory through that the viewer sees. */
export const asSearch = (query: NearestQuery): SearchQuery & { meaning: Meaning } => ({
  scope: null,
  type: null,
  minConfidence: 0,
  filters: {},
  words: [],
  ...query,
})

/** The cosine of a memory and what was asked. */
export interface Near {
  id: string
  cos: number
}

/** The vectors of one memory, to be stored if its text is still the one that was embedded. */
interface Vectors {
  tenantId: string
  memoryId: string
  /** The version of the text that was embedded. */
  version: number
  windows: readonly EmbeddedWindow[]
}

/** The vectors of a text that is about to be written. */
export interface ReadyVectors {
  model: string
  windows: readonly EmbeddedWindow[]
}

/**
 * Returns the ids of memories that meet the condition on `m` and hold the text, newest first. Memories that are gone
 * are in no index: all of their texts are read.
 */
export type FindText = (viewer: Viewer, text: string, wanted: Condition, isGone?: boolean) => Promise<string[]>

/** The best results, and the scale by which their relevance is converted to a score. */
export interface Found {
  ranked: Ranked[]
  scale: Scale
}

export const foundWith = ({ averageLength, memories }: Words, meaning: Meaning | null, ranked: Ranked[]): Found => ({
  ranked,
  scale: {
    basis: meaning === null ? 'words' : meaning.tokens.length > 0 ? 'tokens' : 'vectors',
    averageLength,
    memories,
  },
})

export interface Finder {
  /**
   * Returns the best of the memories that the viewer may see and the filters let through, best first. Filters are
   * applied before any candidates are chosen.
   */
  find(search: SearchQuery): Promise<Found>
  /** Returns the memories whose nearest windows are nearest in meaning, likest first, without ranking them further. */
  nearest(query: NearestQuery): Promise<Near[]>
}

/** Cosines that differ by less are those of the same text: engines add up in different orders. */
const SAME_COS = 1e-4
const inSteps = ({ cos }: Near): number => Math.round(cos / SAME_COS)

/** Returns the likest, among equals the newest. */
export const likest = (near: Near[], limit: number): Near[] =>
  near.sort((a, b) => inSteps(b) - inSteps(a) || (a.id < b.id ? 1 : -1)).slice(0, limit)

/** A memory in the results of a search. */
export interface Recalled {
  id: string
  /** The approximate probability that a person would call it relevant. */
  score: number
  signals: Signals
}

export interface MemoryIndex {
  /** Returns the results of the finder with scores. Results that other results contradict are lowered. */
  find(search: SearchQuery): Promise<Recalled[]>
  /** Returns the memories that the viewer sees and that mean nearly the same, likest first. */
  nearest(query: NearestQuery): Promise<Near[]>
  /** Returns a string that is unchanged while every search of the tenant finds the same; null if that is unknown. */
  searchFingerprint(viewer: Viewer, model: string): Promise<string | null>
  /**
   * Analyses long texts in steps. Called before the transaction that puts a memory with these texts. The words of a
   * long text may be written after that transaction; whoever promises that the memory is found waits until they are.
   */
  analyseAhead(caller: WaitingCaller, title: string, content: string): Promise<Ahead>
  /**
   * Called in the transaction that writes a memory; for a changed memory, with its state before. The memory is found by
   * its words right after the commit. A new text removes the vectors of the old one at once and waits to be embedded,
   * unless its vectors are `ready`.
   */
  put(tx: Db, memory: IndexedMemory, before?: IndexedMemory, ready?: ReadyVectors): Promise<void>
  /**
   * Replaces the words and facts of a memory if its text is still at this version, nobody else holds the memory, and no
   * words of it are being written. Returns whether that is so.
   */
  reword(tx: Db, memory: Named & Texts & { agent_id: string }, version: number): Promise<boolean>
  /** Called in the transaction that removes a memory. No search finds it any more. */
  remove(tx: Db, tenantId: string, id: string): Promise<void>
  /** Replaces the vectors of a memory, unless its text has changed since. Returns whether they were stored. */
  keep(tx: Db, model: string, vectors: Vectors): Promise<boolean>
  /** Finds a substring in titles and contents. */
  findText: FindText
  /**
   * Finds out what the store can do. Called before a transaction that stores vectors, because inside a transaction
   * nothing else is awaited.
   */
  prepare(): Promise<void>
  /** Finds out what the store of the searches can do now. Called periodically. */
  learn(): Promise<void>
  /** Deletes data that is no longer read. Called periodically. */
  tidy(): Promise<void>
  close(): Promise<void>
}

/** The most distinct words of a query. More words add nothing that these do not say. */
export const MAX_WORDS = 128
