// Measures the width of text on a terminal, and makes it fit.
import { stripVTControlCharacters } from 'node:util'

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
/** Characters that take two columns: emoji, and those of East Asian scripts. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}])/u
const ASCII = /^[\x20-\x7e]*$/

export function widthOf(text: string): number {
  const bare = stripVTControlCharacters(text)
  if (ASCII.test(bare)) return bare.length
  let width = 0
  for (const { segment } of graphemes.segment(bare)) width += WIDE.test(segment) ? 2 : 1
  return width
}

/** Cuts plain text so that it fits, with an ellipsis in the last column. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let kept = ''
  let width = 0
  for (const { segment } of graphemes.segment(text)) {
    width += WIDE.test(segment) ? 2 : 1
    if (width > columns - 1) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

export const padEnd = (text: string, columns: number): string => text + ' '.repeat(Math.max(0, columns - widthOf(text)))
export const padStart = (text: string, columns: number): string =>
  ' '.repeat(Math.max(0, columns - widthOf(text))) + text

/** Breaks plain text between words. A word that is too long stays whole, so that a URL or an id can be copied. */
export function wrap(text: string, columns: number | null): string[] {
  if (columns === null) return text.split('\n')
  return text.split('\n').flatMap((paragraph) => {
    const [indent] = /^ */.exec(paragraph)!
    const [first = '', ...words] = paragraph.slice(indent.length).split(' ')
    const lines = [indent + first]
    for (const word of words) {
      const longer = `${lines.at(-1)} ${word}`
      if (widthOf(longer) > columns) lines.push(indent + word)
      else lines[lines.length - 1] = longer
    }
    return lines
  })
}
