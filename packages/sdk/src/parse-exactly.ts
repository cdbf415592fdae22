// JSON whose numbers keep every digit: JSON.parse alone changes those that a double does not hold.

// Makes a value that JSON.stringify writes as the given text. Not in the types of the language yet, and missing in
// Firefox before 135 and Safari before 18.4, as is the source that a reviver is given.
const { rawJSON = null } = JSON as unknown as { rawJSON?: (text: string) => unknown }

/** A string or a number. JSON closes every string; that the quote is optional here keeps the search linear. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d[\d.eE+-]*/gs

const rewritten = (number: string): string => JSON.stringify(Number(number))

/**
 * Parses a JSON text so that JSON.stringify writes every number as it was. A number that it would change becomes an
 * object with its text, `{ rawJSON: '12345678901234567890' }`; the others are numbers. Throws if the text is not JSON, or
 * if this is a browser that cannot keep one of its numbers.
 */
export function parseExactly(text: string, raw = rawJSON): unknown {
  const value: unknown = JSON.parse(text)
  const parts = text.match(STRING_OR_NUMBER) ?? []
  const changed = parts.find((part) => !part.startsWith('"') && rewritten(part) !== part)
  if (changed === undefined) return value
  if (raw === null)
    throw new RangeError(`This browser cannot send ${changed} as it is written, only as ${rewritten(changed)}.`)
  const keepNumber = (_: string, part: unknown, context?: { source: string }): unknown =>
    typeof part === 'number' && rewritten(context!.source) !== context!.source ? raw(context!.source) : part
  return JSON.parse(text, keepNumber)
}
