// Cuts a text without leaving half a character at its end: half a surrogate pair has no UTF-8, and two texts that end
// in different halves would be stored as the same.

const FIRST_HALF = /[\ud800-\udbff]$/

/** Returns the beginning of a text: at most `most` UTF-16 units, without half a surrogate pair at the end. */
export const beginningOf = (text: string, most: number): string =>
  text.length <= most ? text : text.slice(0, most).replace(FIRST_HALF, '')

/** Returns the text, or its beginning and `…`. Many clients refuse a whole response for half a character. */
export const snippet = (text: string, most: number): string =>
  text.length <= most ? text : `${beginningOf(text, most)}…`
