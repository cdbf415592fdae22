// Writes the index of a memory (words, grams and facts) in the transaction of the verb that writes the memory. A verb
// passes the memory as it is now and as it was before; what has to be written follows from that here.
import type { Db } from '../../store/db.ts'
import type { Embedded } from '../embed/embedding.ts'
import { makeAnalyse, type Encode } from './analyse.ts'
import { lockMetadata, putFacts, removeFacts } from './facts.ts'
import { audiencesOf, seedOf } from './grams.ts'
import type { IndexedMemory, MemoryIndex, Named, ReadyVectors } from './memory-index.ts'
import { WORD_RULES } from './terms.ts'

/** The searchable text of a memory: folded, with the grams of the text and of the audiences that may see it. */
export interface SearchableText extends Named {
  title: string
  content: string
  grams: readonly number[]
}

/** The words of a memory, in the form of the engine. */
export interface IndexedWords<W> extends Named {
  words: W
  length: number
}

/** How an engine stores the index. */
export interface EngineWriter<W> {
  encode: Encode<W>
  putText(tx: Db, text: SearchableText): Promise<void>
  /** Writes the words of a memory or replaces them, and marks its text as not embedded. Vectors stay. */
  putWords(tx: Db, words: IndexedWords<W>): Promise<void>
  /** Replaces the words of a memory if its text is still at this version. Returns whether it is. */
  replaceWords(tx: Db, words: IndexedWords<W>, version: number): Promise<boolean>
  /** Removes the text and the words of a memory. Does nothing if it has none. */
  remove(tx: Db, tenantId: string, id: string): Promise<void>
  insertVectors(tx: Db, model: string, tenantId: string, memoryId: string, windows: readonly Embedded[]): Promise<void>
  /** Logs that a memory has changed, for the search threads that keep columns of it. */
  noteChange(tx: Db, tenantId: string, id: string): void
}

/**
 * Writes the state of the index for one memory: not embedded, not claimed, version incremented. Two writers of one
 * memory lock this row in turn before they touch its words and vectors; a writer of several memories locks them in the
 * order of their ids. A new row gets its first version.
 */
export const PUT_STATE = `insert into memory_recall (tenant_id, memory_id, length, version, embedded, claimed_until, word_rules) values (?, ?, ?, ?, '', 0, ${WORD_RULES})
  on conflict (tenant_id, memory_id) do update set length = excluded.length, version = memory_recall.version + 1, embedded = '', claimed_until = 0, retry_at = 0, word_rules = excluded.word_rules`

/**
 * Returns a random version. A memory that is deleted and created again thus has other versions than before, so that
 * vectors of its old text that arrive late are not taken for those of the new one.
 */
export const firstVersion = (): number => 1 + Math.floor(Math.random() * 2 ** 40)

/** Selects words that older rules made. Must be written as in the partial index over them. */
export const OLD_WORDS = `word_rules < ${WORD_RULES}`

/** Records that the words follow the present rules, if the text is still at this version. */
export const PUT_RULES = `update memory_recall set word_rules = ${WORD_RULES}, length = ?
  where tenant_id = ? and memory_id = ? and version = ?`

function textOf(memory: IndexedMemory, title: string, content: string, grams: Iterable<number>): SearchableText {
  const { tenant_id, id } = memory
  return { tenant_id, id, title, content, grams: [...audiencesOf(memory, seedOf(tenant_id)), ...grams] }
}

/** Deletes the vectors of a memory. The caller has locked its state. */
const removeVectors = (tx: Db, tenantId: string, id: string): Promise<number> =>
  tx.run('delete from memory_vectors where tenant_id = ? and memory_id = ?', [tenantId, id])

/** `toEmbed` is called with each memory whose text is new, after the commit. */
export function makeWrite<W>(
  engine: EngineWriter<W>,
  toEmbed: (memory: IndexedMemory) => void,
): Pick<MemoryIndex, 'analyseAhead' | 'put' | 'reword' | 'remove' | 'keep'> {
  const analyse = makeAnalyse(engine.encode)

  /** Stores the vectors of a text that was put in the same transaction. */
  async function store(tx: Db, { tenant_id, id }: Named, { model, windows }: ReadyVectors): Promise<void> {
    // Marks a memory as embedded.
    await tx.run('update memory_recall set embedded = ? where tenant_id = ? and memory_id = ?', [model, tenant_id, id])
    await engine.insertVectors(tx, model, tenant_id, id, windows)
  }

  return {
    analyseAhead: analyse.analyseAhead,
    async put(tx, memory, before, ready) {
      engine.noteChange(tx, memory.tenant_id, memory.id)
      const differs = (...names: (keyof IndexedMemory)[]): boolean =>
        before === undefined || names.some((name) => memory[name] !== before[name])
      const newText = differs('title', 'content')
      if (newText) {
        const { title, content, grams, words, length } = analyse.take(memory)
        tx.afterCommit(() => analyse.drop(memory))
        await engine.putText(tx, textOf(memory, title, content, grams))
        await engine.putWords(tx, { tenant_id: memory.tenant_id, id: memory.id, words, length })
        // The vectors of the old text must not find anything any more.
        if (before) await removeVectors(tx, memory.tenant_id, memory.id)
        if (ready) await store(tx, memory, ready)
        else tx.afterCommit(() => toEmbed(memory))
      } else if (differs('scope', 'team_id')) {
        const { title, content, grams } = analyse.takeFolded(memory)
        tx.afterCommit(() => analyse.drop(memory))
        await engine.putText(tx, textOf(memory, title, content, grams))
      }
      if (!differs('metadata')) return
      if (before) await removeFacts(tx, memory.tenant_id, memory.id)
      await putFacts(tx, memory)
    },
    async reword(tx, texts, version) {
      const { tenant_id, id } = texts
      // Before the index, in the order of the verbs: a change of the metadata alone locks the memory and no index.
      const memory = await lockMetadata(tx, texts)
      if (!memory) return false
      const { words, length } = analyse.take(texts)
      tx.afterCommit(() => analyse.drop(texts))
      if (!(await engine.replaceWords(tx, { tenant_id, id, words, length }, version))) return false
      engine.noteChange(tx, tenant_id, id)
      await removeFacts(tx, tenant_id, id)
      await putFacts(tx, memory)
      return true
    },
    async remove(tx, tenantId, id) {
      engine.noteChange(tx, tenantId, id)
      await engine.remove(tx, tenantId, id)
      await removeVectors(tx, tenantId, id)
      await removeFacts(tx, tenantId, id)
    },
    async keep(tx, model, { tenantId, memoryId, version, windows }) {
      // Marks a memory as embedded if its text is still the one that was embedded.
      const current = await tx.run(
        'update memory_recall set embedded = ?, claimed_until = 0 where tenant_id = ? and memory_id = ? and version = ?',
        [model, tenantId, memoryId, version],
      )
      if (current === 0) return false
      engine.noteChange(tx, tenantId, memoryId)
      await removeVectors(tx, tenantId, memoryId)
      await engine.insertVectors(tx, model, tenantId, memoryId, windows)
      return true
    },
  }
}
