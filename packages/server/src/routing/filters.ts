// The cache of compiled filters of this node, for all tenants together. A filter is compiled when an event first needs
// it, and the least recently used are evicted: eight regular expressions in one filter take 360 KB, and a tenant may
// have many thousand filters.
import { compileFilter, type Filter } from './filter.ts'

const MAX_BYTES = 64 * 1024 * 1024

/** A filter of up to this many characters is compiled in less than 0.1 ms. A tenant may have many thousand of them. */
const SHORT = 128
/** A filter with a regular expression is large and slow to compile, however short it is. */
const REGULAR_EXPRESSION = 'matches'

/** Whether every event may compile the filter, whatever else there is to compile. */
export const isShort = (source: string): boolean => source.length <= SHORT && !source.includes(REGULAR_EXPRESSION)

export interface Filters {
  /** Reports whether the filter is in the cache. Does not compile it. */
  has(source: string): boolean
  /** Returns the filter if it is in the cache. It counts as used. */
  cached(source: string): Filter | undefined
  get(source: string): Filter
  /** The size of all cached filters, and its limit. */
  readonly bytes: number
  readonly maxBytes: number
}

// Filters are compiled before they are stored. If a later release rejects a stored filter, that filter matches nothing;
// the others are not affected.
const never = (source: string): Filter => ({
  source,
  bytes: 0,
  compileSteps: 0,
  test: () => false,
  evaluate: () => ({ result: 'no_match', value: false }),
})

function compiled(source: string): Filter {
  try {
    return compileFilter(source)
  } catch {
    return never(source)
  }
}

export function makeFilters(maxBytes = MAX_BYTES): Filters {
  // Maps keep the order of insertion: a filter that is used is moved to the end.
  const kept = new Map<string, Filter>()
  let bytes = 0
  const sizeOf = (filter: Filter): number => filter.bytes + 2 * filter.source.length

  function cached(source: string): Filter | undefined {
    const filter = kept.get(source)
    if (!filter) return undefined
    kept.delete(source)
    kept.set(source, filter)
    return filter
  }

  function add(filter: Filter): Filter {
    bytes += sizeOf(filter)
    kept.set(filter.source, filter)
    for (const [oldest, unused] of kept) {
      if (bytes <= maxBytes || unused === filter) break
      kept.delete(oldest)
      bytes -= sizeOf(unused)
    }
    return filter
  }

  return {
    has: (source) => kept.has(source),
    cached,
    get: (source) => cached(source) ?? add(compiled(source)),
    get bytes() {
      return bytes
    },
    maxBytes,
  }
}
