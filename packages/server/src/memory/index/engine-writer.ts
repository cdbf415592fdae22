// How an engine stores the index of a memory.
import type { Db } from '../../store/db.ts'
import type { EmbeddedWindow } from '../embed/embedder.ts'
import type { Encode } from './analyse.ts'
import type { Named } from './memory-index.ts'

/** The searchable text of a memory: folded, with the grams of the text and of the audiences that may see it. */
export interface SearchableText extends Named {
  title: string
  content: string
  grams: readonly number[]
}

/** The words of a memory, in the form of the engine. */
export interface IndexedWords<W> extends Named {
  /** All parts, or none if they are written after this transaction. */
  parts: readonly W[]
  length: number
}

/** A part of the words of a memory that is written after its text. */
export interface LaterWords<W> extends Named {
  words: W
  /** The number of the part, from 0. */
  part: number
  isLast: boolean
  /** The version of the text. */
  version: number
}

/** How an engine stores the index. */
export interface EngineWriter<W> {
  encode: Encode<W>
  putText(tx: Db, text: SearchableText): Promise<void>
  /**
   * Writes the words of a memory or replaces them, and marks its text as not embedded. Vectors stay. Returns the
   * version of the text.
   */
  putWords(tx: Db, words: IndexedWords<W>): Promise<number>
  /** Replaces the words of a memory if its text is at this version. Returns the next version, or null if it is not. */
  replaceWords(tx: Db, words: IndexedWords<W>, version: number): Promise<number | null>
  /** Adds a part of the words of a memory if its text is still at the version. Returns whether it is. */
  addWords(tx: Db, words: LaterWords<W>): Promise<boolean>
  /** Removes the text and the words of a memory. Does nothing if it has none. */
  remove(tx: Db, tenantId: string, id: string): Promise<void>
  insertVectors(
    tx: Db,
    model: string,
    tenantId: string,
    memoryId: string,
    windows: readonly EmbeddedWindow[],
  ): Promise<void>
  /** Logs that a memory has changed, for the search threads that keep columns of it. */
  noteChange(tx: Db, tenantId: string, id: string): void
}
