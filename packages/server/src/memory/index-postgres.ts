// The index on PostgreSQL. Searches run in the search thread, on connections of its own.
import { makeThread } from '../kernel/thread.ts'
import { StoreUnavailable, type Insert, type Store } from '../store/db.ts'
import { bitsOf, bytesOf } from './embed/embedding.ts'
import type { MemoryIndex } from './memory-index.ts'
import { pgvector } from './pgvector.ts'
import type { Answer, Question } from './search-thread.ts'

const VECTORS: Insert = {
  into: 'memory_vectors',
  columns: {
    tenant_id: 'text', memory_id: 'text', part: 'integer', model: 'text', text_version: 'bigint', signature: 'bit varying', vector: 'bytea', tokens: 'bytea',
  },
}

export function postgresIndex(store: Store, url: string): MemoryIndex {
  const thread = makeThread<Question, Answer>(new URL('./search-thread.ts', import.meta.url), 'search', { url })
  const extension = pgvector(store)
  return {
    async find(sought) {
      const answer = await thread.ask(sought)
      if ('away' in answer) throw new StoreUnavailable(answer.away)
      return answer.found
    },
    prepare: extension.prepare,
    async keep(tx, model, { tenantId, memoryId, version, windows }) {
      await tx.run('delete from memory_vectors where tenant_id = ? and memory_id = ?', [tenantId, memoryId])
      await tx.insertMany(
        VECTORS,
        windows.map(({ vector, tokens }, part) => [tenantId, memoryId, part, model, version, bitsOf(vector), bytesOf(vector), bytesOf(tokens)]),
      )
      await extension.keep(tx, tenantId, memoryId, windows)
    },
    close: thread.close,
  }
}
