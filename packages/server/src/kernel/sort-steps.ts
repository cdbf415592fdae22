// Sorts a long list in steps, so that others have their turn in between. Texts are best sorted without `compare`: V8
// then calls no function for each comparison, and ten thousand ids take 4 ms instead of 6.

/** What is sorted or merged in one step: about 0.3 ms. */
const STEP = 1_000

/** Returns the items as `toSorted` does, and yields between its steps. */
export function* sortSteps<T>(items: readonly T[], compare?: (a: T, b: T) => number): Generator<void, T[]> {
  if (items.length <= STEP) return items.toSorted(compare)
  const isBefore = (a: T, b: T): boolean => (compare ? compare(a, b) < 0 : a < b)
  const middle = items.length >> 1
  const left = yield* sortSteps(items.slice(0, middle), compare)
  yield
  const right = yield* sortSteps(items.slice(middle), compare)
  yield
  // Ids from an index come in order, or nearly.
  if (!isBefore(right[0]!, left.at(-1)!)) return left.concat(right)
  const sorted: T[] = []
  for (let l = 0, r = 0; sorted.length < items.length; ) {
    const isRight = l === left.length || (r < right.length && isBefore(right[r]!, left[l]!))
    sorted.push(isRight ? right[r++]! : left[l++]!)
    if (sorted.length % STEP === 0) yield
  }
  return sorted
}
