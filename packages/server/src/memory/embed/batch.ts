// How many windows of text go through the model together.

/** Batches of 32 short texts are a fifth cheaper than single ones. The tokens bound the time a query waits, and the memory: twice
 *  as many are no faster and hold 20 MB more. So does their square, which attention takes: without it long texts took 120 MB more. */
const BATCH = 32
const BATCH_TOKENS = 768
const BATCH_ATTENTION = 2 * 256 * 256
/** Longer windows gain nothing by company, and what is short must not wait for more than one of them. */
const LONG = 128
/** All windows of a batch are computed as long as the longest. A rest of 40 tokens beside a full window took 70 ms; alone both take 16. */
const MAX_PADDING = 1.15

/** Of windows with these numbers of tokens, shortest first: how many of the first to take. `share` is that of a full batch. */
export function batchSize(lengths: readonly number[], share = 1): number {
  let size = 1
  for (let tokens = lengths[0] ?? 0; size < BATCH * share && size < lengths.length; size++) {
    const width = lengths[size]!
    tokens += width
    const computed = (size + 1) * width
    if (width > LONG || computed > BATCH_TOKENS * share || computed > tokens * MAX_PADDING || computed * width > BATCH_ATTENTION) break
  }
  return size
}
