// The engine's own indexOf is quadratic on needles such as "abaaa…" in a text of a's: seconds for one event, where
// both sides come from strangers. It is fast on everything else, so it is only kept from long needles: it finds
// their first characters, and Knuth-Morris-Pratt, which never goes back in the text, does the rest.

const SHORT_NEEDLE = 32
const SMALL_PRODUCT = 16_384

/** Like `text.indexOf(needle, from)`, in time linear in the two lengths. */
export function indexOfLinear(text: string, needle: string, from = 0): number {
  const m = needle.length
  if (m <= SHORT_NEEDLE || (text.length - from) * m <= SMALL_PRODUCT) return text.indexOf(needle, from)
  const start = needle.slice(0, SHORT_NEEDLE)
  let fail: Int32Array | null = null
  // Characters of the needle that the text just before `at` fits; 0 when the next place has to be found.
  let fitting = 0
  for (let at = from; at < text.length; ) {
    if (fitting === 0) {
      const found = text.indexOf(start, at)
      if (found === -1) return -1
      at = found + SHORT_NEEDLE
      fitting = SHORT_NEEDLE
    } else if (text.charCodeAt(at) === needle.charCodeAt(fitting)) {
      at++
      fitting++
      if (fitting === m) return at - m
    } else {
      fail ??= failures(needle)
      fitting = fail[fitting - 1] as number
    }
  }
  return -1
}

/** For every prefix of the needle, the length of the longest proper prefix that is also its suffix. */
function failures(needle: string): Int32Array {
  const fail = new Int32Array(needle.length)
  let k = 0
  for (let i = 1; i < needle.length; i++) {
    const unit = needle.charCodeAt(i)
    while (k > 0 && needle.charCodeAt(k) !== unit) k = fail[k - 1] as number
    if (needle.charCodeAt(k) === unit) k++
    fail[i] = k
  }
  return fail
}
