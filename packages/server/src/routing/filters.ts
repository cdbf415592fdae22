// The cache of compiled filters of this node, for all tenants together. A filter is compiled when an event first needs
// it, and the least recently used are evicted: eight regular expressions in one filter take 360 KB, and a tenant may
// have many thousand filters.
import { compileFilter, type Filter } from './filter.ts'

const MAX_BYTES = 64 * 1024 * 1024

/** A filter of up to this many characters is compiled in less than 0.1 ms. A tenant may have many thousand of them. */
const SHORT = 128
/** A filter with a regular expression is large and slow to compile: 20 ms for eight of them. */
const REGULAR_EXPRESSION = 'matches'
/** The share of the cache that one event may fill with such filters. */
const SHARE_OF_REGULAR_EXPRESSIONS = 0.125

export interface Filters {
  /** Reports whether the filter is in the cache. Does not compile it. */
  has(source: string): boolean
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
  test: () => false,
  evaluate: () => ({ result: 'no_match', value: false }),
})

/** A filter for one event, and the size of what was compiled for it; 0 if the filter was in the cache. */
export interface Usable {
  filter: Filter
  compiled: number
}

/**
 * Returns the filters that one event needs, and null for one that is not in the cache once the event has had its share
 * of compiling: a long filter takes milliseconds, and an agent may have 10,000. The share is as much as the cache
 * holds, so that an event never loses a filter that could have stayed there. Short filters are always compiled.
 */
export function filtersOfOneEvent(filters: Filters): (source: string) => Usable | null {
  let left = filters.maxBytes
  let leftForRegularExpressions = filters.maxBytes * SHARE_OF_REGULAR_EXPRESSIONS
  return (source) => {
    if (filters.has(source)) return { filter: filters.get(source), compiled: 0 }
    const hasRegularExpression = source.includes(REGULAR_EXPRESSION)
    const isFree = source.length <= SHORT && !hasRegularExpression
    if (!isFree && (left <= 0 || (hasRegularExpression && leftForRegularExpressions <= 0))) return null
    const filter = filters.get(source)
    if (!isFree) left -= filter.bytes
    if (hasRegularExpression) leftForRegularExpressions -= filter.bytes
    return { filter, compiled: filter.bytes }
  }
}

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

  return {
    has: (source) => kept.has(source),
    get(source) {
      let filter = kept.get(source)
      if (filter) kept.delete(source)
      else {
        filter = compiled(source)
        bytes += sizeOf(filter)
      }
      kept.set(source, filter)
      for (const [oldest, unused] of kept) {
        if (bytes <= maxBytes || oldest === source) break
        kept.delete(oldest)
        bytes -= sizeOf(unused)
      }
      return filter
    },
    get bytes() {
      return bytes
    },
    maxBytes,
  }
}
