// The text that a header carries.
import { isUtf8 } from 'node:buffer'

/** Returns a header's text as UTF-8 if its bytes are that: Node.js shows each byte as a character. */
export function asUtf8(text: string): string {
  if (!/[^\0-\x7f]/.test(text)) return text
  const bytes = Buffer.from(text, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : text
}

/** Returns what a quoted string of HTTP stands for, and any other text as it is. */
export const unquoted = (text: string): string =>
  /^"(?:\\.|[^"\\])*"$/.test(text) ? text.slice(1, -1).replace(/\\(.)/g, '$1') : text
