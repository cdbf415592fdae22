// The engine's own indexOf is quadratic on needles such as "baaa…" in a text of a's, and both sides may come
// from strangers. Short needles and short texts are left to it; anything larger goes through Knuth-Morris-Pratt,
// which reads every character of the text once.

const SHORT_NEEDLE = 8
const SMALL_PRODUCT = 16_384

/** Like `text.indexOf(needle, from)`, in time linear in the two lengths. */
export function indexOfLinear(text: string, needle: string, from = 0): number {
  const m = needle.length
  if (m <= SHORT_NEEDLE || (text.length - from) * m <= SMALL_PRODUCT) return text.indexOf(needle, from)
  if (m > text.length - from) return -1
  const fail = failures(needle)
  let k = 0
  for (let i = from; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    while (k > 0 && needle.charCodeAt(k) !== unit) k = fail[k - 1] as number
    if (needle.charCodeAt(k) === unit) k++
    if (k === m) return i - m + 1
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
