// The index of the embedded store: FTS5 for words, signatures in memory and sqlite-vec for meaning, all in the search
// thread.
import type { Insert, Store } from '../store/db.ts'
import { bytesOf, signatureOf } from './embed/embedding.ts'
import type { MemoryIndex } from './memory-index.ts'
import { makeFindText } from './find-text.ts'
import { makeSearch } from './search.ts'

const VECTORS: Insert = {
  into: 'memory_vectors',
  columns: {
    tenant_id: 'text',
    memory_id: 'text',
    part: 'integer',
    model: 'text',
    text_version: 'bigint',
    signature: 'bytea',
    vector: 'bytea',
    tokens: 'bytea',
  },
}

/** Changes that the search thread has had ample time to see. */
const CHANGES_KEPT = 100_000

export function sqliteIndex(store: Store, file: string): MemoryIndex {
  const thread = makeSearch({ file })
  return {
    find: (sought) => thread.ask(sought.viewer, 'find', sought),
    findText: makeFindText('sqlite', thread),
    close: thread.close,
    prepare: async () => {},
    async tidy() {
      // Cuts the log of changes from its old end.
      await store.tx((tx) =>
        tx.run('delete from memory_changes where seq <= (select max(seq) from memory_changes) - ?', [CHANGES_KEPT]),
      )
    },
    async keep(tx, model, { tenantId, memoryId, version, windows }) {
      await tx.run('delete from memory_vectors where tenant_id = ? and memory_id = ?', [tenantId, memoryId])
      await tx.insertMany(
        VECTORS,
        windows.map(({ vector, tokens }, part) => [
          tenantId,
          memoryId,
          part,
          model,
          version,
          signatureOf(vector),
          bytesOf(vector),
          bytesOf(tokens),
        ]),
      )
    },
  }
}
