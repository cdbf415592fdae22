// The compiled filters of this node, of all tenants together. A filter is compiled when an event first needs it and
// kept while it is used: eight regular expressions in one filter take 360 KB, and a tenant may have many thousand
// filters.
import { compileFilter, type Filter } from './filter.ts'

const MAX_BYTES = 64 * 1024 * 1024

export interface Filters {
  /** Whether the filter is there without compiling it. */
  has(source: string): boolean
  get(source: string): Filter
  /** What they take together, and how much they may. */
  readonly bytes: number
  readonly maxBytes: number
}

// Filters are compiled before they are stored. Should a later release refuse one, that one matches nothing; the others
// live on.
const never = (source: string): Filter => ({
  source,
  bytes: 0,
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
  // Maps keep the order of insertion: what is used is put back at the end.
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
