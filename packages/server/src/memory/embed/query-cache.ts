// Caches the vectors of recent queries: a text goes through the model once, however often it is asked. Each tenant has
// its own entries, because otherwise the time a response takes would tell what others ask.
import type { EmbeddedWindow } from './embedder.ts'

/** For all tenants together; a query of twelve tokens takes about three kilobytes. */
const MAX_BYTES = 8 * 1_048_576
/** Overhead of an entry: two entries of maps, a promise and the heads of two arrays. */
const EACH = 600

interface QueryCache {
  /** Returns the meaning of a text from the cache, or from `embed`. */
  of(tenantId: string, text: string, embed: () => Promise<EmbeddedWindow>): Promise<EmbeddedWindow>
  readonly bytes: number
}

interface Known {
  embedded: EmbeddedWindow
  bytes: number
}

export function makeQueryCache(maxBytes = MAX_BYTES): QueryCache {
  // In the order of last use, oldest first.
  const known = new Map<string, Known>()
  const underWay = new Map<string, Promise<EmbeddedWindow>>()
  let bytes = 0

  function keep(key: string, embedded: EmbeddedWindow): void {
    const { vector, tokens, words = [] } = embedded
    const size = EACH + 2 * key.length + vector.byteLength + tokens.byteLength + words.length * 24
    known.set(key, { embedded, bytes: size })
    bytes += size
    for (const [oldest, one] of known) {
      if (bytes <= maxBytes) break
      known.delete(oldest)
      bytes -= one.bytes
    }
  }

  async function first(key: string, embed: () => Promise<EmbeddedWindow>): Promise<EmbeddedWindow> {
    const work = embed()
    underWay.set(key, work)
    try {
      const embedded = await work
      keep(key, embedded)
      return embedded
    } finally {
      underWay.delete(key)
    }
  }

  return {
    get bytes() {
      return bytes
    },
    async of(tenantId, text, embed) {
      const key = `${tenantId} ${text}`
      for (;;) {
        const found = known.get(key)
        if (found) {
          known.delete(key)
          known.set(key, found)
          return found.embedded
        }
        const other = underWay.get(key)
        if (!other) return first(key, embed)
        // The other caller's failure may be its own (its agent has too many waiting, say): then this caller tries.
        await other.catch(() => {})
      }
    },
  }
}
