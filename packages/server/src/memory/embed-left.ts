// Embeds what a crash, an outage, a change of model or a full queue left to embed.
//
// 1. Nobody's short texts wait for the long ones of others. One long text at a time is embedded beside them, and what
//    else was claimed with it is given back; the next look goes on behind that. A tenant with hundreds of long texts
//    had held up the short ones of all others for as long as its own took, seconds each.
// 2. Tenants take turns, with their long texts too.
import type { Clock } from '../kernel/clock.ts'
import type { ClaimedText, EmbeddingClaims } from './embedding-claims.ts'

/** Characters that always fit one window of the model. A longer text goes by the slow lanes, as a batch of its own. */
export const SHORT = 1_000
/** How long long texts are embedded before it looks for short ones again: less than a claim lasts. */
const LONG_MS = 1_000

interface EmbedLeftTools {
  claims: Pick<EmbeddingClaims, 'claimLeftover' | 'keepRenewing' | 'release'>
  /** Returns how many of the texts got vectors. */
  embed(texts: readonly ClaimedText[]): Promise<number>
  clock: Clock
  isClosed(): boolean
  /** Whether the queue has no work. While it has, which goes by turns, what was left can wait. */
  isQuiet(): boolean
}

/** Returns a function that embeds all that was left, or this many batches. It returns how many memories got vectors. */
export function makeEmbedLeft({ claims, embed, clock, isClosed, isQuiet }: EmbedLeftTools) {
  /** The long text that is being embedded, how many were in this run, and whose turn was last. */
  let longOne: Promise<void> | null = null
  let longKept = 0
  let lastWithLong = ''

  /** Begins with one of the long texts, if none is under way. */
  function beginLong(texts: readonly ClaimedText[]): ClaimedText | undefined {
    if (longOne !== null || texts.length === 0) return undefined
    const text = texts.find(({ tenantId }) => tenantId > lastWithLong) ?? texts[0]!
    lastWithLong = text.tenantId
    longOne = embed([text])
      .then((kept) => void (longKept += kept))
      .catch(() => {}) // the store is away, and the claim lapses
      .finally(() => (longOne = null))
    return text
  }

  /** Embeds the short texts of a batch, or long ones if there are none, and returns how many short ones got vectors. */
  async function embedBatch(texts: readonly ClaimedText[]): Promise<number> {
    const { short = [], long = [] } = Object.groupBy(texts, ({ text }) => (text.length <= SHORT ? 'short' : 'long'))
    const left = new Set(long)
    // A long text may take longer than a claim lasts.
    const stopRenewing = claims.keepRenewing(long)
    const until = clock.elapsed() + LONG_MS
    for (let before = -1; before < longKept && left.size > 0 && clock.elapsed() <= until && !isClosed(); ) {
      const begun = beginLong([...left])
      if (begun) left.delete(begun)
      if (short.length > 0) break
      before = longKept
      await longOne
    }
    stopRenewing()
    await claims.release([...left], 'closing')
    return short.length > 0 ? embed(short) : 0
  }

  return async (batches: number): Promise<number> => {
    let total = 0
    longKept = 0
    for (let done = 0; done < batches && (done === 0 || isQuiet()); done++) {
      const texts = await claims.claimLeftover()
      if (texts.length === 0 || isClosed()) break
      const before = longKept
      const kept = await embedBatch(texts)
      total += kept
      if (kept === 0 && longKept === before) break // it fails: the next run tries again
    }
    await longOne
    return total + longKept
  }
}
