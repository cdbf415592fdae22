// The index on PostgreSQL. Searches run in the search thread, on its own connections.
import type { Store } from '../../store/db.ts'
import { makeFindText } from './find-text.ts'
import { mayHold } from './may-hold-postgres.ts'
import type { IndexedMemory, MemoryIndex } from './memory-index.ts'
import { pgvector } from './pgvector.ts'
import { makeSearch } from './search.ts'
import { KEPT_MS } from './tenant-cache.ts'
import { makeWrite } from './write.ts'
import { postgresWriter } from './write-postgres.ts'

/** Columns that were last brought up to date more than KEPT_MS ago are read again. The log goes back further. */
const LOG_KEPT_MS = 6 * KEPT_MS
const TIDIED_EVERY_MS = KEPT_MS / 2

export function postgresIndex(
  store: Store,
  url: string,
  toEmbed: (memory: IndexedMemory) => void,
  failed: (error: unknown) => void = () => {},
): MemoryIndex {
  const extension = pgvector(store)
  const thread = makeSearch({ url })
  let tidiedAt = -Infinity
  return {
    ...makeWrite(store, postgresWriter(extension), toEmbed, failed),
    find: (search) => thread.ask(search.viewer, 'find', search),
    nearest: (query) => thread.ask(query.viewer, 'nearest', query),
    searchFingerprint: (viewer, model) => thread.ask(viewer, 'searchFingerprint', { tenantId: viewer.tenantId, model }),
    findText: makeFindText(mayHold, thread),
    learn: thread.learn,
    close: thread.close,
    prepare: extension.prepare,
    async tidy() {
      if (store.isSharded || performance.now() - tidiedAt < TIDIED_EVERY_MS) return
      tidiedAt = performance.now()
      // Deletes the oldest entries of the log of changes, by the server's clock, which wrote their times.
      await store.tx((tx) =>
        tx.run(
          'delete from memory_changes where changed_at < extract(epoch from clock_timestamp()) * 1000 - ?::bigint',
          [LOG_KEPT_MS],
        ),
      )
    },
  }
}
