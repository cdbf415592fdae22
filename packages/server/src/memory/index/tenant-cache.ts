// The columns of recently searched tenants, inside the search thread. They are brought up to date before each search,
// in a way that each engine defines. Columns that have not been searched for a while are dropped.
import type { TenantColumns } from './tenant-columns.ts'

/** Beyond this size the columns of other tenants are dropped, least recently searched first. */
const MAX_BYTES = 96 * 1_048_576
/** Columns of a tenant that has not been searched for this long are dropped. */
export const KEPT_MS = 600_000

/** Where columns come from. */
export interface ColumnSource {
  /** Reads the current columns of a tenant, with the windows of one model; null when it is too large to keep. */
  read(tenantId: string, model: string): Promise<TenantColumns | null>
  /** Brings columns up to date. Returns false if that is not possible and they must be read again. */
  update(columns: TenantColumns, tenantId: string, model: string): Promise<boolean>
}

export interface TenantCache {
  /** Returns columns that include every commit before the call; null when the tenant is too large to keep. */
  columnsOf(tenantId: string, model: string): Promise<TenantColumns | null>
  /** Drops columns that were not used recently. Called periodically. */
  dropUnused(): void
  /** The approximate size of all columns. */
  readonly bytes: number
}

interface Kept {
  columns: TenantColumns | null
  usedAt: number
}

export function makeTenantCache(source: ColumnSource, now: () => number = () => performance.now()): TenantCache {
  // In the order of their last search, the oldest first.
  const kept = new Map<string, Kept>()
  /** Reads and updates under way. Those of one tenant and model run in sequence. */
  const underWay = new Map<string, Promise<unknown>>()

  const bytes = (): number => [...kept.values()].reduce((sum, { columns }) => sum + (columns?.bytes ?? 0), 0)

  async function current(key: string, tenantId: string, model: string): Promise<TenantColumns | null> {
    const last = kept.get(key)
    const found = last && now() - last.usedAt <= KEPT_MS ? last : undefined
    // That a tenant is too large is remembered for KEPT_MS: checking it again means counting its memories.
    let columns = found?.columns ?? null
    const isFresh = columns && !columns.fragmented && (await source.update(columns, tenantId, model))
    if (!found || (columns && !isFresh)) columns = await source.read(tenantId, model)
    kept.delete(key)
    kept.set(key, { columns, usedAt: found && columns === null ? found.usedAt : now() })
    let taken = bytes()
    for (const [other, each] of kept) {
      if (taken <= MAX_BYTES || other === key) break
      kept.delete(other)
      taken -= each.columns?.bytes ?? 0
    }
    return columns
  }

  return {
    get bytes() {
      return bytes()
    },
    async columnsOf(tenantId, model) {
      const key = `${tenantId} ${model}`
      const before = underWay.get(key) ?? Promise.resolve()
      const columns = before.then(() => current(key, tenantId, model))
      const over = columns.catch(() => {})
      underWay.set(key, over)
      try {
        return await columns
      } finally {
        if (underWay.get(key) === over) underWay.delete(key)
      }
    },
    dropUnused() {
      for (const [key, { usedAt }] of kept) if (now() - usedAt > KEPT_MS) kept.delete(key)
    },
  }
}
