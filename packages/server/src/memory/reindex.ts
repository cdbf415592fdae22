// Embeds every memory again while a service goes on answering: the old vectors stay until the new ones replace them.
import type { Clock } from '../kernel/clock.ts'
import { one, type Store } from '../store/db.ts'
import type { Embedding } from './embed-memories.ts'

/** Memories marked in one transaction: more would hold up the writers of a running service. */
const STEP = 2_000
/** How often progress is checked while another process has claimed the rest. */
const LOOK_AGAIN_MS = 250

interface ReindexTools {
  store: Store
  embedding: Embedding
  model: string
  clock: Clock
  /** Returns the last reason why memories were not embedded, if there was one. */
  failure(): Error | undefined
}

export async function reindex(
  { store, embedding, model, clock, failure }: ReindexTools,
  progress: (done: number, total: number) => void,
): Promise<number> {
  // Marks some memories as not embedded, which keeps their vectors; returns how many.
  const mark = (): Promise<number> =>
    store.tx((tx) =>
      tx.run(
        `update memory_recall set embedded = '', claimed_until = 0, retry_at = 0
         where (tenant_id, memory_id) in (select tenant_id, memory_id from memory_recall where embedded = ? limit ?)`,
        [model, STEP],
      ),
    )
  while ((await mark()) > 0);
  // Ends the rest of some memories that were refused or failed before; returns how many. Leaves claims alone: a running
  // service may be embedding those memories.
  const wakeResting = (): Promise<number> =>
    store.tx((tx) =>
      tx.run(
        `update memory_recall set retry_at = 0
         where (tenant_id, memory_id) in (select tenant_id, memory_id from memory_recall
            where (embedded < ? or embedded > ?) and retry_at > 0 limit ?)`,
        [model, model, STEP],
      ),
    )
  while ((await wakeResting()) > 0);
  for (;;) {
    // How many memories of all tenants are indexed, and how many with this model. Locks nothing.
    const counts = await one<{ total: number; done: number }>(
      store,
      'select count(*) as total, coalesce(sum(case when embedded = ? then 1 else 0 end), 0) as done from memory_recall',
      [model],
    )
    const total = Number(counts!.total)
    const done = Number(counts!.done)
    progress(done, total)
    if (done >= total) return total
    if ((await embedding.runOnce(1)) > 0) continue
    const reason = failure()
    if (reason) throw reason
    await clock.sleep(LOOK_AGAIN_MS)
  }
}
