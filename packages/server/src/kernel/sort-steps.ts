// Sorts a long list of texts in steps, so that others have their turn in between. Texts alone, because V8 sorts them
// without calling a function for each comparison: ten thousand ids take 4 ms instead of 6.

/** Texts that are sorted or merged in one step: about 0.3 ms. */
const STEP = 1_000

/** Returns the texts as `toSorted` does, and yields between its steps. */
export function* sortSteps(texts: readonly string[]): Generator<void, string[]> {
  if (texts.length <= STEP) return texts.toSorted()
  const middle = texts.length >> 1
  const left = yield* sortSteps(texts.slice(0, middle))
  yield
  const right = yield* sortSteps(texts.slice(middle))
  yield
  // Ids from an index come in order, or nearly.
  if (left.at(-1)! <= right[0]!) return left.concat(right)
  const sorted: string[] = []
  for (let l = 0, r = 0; sorted.length < texts.length; ) {
    const isRight = l === left.length || (r < right.length && right[r]! < left[l]!)
    sorted.push(isRight ? right[r++]! : left[l++]!)
    if (sorted.length % STEP === 0) yield
  }
  return sorted
}
