// Writes the index of a memory, in the transaction of the verb that writes the memory: words, grams and facts. A verb
// says what a memory is now and what it was; what follows from that is decided here.
import type { Db } from '../../store/db.ts'
import type { Embedded } from '../embed/embedding.ts'
import { makeAnalyse } from './analyse.ts'
import { putFacts, removeFacts } from './facts.ts'
import { fold } from './fold.ts'
import { audiencesOf, gramsOf, seedOf } from './grams.ts'
import type { IndexedMemory, IndexedWords, MemoryIndex, Named, ReadyVectors } from './memory-index.ts'
import { countWords, indexedWords, WORD_RULES, type Word } from './terms.ts'

/** Its searchable text: folded, with the grams of the text and of who may see it. */
export interface SearchableText extends Named {
  title: string
  content: string
  grams: readonly number[]
}

/** How an engine stores it. */
export interface EngineWriter {
  putText(tx: Db, text: SearchableText): Promise<void>
  /** Of one that has words already they are replaced, and its text counts as not embedded. Vectors stay. */
  putWords(tx: Db, words: IndexedWords): Promise<void>
  /** Replaces the words of a text that is still at this version; returns whether it is. */
  replaceWords(tx: Db, words: IndexedWords, version: number): Promise<boolean>
  /** Removes its text and its words; of a memory without, nothing. */
  remove(tx: Db, tenantId: string, id: string): Promise<void>
  insertVectors(tx: Db, model: string, tenantId: string, memoryId: string, windows: readonly Embedded[]): Promise<void>
  /** Notes that a memory has changed, for whoever keeps columns of it. */
  noteChange(tx: Db, tenantId: string, id: string): void
}

/**
 * The state of the index for one memory: not embedded, claimed by nobody, one version on. Two writers of one memory
 * take turns at this row, before they touch its words and vectors; who writes several memories takes them in the order
 * of their ids. A new row is given its first version.
 */
export const PUT_STATE = `insert into memory_recall (tenant_id, memory_id, length, version, embedded, claimed_until, word_rules) values (?, ?, ?, ?, '', 0, ${WORD_RULES})
  on conflict (tenant_id, memory_id) do update set length = excluded.length, version = memory_recall.version + 1, embedded = '', claimed_until = 0, retry_at = 0, word_rules = excluded.word_rules`

/**
 * Any number: a memory that is deleted and comes back has other versions than before, so that what was embedded of its
 * old text, and is kept later, is not taken for the new one's.
 */
export const firstVersion = (): number => 1 + Math.floor(Math.random() * 2 ** 40)

/** Words that older rules made. As it stands in the index over them. */
export const OLD_WORDS = `word_rules < ${WORD_RULES}`

/** Notes that words are those of the present rules, if the text is still at this version. */
export const PUT_RULES = `update memory_recall set word_rules = ${WORD_RULES}, length = ?
  where tenant_id = ? and memory_id = ? and version = ?`

function textOf(memory: IndexedMemory, title: string, content: string): SearchableText {
  const { tenant_id, id } = memory
  const seed = seedOf(tenant_id)
  return { tenant_id, id, title, content, grams: [...audiencesOf(memory, seed), ...gramsOf(seed, title, content)] }
}

export function wordsToIndex(
  { tenant_id, id }: Named,
  titleWords: readonly Word[],
  contentWords: readonly Word[],
): IndexedWords {
  const seen = new Set<string>()
  const title = indexedWords(titleWords, seen)
  const content = indexedWords(contentWords, seen)
  return { tenant_id, id, title: title.flat(), content: content.flat(), ...countWords(title, content) }
}

const removeVectors = (tx: Db, tenantId: string, id: string): Promise<number> =>
  tx.run('delete from memory_vectors where tenant_id = ? and memory_id = ?', [tenantId, id])

/** `toEmbed` is told of each memory whose text is new, once it is on disk. */
export function makeWrite(
  engine: EngineWriter,
  toEmbed: (memory: IndexedMemory) => void,
): Pick<MemoryIndex, 'ahead' | 'put' | 'reword' | 'remove' | 'keep'> {
  const analyse = makeAnalyse()

  /** Stores the vectors of the text that was just put. */
  async function store(tx: Db, { tenant_id, id }: Named, { model, windows }: ReadyVectors): Promise<void> {
    // Marks a memory as embedded.
    await tx.run('update memory_recall set embedded = ? where tenant_id = ? and memory_id = ?', [model, tenant_id, id])
    await engine.insertVectors(tx, model, tenant_id, id, windows)
  }

  return {
    ahead: analyse.ahead,
    async put(tx, memory, before, ready) {
      engine.noteChange(tx, memory.tenant_id, memory.id)
      const differs = (...names: (keyof IndexedMemory)[]): boolean =>
        before === undefined || names.some((name) => memory[name] !== before[name])
      const newText = differs('title', 'content')
      if (newText) {
        const title = analyse.of(memory.title)
        const content = analyse.of(memory.content)
        await engine.putText(tx, textOf(memory, title.folded, content.folded))
        await engine.putWords(tx, wordsToIndex(memory, title.words, content.words))
        // What an older text meant finds nothing any more.
        if (before) await removeVectors(tx, memory.tenant_id, memory.id)
        if (ready) await store(tx, memory, ready)
        else tx.afterCommit(() => toEmbed(memory))
      } else if (differs('scope', 'team_id'))
        await engine.putText(tx, textOf(memory, fold(memory.title), fold(memory.content)))
      if (!differs('metadata')) return
      if (before) await removeFacts(tx, memory.tenant_id, memory.id)
      await putFacts(tx, memory)
    },
    async reword(tx, words, version) {
      const current = await engine.replaceWords(tx, words, version)
      if (current) engine.noteChange(tx, words.tenant_id, words.id)
      return current
    },
    async remove(tx, tenantId, id) {
      engine.noteChange(tx, tenantId, id)
      await engine.remove(tx, tenantId, id)
      await removeVectors(tx, tenantId, id)
      await removeFacts(tx, tenantId, id)
    },
    async keep(tx, model, { tenantId, memoryId, version, windows }) {
      // Marks a memory as embedded if its text is still the one; returns whether it was.
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
