// JSON that a user types and the console sends: JSON.parse alone changes numbers that a double does not hold.

// Makes a value that JSON.stringify writes as the given text. Not in the types of the language yet, and missing in
// Firefox before 135 and Safari before 18.4, as is the source that a reviver is given.
const { rawJSON = null } = JSON as unknown as { rawJSON?: (text: string) => unknown }

/** A string or a number. JSON closes every string; that the quote is optional here keeps the search linear. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d[\d.eE+-]*/gs

const rewritten = (number: string): string => JSON.stringify(Number(number))

/**
 * Parses a JSON text for JSON.stringify, which then writes every number as it was typed. Throws if the text is not JSON,
 * or if the browser would change a number of it.
 */
export function parseToPassOn(text: string, raw = rawJSON): unknown {
  const value: unknown = JSON.parse(text)
  const parts = text.match(STRING_OR_NUMBER) ?? []
  const changed = parts.find((part) => !part.startsWith('"') && rewritten(part) !== part)
  if (changed === undefined) return value
  if (raw === null)
    throw new RangeError(`This browser cannot send ${changed} as it is written, only as ${rewritten(changed)}.`)
  const keepNumber = (_: string, part: unknown, context?: { source: string }): unknown =>
    typeof part === 'number' ? raw(context!.source) : part
  return JSON.parse(text, keepNumber)
}
