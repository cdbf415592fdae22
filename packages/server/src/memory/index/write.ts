// Writes the index of a memory (words, grams and facts) in the transaction of the verb that writes the memory. Very
// many words follow after it (write-later.ts). A verb passes the memory as it is now and as it was before; what has to
// be written follows from that here.
import type { Db, Store } from '../../store/db.ts'
import { makeAnalyse, type Folded, type Taken, type Texts } from './analyse.ts'
import type { EngineWriter, IndexedWords, SearchableText } from './engine-writer.ts'
import { lockMetadata, putFacts, removeFacts } from './facts.ts'
import { audiencesOf, seedOf } from './grams.ts'
import type { IndexedMemory, MemoryIndex, Named, ReadyVectors } from './memory-index.ts'
import { makeWriteLater } from './write-later.ts'

function textOf(memory: IndexedMemory, { title, content, grams }: Folded): SearchableText {
  const { tenant_id, id } = memory
  return { tenant_id, id, title, content, grams: [...audiencesOf(memory, seedOf(tenant_id)), ...grams] }
}

/** Deletes the vectors of a memory. The caller has locked its state. */
const removeVectors = (tx: Db, tenantId: string, id: string): Promise<number> =>
  tx.run('delete from memory_vectors where tenant_id = ? and memory_id = ?', [tenantId, id])

/**
 * `toEmbed` is called with each memory whose text is new, after the commit, and `failed` when words could not be
 * written that were to follow it.
 */
export function makeWrite<W>(
  store: Pick<Store, 'tx'>,
  engine: EngineWriter<W>,
  toEmbed: (memory: IndexedMemory) => void,
  failed: (error: unknown) => void,
): Pick<MemoryIndex, 'analyseAhead' | 'put' | 'reword' | 'remove' | 'keep'> {
  const later = makeWriteLater(store, engine, failed)
  const analyse = makeAnalyse(engine.encode, later.hasRoom)

  /** Writes the words of a text: in the transaction, or after it if there are many and somebody waits for them. */
  async function putWords(
    tx: Db,
    memory: Texts & Pick<IndexedMemory, 'id' | 'agent_id'>,
    { parts, length, noteWrite }: Taken<W>,
    put: (words: IndexedWords<W>) => Promise<number | null>,
  ): Promise<number | null> {
    const { tenant_id, id, agent_id } = memory
    const isLater = noteWrite !== null && parts.length > 1
    const version = await put({ tenant_id, id, length, parts: isLater ? [] : parts })
    if (version !== null && isLater)
      tx.afterCommit(() => noteWrite(later.write({ tenant_id, id, agent_id, version, parts })))
    return version
  }

  /** Stores the vectors of a text that was put in the same transaction. */
  async function storeVectors(tx: Db, { tenant_id, id }: Named, { model, windows }: ReadyVectors): Promise<void> {
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
        const analysed = analyse.take(memory)
        tx.afterCommit(() => analyse.drop(memory))
        await engine.putText(tx, textOf(memory, analysed))
        await putWords(tx, memory, analysed, (words) => engine.putWords(tx, words))
        // The vectors of the old text must not find anything any more.
        if (before) await removeVectors(tx, memory.tenant_id, memory.id)
        if (ready) await storeVectors(tx, memory, ready)
        else tx.afterCommit(() => toEmbed(memory))
      } else if (differs('scope', 'team_id')) {
        tx.afterCommit(() => analyse.drop(memory))
        await engine.putText(tx, textOf(memory, analyse.takeFolded(memory)))
      }
      if (!differs('metadata')) return
      if (before) await removeFacts(tx, memory.tenant_id, memory.id)
      await putFacts(tx, memory)
    },
    async reword(tx, texts, version) {
      const { tenant_id, id } = texts
      tx.afterCommit(() => analyse.drop(texts))
      if (later.isUnderWay(texts)) return false
      // Before the index, in the order of the verbs: a change of the metadata alone locks the memory and no index.
      const memory = await lockMetadata(tx, texts)
      if (!memory) return false
      const replace = (words: IndexedWords<W>) => engine.replaceWords(tx, words, version)
      if ((await putWords(tx, texts, analyse.take(texts), replace)) === null) return false
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
