// The index on PostgreSQL. Searches run in the search thread, on connections of its own.
import type { Insert, Store } from '../store/db.ts'
import { bitsOf, bytesOf } from './embed/embedding.ts'
import type { MemoryIndex } from './memory-index.ts'
import { pgvector } from './pgvector.ts'
import { makeSearch } from './search.ts'

const VECTORS: Insert = {
  into: 'memory_vectors',
  columns: {
    tenant_id: 'text',
    memory_id: 'text',
    part: 'integer',
    model: 'text',
    text_version: 'bigint',
    signature: 'bit varying',
    vector: 'bytea',
    tokens: 'bytea',
  },
}

export function postgresIndex(store: Store, url: string): MemoryIndex {
  const extension = pgvector(store)
  return {
    ...makeSearch({ url }),
    prepare: extension.prepare,
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
          bitsOf(vector),
          bytesOf(vector),
          bytesOf(tokens),
        ]),
      )
      await extension.keep(tx, tenantId, memoryId, windows)
    },
  }
}
