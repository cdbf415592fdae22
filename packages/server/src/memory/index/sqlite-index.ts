// The index of the embedded store: FTS5 for words, signatures in memory and sqlite-vec for meaning. Searches run in the
// search thread.
import type { Store } from '../../store/db.ts'
import { makeFindText } from './find-text.ts'
import { mayHold } from './may-hold-sqlite.ts'
import type { IndexedMemory, MemoryIndex } from './memory-index.ts'
import { makeMerging } from './merge-sqlite.ts'
import { makeSearch } from './search.ts'
import { makeWrite } from './write.ts'
import { sqliteWriter } from './write-sqlite.ts'

/** How many changes stay in the log. The search thread has had ample time to see older ones. */
const CHANGES_KEPT = 100_000

export function sqliteIndex(
  store: Store,
  file: string,
  toEmbed: (memory: IndexedMemory) => void,
  failed: (error: unknown) => void = () => {},
): MemoryIndex {
  const thread = makeSearch({ file })
  const merging = makeMerging(store)
  return {
    ...makeWrite(store, sqliteWriter(merging.noteWritten), toEmbed, failed),
    find: (search) => thread.ask(search.viewer, 'find', search),
    nearest: (query) => thread.ask(query.viewer, 'nearest', query),
    searchFingerprint: (viewer, model) => thread.ask(viewer, 'searchFingerprint', { tenantId: viewer.tenantId, model }),
    findText: makeFindText(mayHold, thread),
    learn: thread.learn,
    async close() {
      await merging.close()
      await thread.close()
    },
    prepare: async () => {},
    async tidy() {
      // Deletes the oldest entries of the log of changes.
      await store.tx((tx) =>
        tx.run('delete from memory_changes where seq <= (select max(seq) from memory_changes) - ?', [CHANGES_KEPT]),
      )
    },
  }
}
