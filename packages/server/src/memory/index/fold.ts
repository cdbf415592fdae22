// Case folding, the same for stored texts and for queries: the simple folding of Unicode, one character for one, so
// that a substring stays a substring. `ß` and `İ` stay themselves; Σ, σ and ς become one.

// Three characters share a folding without sharing an upper case (U+1FD3, U+1FE3, U+FB05), and the upper case of one is
// that of another letter: ı is not i. With these exceptions, folding agrees with the `iu` flags of regular expressions
// for every code point.
const exceptions = [
  ['\u1fd3', '\u0390'],
  ['\u1fe3', '\u03b0'],
  ['\ufb05', '\ufb06'],
  ['\u0131', '\u0131'],
] as const

const isOne = (text: string): boolean => text.length === (text.codePointAt(0)! > 0xffff ? 2 : 1)

const exceptional = new Map<string, string>(exceptions)

// Folds by way of the upper case, which ς and σ, or ſ and s, have in common.
function foldOne(character: string): string {
  const exception = exceptional.get(character)
  if (exception !== undefined) return exception
  const upper = character.toUpperCase()
  const middle = isOne(upper) ? upper : character
  const lower = middle.toLowerCase()
  return isOne(lower) ? lower : middle
}

const ASCII = /^[\x00-\x7f]*$/

// The folding of each character below NO_CASE_FROM, computed on first use. Zero means not computed yet, and U+0000
// folds to itself. 32,768 characters of two units took 20 ms when only those of one unit were kept.
/** Ideographs and all characters after them have no case. Folding a thousand of them took a millisecond. */
const NO_CASE_FROM = 0x20000
const points = new Uint32Array(NO_CASE_FROM)
const isHalf = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff
/** How many units String.fromCharCode is called with at a time. */
const AT_ONCE = 8_192

function foldPoint(point: number): number {
  const known = points[point]!
  if (known !== 0 || point === 0) return known
  const folded = foldOne(String.fromCodePoint(point)).codePointAt(0)!
  points[point] = folded
  return folded
}

export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  const folded = new Uint16Array(text.length)
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (!isHalf(unit)) {
      folded[i] = foldPoint(unit)
      continue
    }
    // A surrogate pair folds to a pair, a lone surrogate to itself.
    const point = text.codePointAt(i)!
    if (point >= NO_CASE_FROM || point <= 0xffff) {
      folded[i] = unit
      if (point > 0xffff) folded[i + 1] = text.charCodeAt(i + 1)
    } else {
      const pair = foldPoint(point) - 0x10000
      folded[i] = 0xd800 | (pair >> 10)
      folded[i + 1] = 0xdc00 | (pair & 0x3ff)
    }
    if (point > 0xffff) i++
  }
  let result = ''
  for (let start = 0; start < folded.length; start += AT_ONCE)
    result += String.fromCharCode(...folded.subarray(start, start + AT_ONCE))
  return result
}
