// Work of several callers that is cheaper in one transaction, and what its callers share when that fails.
import { failedAlone } from '../kernel/batches.ts'
import { StoreUnavailable, type Store } from './db.ts'

/** A result for each item, in order; a promise that rejects fails its item alone. */
export type Results<R> = readonly (R | Promise<R>)[]

/** Carries out all items in one transaction. */
type Commit<T, R> = (items: readonly T[]) => Promise<Results<R>>

/**
 * Carries out items together. A failure of one item (a record that another node wrote first) does not fail the others:
 * each is then carried out alone, one after the other. A store that cannot be reached fails all of them.
 */
export async function togetherOrAlone<T, R>(items: readonly T[], commit: Commit<T, R>): Promise<Results<R>> {
  try {
    return await commit(items)
  } catch (error) {
    if (items.length === 1 || error instanceof StoreUnavailable) throw error
    const results: Promise<R>[] = []
    for (const item of items) {
      const alone = commit([item]).then(([result]) => result!)
      await alone.catch(() => {})
      results.push(alone)
    }
    return results
  }
}

/** The same; where tenants lie on several machines, in one transaction for each tenant, in parallel. */
export async function togetherByTenant<T, R>(
  store: Store,
  items: readonly T[],
  tenantOf: (item: T) => string,
  commit: Commit<T, R>,
): Promise<Results<R>> {
  if (!store.isSharded) return togetherOrAlone(items, commit)
  const results = new Map<T, R | Promise<R>>()
  await Promise.all(
    Array.from(Map.groupBy(items, tenantOf).values(), async (ofTenant) => {
      const done = await togetherOrAlone(ofTenant, commit).catch((error) => ofTenant.map(() => failedAlone(error)))
      for (const [i, item] of ofTenant.entries()) results.set(item, done[i]!)
    }),
  )
  return items.map((item) => results.get(item)!)
}
