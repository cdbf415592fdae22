// Cuts a text without leaving half a character at its end: half a surrogate pair has no UTF-8, and two texts that end
// in different halves would be stored as the same.

/** Whether a UTF-16 unit is the first half of a surrogate pair. */
export const isHighHalf = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00

/** Returns the beginning of a text: at most `most` UTF-16 units, without half a surrogate pair at the end. */
export const beginningOf = (text: string, most: number): string =>
  text.length <= most ? text : text.slice(0, isHighHalf(text.charCodeAt(most - 1)) ? most - 1 : most)

/** Returns the text, or its beginning and `…`. Many clients refuse a whole response for half a character. */
export const snippet = (text: string, most: number): string =>
  text.length <= most ? text : `${beginningOf(text, most)}…`

/** Yields a text in slices of `size` UTF-16 units, or of one more where a surrogate pair would be split. */
export function* slicesOf(text: string, size: number): Generator<string, void> {
  for (let at = 0; at < text.length; ) {
    let end = at + size
    if (isHighHalf(text.charCodeAt(end - 1))) end++
    yield text.slice(at, end)
    at = end
  }
}
