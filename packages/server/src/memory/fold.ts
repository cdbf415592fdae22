// Case folding, the one way for what is stored and for what is asked: the simple folding of Unicode, one character for
// one, so that a substring stays a substring. `ß` and `İ` stay themselves; Σ, σ and ς become one.

// The three that share a folding without sharing an upper case (U+1FD3, U+1FE3, U+FB05), and the one whose upper case
// is another letter's: ı is no i. With them, this agrees with the `iu` flags of regular expressions for every code
// point.
const exceptions = [
  ['\u1fd3', '\u0390'],
  ['\u1fe3', '\u03b0'],
  ['\ufb05', '\ufb06'],
  ['\u0131', '\u0131'],
] as const

const folded = new Map<string, string>(exceptions)

const isOne = (text: string): boolean => text.length === (text.codePointAt(0)! > 0xffff ? 2 : 1)

// By way of the upper case, which ς and σ, or ſ and s, have in common.
function foldOne(character: string): string {
  const upper = character.toUpperCase()
  const middle = isOne(upper) ? upper : character
  const lower = middle.toLowerCase()
  return isOne(lower) ? lower : middle
}

const ASCII = /^[\x00-\x7f]*$/

export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  let result = ''
  for (const character of text) {
    let one = folded.get(character)
    if (one === undefined) folded.set(character, (one = foldOne(character)))
    result += one
  }
  return result
}
