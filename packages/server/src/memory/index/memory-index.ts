// What finds memories, as the verbs know it: put, remove, keep a vector, find. What it is made of, and which engine it
// runs on, is known in this folder alone.
import type { MemoryScope, MemoryType } from '@sensorium/contract'
import type { Db } from '../../store/db.ts'
import type { Embedded } from '../embed/embedding.ts'
import type { AskedTime } from '../asked-time.ts'
import type { Words } from '../bm25.ts'
import type { Scale } from '../calibrate.ts'
import type { Meaning, Ranked, Signals } from '../rank.ts'
import type { Condition, Viewer, Visibility } from '../see.ts'
import type { Scalar } from './facts.ts'
import type { Counted, Word } from './terms.ts'

/** What a memory is found by: its text, who may see it, and the scalars of its metadata. */
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

/** The words of a memory as they are stored. */
export interface IndexedWords extends Named, Counted {
  /** Every form of every word, in their order, as often as they occur. */
  title: readonly string[]
  content: readonly string[]
}

/** Filters beside scope, type and confidence; left out, everything passes. */
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
  /** The distinct words of the query, each under the forms that it may be found by. */
  words: readonly Word[]
  /** Null: by words alone. */
  meaning: Meaning | null
  /** The time that the query names, if it names one. */
  time?: AskedTime | null
  /** Only vectors that this model made are compared. */
  model: string
}

/** The vectors of one memory, to be kept if its text is still the one that was embedded. */
export interface Vectors {
  tenantId: string
  memoryId: string
  /** Of the text that was embedded. */
  version: number
  windows: readonly Embedded[]
}

/** The vectors of a text that is about to be written. */
export interface ReadyVectors {
  model: string
  windows: readonly Embedded[]
}

/**
 * Ids of what meets the condition on `m` and holds the text, newest first. What is `gone` stands in no index: all of it
 * is read.
 */
export type FindText = (viewer: Viewer, text: string, wanted: Condition, isGone?: boolean) => Promise<string[]>

/** The best, and how their relevance is read. */
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
   * The best of what the viewer may see and the filters let through, best first. Filters come before every choice of
   * candidates.
   */
  find(search: SearchQuery): Promise<Found>
}

/** What a search tells of a memory. */
export interface Recalled {
  id: string
  /** About the chance that a person would call it relevant. */
  score: number
  signals: Signals
}

export interface MemoryIndex {
  /** What the finder finds, with scores; what others of the results contradict is lowered. */
  find(search: SearchQuery): Promise<Recalled[]>
  /** A text that stays the same while every search of the tenant finds the same; null where nobody can say. */
  standing(viewer: Viewer, model: string): Promise<string | null>
  /** Works out what long texts are found by, in steps: called before the transaction that puts a memory of them. */
  ahead(...texts: (string | undefined)[]): Promise<void>
  /**
   * Called in the transaction that writes a memory: with a new one alone, with a changed one and what it was before.
   * It is found by its words right after the commit; a new text loses the vectors of the old one at once and waits to
   * be embedded, unless its vectors are `ready`.
   */
  put(tx: Db, memory: IndexedMemory, before?: IndexedMemory, ready?: ReadyVectors): Promise<void>
  /** Replaces the words of a memory whose text is still at this version; returns whether it is. */
  reword(tx: Db, words: IndexedWords, version: number): Promise<boolean>
  /** Called in the transaction that takes a memory away: nothing finds it any more. */
  remove(tx: Db, tenantId: string, id: string): Promise<void>
  /** Replaces the vectors of a memory, unless its text has changed since; returns whether they were kept. */
  keep(tx: Db, model: string, vectors: Vectors): Promise<boolean>
  /** Finds a substring in titles and contents. */
  findText: FindText
  /**
   * Finds out what the store can do. Called before a transaction that keeps vectors: inside one nothing else is waited
   * for.
   */
  prepare(): Promise<void>
  /** Throws away what nobody reads any more. Called now and then. */
  tidy(): Promise<void>
  close(): Promise<void>
}

/** Distinct words beyond this many say nothing that the others did not. */
export const MAX_WORDS = 128
