// The words of a memory, indexed in the transaction that writes it: a memory is found by its words right after its 201,
// and the same row says that its meaning is still to be embedded.
import { one, type Db, type Insert } from '../store/db.ts'
import { countTerms, indexedTerms, termsOf } from './terms.ts'

export interface IndexedText {
  tenant_id: string
  id: string
  title: string
  content: string
}

/** The token under which the embedded full-text index keeps a word: tenants share the index and never a word. */
export const wordToken = (tenantId: string, term: string): string => `${tenantId.toLowerCase()}_${term}`

const WORDS: Insert = {
  into: 'memory_words',
  columns: { tenant_id: 'text', word: 'text', memory_id: 'text', frequency: 'integer', length: 'integer' },
}

/** Called with every new memory and with every change of a title or a content, in the transaction that writes it. */
export async function indexWords(tx: Db, memory: IndexedText): Promise<void> {
  const { tenant_id, id } = memory
  const seen = new Set<string>()
  const title = indexedTerms(termsOf(memory.title), seen)
  const content = indexedTerms(termsOf(memory.content), seen)
  const { counts, length } = countTerms(title, content)
  if (tx.dialect.engine === 'sqlite') {
    // Writes the state of the index for one memory: not embedded, claimed by nobody, one version on. Answers its
    // number.
    const row = await one<{ doc: number; version: number }>(
      tx,
      `insert into memory_recall (tenant_id, memory_id, length, version, embedded, claimed_until) values (?, ?, ?, 1, '', 0)
       on conflict (tenant_id, memory_id) do update set length = excluded.length, version = memory_recall.version + 1, embedded = '', claimed_until = 0, retry_at = 0
       returning doc, version`,
      [tenant_id, id, length],
    )
    const tokens = (terms: string[]): string => terms.map((term) => wordToken(tenant_id, term)).join(' ')
    if (row!.version > 1) {
      tx.runLast('delete from memory_words where rowid = ?', [row!.doc])
      await forgetVectors(tx, tenant_id, id)
    }
    tx.runLast('insert into memory_words (rowid, title, content) values (?, ?, ?)', [
      row!.doc,
      tokens(title),
      tokens(content),
    ])
    return
  }
  // The same state; two writers of one memory take turns at this row.
  const row = await one<{ version: number }>(
    tx,
    `insert into memory_recall (tenant_id, memory_id, length, version, embedded, claimed_until) values (?, ?, ?, 1, '', 0)
     on conflict (tenant_id, memory_id) do update set length = excluded.length, version = memory_recall.version + 1, embedded = '', claimed_until = 0, retry_at = 0
     returning version`,
    [tenant_id, id, length],
  )
  if (row!.version > 1) {
    await tx.run('delete from memory_words where tenant_id = ? and memory_id = ?', [tenant_id, id])
    await forgetVectors(tx, tenant_id, id)
  }
  const rows = [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([word, frequency]) => [tenant_id, word, id, frequency, length] as const)
  await tx.insertMany(WORDS, rows)
}

/**
 * Called when a memory goes, in the transaction that takes it away: neither its words nor its meaning find it any more.
 */
export async function unindexWords(tx: Db, tenantId: string, id: string): Promise<void> {
  if (tx.dialect.engine === 'sqlite') {
    const row = await one<{ doc: number }>(
      tx,
      'delete from memory_recall where tenant_id = ? and memory_id = ? returning doc',
      [tenantId, id],
    )
    if (row) tx.runLast('delete from memory_words where rowid = ?', [row.doc])
  } else {
    await tx.run('delete from memory_words where tenant_id = ? and memory_id = ?', [tenantId, id])
    await tx.run('delete from memory_recall where tenant_id = ? and memory_id = ?', [tenantId, id])
  }
  await forgetVectors(tx, tenantId, id)
}

/** What an older text meant finds nothing any more. */
const forgetVectors = (tx: Db, tenantId: string, id: string): Promise<number> =>
  tx.run('delete from memory_vectors where tenant_id = ? and memory_id = ?', [tenantId, id])
