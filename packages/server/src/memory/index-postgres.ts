// The index on PostgreSQL. Searches run in the search thread, on connections of its own.
import type { Insert, Store } from '../store/db.ts'
import { bitsOf, bytesOf } from './embed/embedding.ts'
import type { MemoryIndex } from './memory-index.ts'
import { pgvector } from './pgvector.ts'
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
    signature: 'bit varying',
    vector: 'bytea',
    tokens: 'bytea',
  },
}

export function postgresIndex(store: Store, url: string): MemoryIndex {
  const extension = pgvector(store)
  const thread = makeSearch({ url })
  return {
    find: (sought) => thread.ask(sought.viewer, 'find', sought),
    findText: makeFindText('postgres', thread),
    close: thread.close,
    prepare: extension.prepare,
    tidy: async () => {},
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
