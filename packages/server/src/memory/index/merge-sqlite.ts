// Merges the segments of the full-text indexes on the embedded store. Each commit that writes texts adds a segment, and
// a search reads all of them. By itself FTS5 merges 64 pages or more inside of one commit in 64, for which everybody
// waited 22 ms (or 25 in one of six, with long texts). Here a few pages are merged at a time, in a transaction of 0.7
// ms of its own, between those of others; the work is the same.
//
// If the service ends meanwhile, or the merges do not keep up, FTS5 merges sixteen segments of a kind inside a commit.
import type { Db, Store } from '../../store/db.ts'
import { one } from '../../store/db.ts'

const INDEXES = ['memory_words', 'memory_grams'] as const
/** FTS5 merges segments of a kind from four on. */
const MERGED_FROM = 4
const PAGES = 8

interface Merging {
  /** Called after a commit that has written texts. */
  noteWritten(): void
  /** Resolves when nothing is merged any more. */
  close(): Promise<void>
}

/** Merges a few pages of an index. Returns whether there was anything to merge. */
async function mergeSome(tx: Db, index: (typeof INDEXES)[number]): Promise<boolean> {
  const changes = async (): Promise<number> =>
    // The changes that this connection has made.
    (await one<{ n: number }>(tx, 'select total_changes() as n', []))!.n
  const before = await changes()
  await tx.run(`insert into ${index} (${index}, rank) values ('merge', ${PAGES})`)
  // The insert itself counts as one.
  return (await changes()) - before > 1
}

export function makeMerging(store: Store): Merging {
  let written = 0
  let isClosed = false
  let merging: Promise<void> | null = null

  async function mergeAll(): Promise<void> {
    for (const index of INDEXES)
      while (!isClosed && (await store.tx((tx) => mergeSome(tx, index), { mayBeLost: true })));
  }

  return {
    noteWritten() {
      written++
      if (written < MERGED_FROM || merging || isClosed) return
      written = 0
      // If the store is away, the next commits try again.
      merging = mergeAll()
        .catch(() => {})
        .finally(() => (merging = null))
    },
    async close() {
      isClosed = true
      await merging
    },
  }
}
