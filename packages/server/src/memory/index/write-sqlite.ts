// Stores the index on the embedded store: words and grams in FTS5, whose rows are identified by number.
import { one, type Db, type Insert } from '../../store/db.ts'
import { bytesOf, signatureOf } from '../embed/embedder.ts'
import type { EngineWriter } from './engine-writer.ts'
import { gramWord } from './grams.ts'
import { advanceState, putState, replaceState } from './index-state.ts'
import { MAX_DISTINCT, TITLE_WEIGHT } from './terms.ts'

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
function* encode(tenantId: string, counts: ReadonlyMap<string, number>): Generator<void, Tokens[]> {
  const parts: Tokens[] = []
  const prefix = wordToken(tenantId, '')
  let done: Tokens<Buffer>[] = []
  let words = 0
  let title = ''
  let content = ''
  const endStep = (): void => {
    done.push({ title: Buffer.from(title), content: Buffer.from(content) })
    title = content = ''
  }
  const endPart = (): void => {
    const joined = (column: 'title' | 'content') => Buffer.concat(done.map((step) => step[column]))
    parts.push(done.length === 1 ? done[0]! : { title: joined('title'), content: joined('content') })
    done = []
    words = 0
  }
  for (const [term, count] of counts) {
    const token = `${prefix}${term} `
    title += token.repeat(Math.floor(count / TITLE_WEIGHT))
    content += token.repeat(count % TITLE_WEIGHT)
    const isPartOver = ++words === WORDS_IN_PART
    if (!isPartOver && title.length + content.length < STEP) continue
    endStep()
    if (isPartOver) endPart()
    yield
  }
  if (parts.length === 0 && done.length === 0) return [{ title, content }]
  if (title !== '' || content !== '') endStep()
  if (done.length > 0) endPart()
  return parts
}

/** Words of a part: two milliseconds of a commit. English text of any length has one part or two. */
const WORDS_IN_PART = 2_048
/** The last word may have several forms. */
const MOST_PARTS = Math.ceil(MAX_DISTINCT / WORDS_IN_PART) + 1
/** A part of the words stands under the number of the memory and a multiple of this. */
export const PART = 2 ** 40

const rowOf = (doc: number, part: number): number => doc + part * PART

/** The state of a memory, whose number its words have. */
interface Numbered {
  doc: number
}

/** Deletes the words of a memory at the end of the transaction, which has written or deleted its state. */
function deleteWords(tx: Db, doc: number): void {
  for (let part = 0; part < MOST_PARTS; part++)
    tx.runLast('delete from memory_words where rowid = ?', [rowOf(doc, part)])
}

/** Writes a part of the words of a memory at the end of the transaction, which has written its state. */
function writePart(tx: Db, doc: number, part: number, { title, content }: Tokens): void {
  tx.runLast('insert or replace into memory_words (rowid, title, content) values (?, ?, ?)', [
    rowOf(doc, part),
    title,
    content,
  ])
}

/** Writes the words of a memory in place of its present words. */
function writeWords(tx: Db, doc: number, parts: readonly Tokens[], hasSome: boolean): void {
  if (hasSome) deleteWords(tx, doc)
  parts.forEach((words, part) => writePart(tx, doc, part, words))
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
    const { doc, version, isNew } = await putState<Numbered>(tx, words, 'doc, version')
    writeWords(tx, doc, words.parts, !isNew)
    return version
  },
  async replaceWords(tx, words, version) {
    const state = await replaceState<Numbered & { version: number }>(tx, words, version, 'doc, version')
    if (state) writeWords(tx, state.doc, words.parts, true)
    return state?.version ?? null
  },
  async addWords(tx, later) {
    const state = await advanceState<Numbered>(tx, later, 'doc')
    if (state) writePart(tx, state.doc, later.part, later.words)
    tx.afterCommit(noteWritten)
    return state !== undefined
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
    if (words) deleteWords(tx, words.doc)
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
