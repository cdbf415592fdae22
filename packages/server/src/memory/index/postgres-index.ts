// The index on PostgreSQL. Searches run in the search thread, on connections of its own.
import type { Store } from '../../store/db.ts'
import { makeFindText } from './find-text.ts'
import { mayHold } from './may-hold-postgres.ts'
import type { IndexedMemory, MemoryIndex } from './memory-index.ts'
import { pgvector } from './pgvector.ts'
import { makeSearch } from './search.ts'
import { makeWrite } from './write.ts'
import { postgresWriter } from './write-postgres.ts'

export function postgresIndex(store: Store, url: string, toEmbed: (memory: IndexedMemory) => void): MemoryIndex {
  const extension = pgvector(store)
  const thread = makeSearch({ url })
  return {
    ...makeWrite(postgresWriter(extension), toEmbed),
    find: (search) => thread.ask(search.viewer, 'find', search),
    findText: makeFindText(mayHold, thread),
    close: thread.close,
    prepare: extension.prepare,
    tidy: async () => {},
  }
}
