// Stores the index on PostgreSQL: a row for each word, grams as an array, and vectors for pgvector where the server has
// it.
import type { Db, Insert } from '../../store/db.ts'
import { bitsOf, bytesOf } from '../embed/embedder.ts'
import { gramArray } from './grams.ts'
import type { Pgvector } from './pgvector.ts'
import type { EngineWriter, IndexedWords } from './engine-writer.ts'
import { advanceState, putState, replaceState } from './index-state.ts'

const WORDS: Insert = {
  into: 'memory_words',
  columns: { tenant_id: 'text', word: 'text', memory_id: 'text', frequency: 'integer', length: 'integer' },
  conflict: 'on conflict do nothing',
}

const VECTORS: Insert = {
  into: 'memory_vectors',
  columns: {
    tenant_id: 'text',
    memory_id: 'text',
    part: 'integer',
    model: 'text',
    signature: 'bit varying',
    vector: 'bytea',
    tokens: 'bytea',
  },
}

/** Logs a change with its transaction. Two changes of a memory in one transaction are logged once. */
const NOTE_CHANGE = `insert into memory_changes (tenant_id, memory_id, changed_by, changed_at)
  values (?, ?, pg_current_xact_id(), extract(epoch from clock_timestamp()) * 1000) on conflict do nothing`

/** Words and how often they count, in their order: two transactions insert them in the same one. */
type Frequencies = readonly (readonly [word: string, frequency: number])[]

function* encode(_tenantId: string, counts: ReadonlyMap<string, number>): Generator<void, Frequencies[]> {
  const words = [...counts].sort(([a], [b]) => (a < b ? -1 : 1))
  const parts: Frequencies[] = []
  for (let from = 0; from < words.length; from += WORDS_IN_PART) parts.push(words.slice(from, from + WORDS_IN_PART))
  return parts.length > 0 ? parts : [[]]
}

/** Words of a part: two milliseconds to make and send the insert. All but long memories have one part. */
const WORDS_IN_PART = 1_024

const writePart = (
  tx: Db,
  { tenant_id, id, length }: Omit<IndexedWords<Frequencies>, 'parts'>,
  words: Frequencies,
): Promise<unknown> =>
  tx.insertMany(
    WORDS,
    words.map(([word, frequency]) => [tenant_id, word, id, frequency, length]),
  )

/** Writes the words of a memory in place of its present words. */
async function writeWords(tx: Db, words: IndexedWords<Frequencies>, hasSome: boolean): Promise<void> {
  const { tenant_id, id } = words
  // The words of the memory, whose state this transaction has locked.
  if (hasSome) await tx.run('delete from memory_words where tenant_id = ? and memory_id = ?', [tenant_id, id])
  for (const part of words.parts) await writePart(tx, words, part)
}

export const postgresWriter = (extension: Pick<Pgvector, 'keep'>): EngineWriter<Frequencies> => ({
  encode,
  async putText(tx, { tenant_id, id, title, content, grams }) {
    // Inserts or replaces the text. Waits for another writer of the same memory.
    await tx.run(
      `insert into memory_texts (tenant_id, id, title, content, grams) values (?, ?, ?, ?, ?::integer[])
       on conflict (tenant_id, id) do update set title = excluded.title, content = excluded.content, grams = excluded.grams`,
      [tenant_id, id, title, content, gramArray(grams)],
    )
  },
  async putWords(tx, words) {
    const { version, isNew } = await putState(tx, words, 'version')
    await writeWords(tx, words, !isNew)
    return version
  },
  async replaceWords(tx, words, version) {
    const state = await replaceState<{ version: number }>(tx, words, version, 'version')
    if (state) await writeWords(tx, words, true)
    return state?.version ?? null
  },
  async addWords(tx, later) {
    const state = await advanceState<{ length: number }>(tx, later, 'length')
    if (state) await writePart(tx, { ...later, ...state }, later.words)
    return state !== undefined
  },
  async remove(tx, tenantId, id) {
    // Each statement deletes what one memory has. The state is first: concurrent writers of words or vectors lock it
    // first too.
    await tx.run('delete from memory_recall where tenant_id = ? and memory_id = ?', [tenantId, id])
    await tx.run('delete from memory_texts where tenant_id = ? and id = ?', [tenantId, id])
    await tx.run('delete from memory_words where tenant_id = ? and memory_id = ?', [tenantId, id])
  },
  async insertVectors(tx, model, tenantId, memoryId, windows) {
    await tx.insertMany(
      VECTORS,
      windows.map(({ vector, tokens }, part) => [
        tenantId,
        memoryId,
        part,
        model,
        bitsOf(vector),
        bytesOf(vector),
        bytesOf(tokens),
      ]),
    )
    await extension.keep(tx, tenantId, memoryId, windows)
  },
  noteChange(tx, tenantId, id) {
    // No columns are kept of a sharded store: the transactions of several machines have no common order.
    if (!tx.isSharded) tx.runLater(NOTE_CHANGE, [tenantId, id])
  },
})
