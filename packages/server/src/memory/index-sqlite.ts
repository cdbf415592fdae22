// The index of the embedded store: FTS5 for words, signatures in memory and sqlite-vec for meaning, all in the search
// thread.
import type { Insert } from '../store/db.ts'
import { bytesOf, signatureOf } from './embed/embedding.ts'
import type { MemoryIndex } from './memory-index.ts'
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

export function sqliteIndex(file: string): MemoryIndex {
  return {
    ...makeSearch({ file }),
    prepare: async () => {},
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
