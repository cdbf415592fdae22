// Stores the index on PostgreSQL: a row for each word, grams as an array, and vectors for pgvector where the server has
// it.
import { one, type Db, type Insert } from '../../store/db.ts'
import { bitsOf, bytesOf } from '../embed/embedding.ts'
import { gramArray } from './grams.ts'
import type { Pgvector } from './pgvector.ts'
import { firstVersion, PUT_RULES, PUT_STATE, type EngineWriter, type IndexedWords } from './write.ts'

const WORDS: Insert = {
  into: 'memory_words',
  columns: { tenant_id: 'text', word: 'text', memory_id: 'text', frequency: 'integer', length: 'integer' },
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

function* encode(_tenantId: string, counts: ReadonlyMap<string, number>): Generator<void, Frequencies> {
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Words in an insert, which takes two milliseconds to make and send. All but long memories have fewer. */
const AT_ONCE = 1_024

/** Writes the words of a memory in place of its present words. */
async function writeWords(
  tx: Db,
  { tenant_id, id, words, length }: IndexedWords<Frequencies>,
  hasSome: boolean,
): Promise<void> {
  // The words of the memory, whose state this transaction has locked.
  if (hasSome) await tx.run('delete from memory_words where tenant_id = ? and memory_id = ?', [tenant_id, id])
  for (let from = 0; from < words.length; from += AT_ONCE) {
    const some = words.slice(from, from + AT_ONCE)
    await tx.insertMany(
      WORDS,
      some.map(([word, frequency]) => [tenant_id, word, id, frequency, length]),
    )
  }
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
    const { tenant_id, id, length } = words
    const first = firstVersion()
    // Returns the version: the first one only if the row is new and there are no words to delete.
    const row = await one<{ version: number }>(tx, `${PUT_STATE} returning version`, [tenant_id, id, length, first])
    await writeWords(tx, words, row!.version !== first)
  },
  async replaceWords(tx, words, version) {
    const { tenant_id, id, length } = words
    if ((await tx.run(PUT_RULES, [length, tenant_id, id, version])) === 0) return false
    await writeWords(tx, words, true)
    return true
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
