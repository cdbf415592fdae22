// JSON whose numbers keep every digit: JSON.parse alone changes those that a double does not hold.

// Makes a value that JSON.stringify writes as the given text. Not in the types of the language yet.
const { rawJSON } = JSON as unknown as { rawJSON?: (text: string) => unknown }

/** A number with what stands around it. It may also be inside a string, where it does no harm. */
const NUMBER = /(?:^|[[,:\s])(-?\d[\d.eE+-]*)(?=[\],}\s]|$)/g

const isChanged = (number: string): boolean => JSON.stringify(Number(number)) !== number

function hasChanged(text: string): boolean {
  for (const [, number] of text.matchAll(NUMBER)) if (isChanged(number!)) return true
  return false
}

/**
 * Parses a JSON text so that JSON.stringify writes every number as it was. A number that it would write otherwise, such
 * as `12345678901234567890` or `1.0`, becomes an object with its text; the others are numbers. Where the runtime has no
 * `JSON.rawJSON` (Node.js 20, older browsers), this is JSON.parse.
 */
export function parseExactly(text: string): unknown {
  // A reviver takes many times as long as parsing.
  if (!rawJSON || !hasChanged(text)) return JSON.parse(text)
  const keepNumber = (_: string, part: unknown, context?: { source: string }): unknown =>
    typeof part === 'number' && isChanged(context!.source) ? rawJSON(context!.source) : part
  return JSON.parse(text, keepNumber)
}
