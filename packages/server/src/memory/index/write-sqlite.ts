// Stores the index on the embedded store: words and grams in FTS5, whose rows are identified by number.
import { one, type Db, type Insert } from '../../store/db.ts'
import { bytesOf, signatureOf } from '../embed/embedding.ts'
import { gramWord } from './grams.ts'
import { TITLE_WEIGHT } from './terms.ts'
import { firstVersion, PUT_RULES, PUT_STATE, type EngineWriter } from './write.ts'

/** Returns the token of a word in the full-text index. Tenants share the index but never a token. */
export const wordToken = (tenantId: string, term: string): string => `${tenantId.toLowerCase()}_${term}`

const VECTORS: Insert = {
  into: 'memory_vectors',
  columns: {
    tenant_id: 'text',
    memory_id: 'text',
    part: 'integer',
    model: 'text',
    signature: 'bytea',
    vector: 'bytea',
    tokens: 'bytea',
  },
}

/** Tokens; many of them as UTF-8, which the driver takes as it is: encoding 65,000 of Chinese takes it 15 ms. */
interface Tokens<T = string | Buffer> {
  /** Each counts for TITLE_WEIGHT. */
  title: T
  content: T
}

/** Characters of tokens that are made in a step, in about a millisecond. */
const STEP = 65_536

/**
 * Writes a word as often as it counts, with as few tokens as possible: three of the content are one of the title. Equal
 * tokens stand together, which the full-text index takes in half the time.
 */
function* encode(tenantId: string, counts: ReadonlyMap<string, number>): Generator<void, Tokens> {
  const parts: Tokens<Buffer>[] = []
  const prefix = wordToken(tenantId, '')
  let title = ''
  let content = ''
  const addPart = (): void => {
    parts.push({ title: Buffer.from(title), content: Buffer.from(content) })
    title = content = ''
  }
  for (const [term, count] of counts) {
    const token = `${prefix}${term} `
    title += token.repeat(Math.floor(count / TITLE_WEIGHT))
    content += token.repeat(count % TITLE_WEIGHT)
    if (title.length + content.length < STEP) continue
    addPart()
    yield
  }
  if (parts.length === 0) return { title, content }
  addPart()
  return {
    title: Buffer.concat(parts.map((part) => part.title)),
    content: Buffer.concat(parts.map((part) => part.content)),
  }
}

/** Writes the words of a memory under its number, in place of its present words. */
function writeWords(tx: Db, doc: number, { title, content }: Tokens, hasSome: boolean): void {
  // Both run at the end of the transaction; the number is that of a state that this transaction has written.
  if (hasSome) tx.runLast('delete from memory_words where rowid = ?', [doc])
  tx.runLast('insert into memory_words (rowid, title, content) values (?, ?, ?)', [doc, title, content])
}

/** `noteWritten` is called after each commit that has changed the index of a memory. */
export const sqliteWriter = (noteWritten: () => void): EngineWriter<Tokens> => ({
  encode,
  async putText(tx, { tenant_id, id, title, content, grams }) {
    // Inserts or replaces the text and returns its number. A changed text keeps its number.
    const row = await one<{ doc: number }>(
      tx,
      `insert into memory_texts (tenant_id, id, title, content) values (?, ?, ?, ?)
       on conflict (tenant_id, id) do update set title = excluded.title, content = excluded.content returning doc`,
      [tenant_id, id, title, content],
    )
    // Writes the grams under that number, at the end of the transaction.
    tx.runLast('insert or replace into memory_grams (rowid, grams) values (?, ?)', [
      row!.doc,
      Array.from(grams, gramWord).join(' '),
    ])
  },
  async putWords(tx, words) {
    const first = firstVersion()
    // Returns the number, and the version: the first one only if the row is new and there are no words to delete.
    const row = await one<{ doc: number; version: number }>(tx, `${PUT_STATE} returning doc, version`, [
      words.tenant_id,
      words.id,
      words.length,
      first,
    ])
    writeWords(tx, row!.doc, words.words, row!.version !== first)
  },
  async replaceWords(tx, words, version) {
    // Returns the number of the words, or no row if the text has changed.
    const row = await one<{ doc: number }>(tx, `${PUT_RULES} returning doc`, [
      words.length,
      words.tenant_id,
      words.id,
      version,
    ])
    if (row) writeWords(tx, row.doc, words.words, true)
    return row !== undefined
  },
  async remove(tx, tenantId, id) {
    // Each statement deletes the row of one memory and returns its number in the full-text index, whose row is deleted
    // at the end of the transaction.
    const text = await one<{ doc: number }>(
      tx,
      'delete from memory_texts where tenant_id = ? and id = ? returning doc',
      [tenantId, id],
    )
    if (text) tx.runLast('delete from memory_grams where rowid = ?', [text.doc])
    const words = await one<{ doc: number }>(
      tx,
      'delete from memory_recall where tenant_id = ? and memory_id = ? returning doc',
      [tenantId, id],
    )
    if (words) tx.runLast('delete from memory_words where rowid = ?', [words.doc])
  },
  async insertVectors(tx, model, tenantId, memoryId, windows) {
    await tx.insertMany(
      VECTORS,
      windows.map(({ vector, tokens }, part) => [
        tenantId,
        memoryId,
        part,
        model,
        signatureOf(vector),
        bytesOf(vector),
        bytesOf(tokens),
      ]),
    )
  },
  // Triggers log the changes for the search threads.
  noteChange: (tx) => tx.afterCommit(noteWritten),
})
