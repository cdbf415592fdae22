// The engine's own indexOf is quadratic on needles such as "abaaa…" in a text of a's: seconds for one event, if both
// are untrusted. It is fast on everything else, so only long needles are treated differently: indexOf finds their first
// characters, and Knuth-Morris-Pratt, which never goes back in the text, does the rest.

const SHORT_NEEDLE = 32
const SMALL_PRODUCT = 16_384

/** Like `text.indexOf(needle, from)`, in time linear in the two lengths. */
export function indexOfLinear(text: string, needle: string, from = 0): number {
  const m = needle.length
  if (m <= SHORT_NEEDLE || (text.length - from) * m <= SMALL_PRODUCT) return text.indexOf(needle, from)
  const start = needle.slice(0, SHORT_NEEDLE)
  let fail: Int32Array | null = null
  // How many characters of the needle match the text before `at`; 0 when the next candidate has to be found.
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

/** Returns for every prefix of the needle the length of its longest proper prefix that is also its suffix. */
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
