// The columns of the tenants that were searched lately, inside the search thread. They are brought up to date before
// each search; how, each engine says for itself. What nobody has searched for a while is let go.
import type { TenantColumns } from './tenant-columns.ts'

/** Columns of other tenants are dropped beyond this. */
const MAX_BYTES = 96 * 1_048_576
/** A tenant that was not searched for so long costs no memory. */
export const KEPT_MS = 600_000

/** Where columns come from. */
export interface ColumnSource {
  /** The columns of a tenant as it is now, with the windows of one model; null when they are too many to keep. */
  read(tenantId: string, model: string): Promise<TenantColumns | null>
  /** Brings columns up to date; false when that cannot be done and they must be read anew. */
  update(columns: TenantColumns, tenantId: string, model: string): Promise<boolean>
}

export interface TenantCache {
  /** Up to date with all that was committed before the call; null when they are too many to keep. */
  columnsOf(tenantId: string, model: string): Promise<TenantColumns | null>
  /** Drops what was not asked for lately. Called now and then. */
  letGo(): void
  /** About what the columns take. */
  readonly bytes: number
}

interface Kept {
  columns: TenantColumns | null
  usedAt: number
}

export function makeTenantCache(source: ColumnSource, now: () => number = () => performance.now()): TenantCache {
  // In the order of their last search.
  const kept = new Map<string, Kept>()
  /** What is being read or brought up to date, one after the other for a tenant. */
  const underWay = new Map<string, Promise<unknown>>()

  const bytes = (): number => [...kept.values()].reduce((sum, { columns }) => sum + (columns?.bytes ?? 0), 0)

  async function current(key: string, tenantId: string, model: string): Promise<TenantColumns | null> {
    const last = kept.get(key)
    const found = last && now() - last.usedAt <= KEPT_MS ? last : undefined
    // That there were too many is believed until they are let go: to find out means to count them.
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
    letGo() {
      for (const [key, { usedAt }] of kept) if (now() - usedAt > KEPT_MS) kept.delete(key)
    },
  }
}
