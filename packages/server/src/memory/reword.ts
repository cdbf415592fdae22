// Indexes the words and facts of memories again that were indexed by older rules, in the background. Until then searches
// find them by those they have. Nothing is embedded.
import { inSteps, nextTurn } from '../kernel/step-turns.ts'
import type { Db, Store } from '../store/db.ts'
import type { IndexedWords, MemoryIndex } from './index/memory-index.ts'
import { wordSteps } from './index/terms.ts'
import { OLD_WORDS, wordsToIndex } from './index/write.ts'

/** Memories written in one transaction: a millisecond or two for short ones. */
const TOGETHER = 16
/** Batches of one run, so that other background work has its turn. */
const BATCHES = 64

interface OldRow {
  id: string
  version: number
  title: string
  content: string
}

/** Returns some memories of a tenant whose words were indexed by older rules. */
const oldOnes = (db: Pick<Db, 'rows'>, tenantId: string): Promise<OldRow[]> =>
  db.rows<OldRow>(
    `select m.id, r.version, m.title, m.content
       from memory_recall r join memories m on m.tenant_id = r.tenant_id and m.id = r.memory_id
      where r.tenant_id = ? and m.tenant_id = ? and r.${OLD_WORDS} limit ?`,
    [tenantId, tenantId, TOGETHER],
  )

/** Returns how many memories were written. */
export async function rewordMemories(store: Store, index: Pick<MemoryIndex, 'reword'>): Promise<number> {
  let written = 0
  // Tenants that have such memories, in any order: each has a turn before this run ends.
  const tenants = await store.rows<{ tenant_id: string }>(
    `select distinct tenant_id from memory_recall where ${OLD_WORDS} limit ?`,
    [BATCHES],
  )
  const turns = [...tenants]
  for (let batch = 0; batch < BATCHES && turns.length > 0; batch++) {
    const { tenant_id: tenantId } = turns.shift()!
    const rows = (await oldOnes(store, tenantId)).sort((a, b) => (a.id < b.id ? -1 : 1)) // the order of locks
    const words: { version: number; words: IndexedWords }[] = []
    for (const { id, version, title, content } of rows) {
      const [ofTitle, ofContent] = [
        await inSteps(wordSteps(title), nextTurn),
        await inSteps(wordSteps(content), nextTurn),
      ]
      words.push({ version, words: wordsToIndex({ tenant_id: tenantId, id }, ofTitle, ofContent) })
      await nextTurn() // a long text takes some milliseconds
    }
    if (rows.length === 0) continue
    await store.tx(async (tx) => {
      for (const one of words) if (await index.reword(tx, one.words, one.version)) written++
    })
    if (rows.length === TOGETHER) turns.push({ tenant_id: tenantId })
  }
  return written
}
