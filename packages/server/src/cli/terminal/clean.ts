// Makes untrusted text safe for a terminal. Names, memories and events may hold escape sequences that would move the
// cursor, change the title or hide what comes after them, so control characters never reach a terminal as they are.

/** C0 without tab and newline, DEL and C1, and the characters that change the direction of text. */
const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const SPACES = /[\t\n]+/g

/** Keeps line breaks, and shows each harmful character as a replacement character. */
export const cleanText = (text: string): string => text.replaceAll('\r\n', '\n').replace(HARMFUL, '\ufffd')

/** Does the same for a single line: tabs and line breaks become a space. */
export const cleanLine = (text: string): string => cleanText(text).replace(SPACES, ' ')

/** Makes JSON text safe to print: the value stays the same, and harmful characters are escaped as in `\u009b`. */
export const cleanJsonText = (json: string): string =>
  json.replace(HARMFUL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Returns a value as JSON text that is safe to print. */
export const cleanJson = (value: unknown, indent?: number): string =>
  cleanJsonText(JSON.stringify(value, null, indent) ?? 'null')
