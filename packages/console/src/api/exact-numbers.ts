// Numbers of responses with all their digits: JSON.parse changes those that a double does not hold. Not the raw JSON of
// `parseExactly`: the cache of responses takes that for a plain object, and copies it to one.
import { isChangedNumber, STRING_OR_NUMBER } from './parse-to-pass-on.ts'

// Not in the types of the language yet, nor in every browser.
const { rawJSON } = JSON as unknown as { rawJSON?: (text: string) => unknown }

/** A number that JSON.stringify would write otherwise than it was written. */
export class ExactNumber {
  readonly digits: string
  constructor(digits: string) {
    this.digits = digits
  }
  toString(): string {
    return this.digits
  }
  /** JSON.stringify writes it as it was, if the browser can. */
  toJSON(): unknown {
    return rawJSON ? rawJSON(this.digits) : Number(this.digits)
  }
}

/** Begins the text that stands for such a number while it is parsed. No publisher knows it. */
const MARK = `${Math.random()} `

/** A number with what stands around it. It may also be inside a string. */
const NUMBER = /(?:^|[[,:\s])(-?\d[\d.eE+-]*)(?=[\],}\s]|$)/g

/** Nearly no response has a changed number, and to look for one takes a fifth of the time of marking them. */
function mayHaveChanged(text: string): boolean {
  for (const [, number] of text.matchAll(NUMBER)) if (isChangedNumber(number!)) return true
  return false
}

/** In browsers that have `rawJSON`, a reviver is told the text of a number. */
const exactly = (_: string, part: unknown, { source }: { source?: string }): unknown =>
  typeof part === 'number' && isChangedNumber(source!) ? new ExactNumber(source!) : part

/** Parses a response: JSON.parse, with an `ExactNumber` for each number that would be changed. */
export function parseResponse(text: string, tellsSource = rawJSON !== undefined): unknown {
  if (!mayHaveChanged(text)) return JSON.parse(text)
  if (tellsSource) return JSON.parse(text, exactly as never)
  const marked = text.replace(STRING_OR_NUMBER, (part) => (isChangedNumber(part) ? `"${MARK}${part}"` : part))
  return JSON.parse(marked, (_, part: unknown) =>
    typeof part === 'string' && part.startsWith(MARK) ? new ExactNumber(part.slice(MARK.length)) : part,
  )
}

/** Returns a value of a response with other numbers in it. */
function withNumbers(value: unknown, numberOf: (exact: ExactNumber) => unknown): unknown {
  if (value instanceof ExactNumber) return numberOf(value)
  if (Array.isArray(value)) return value.map((part) => withNumbers(part, numberOf))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withNumbers(part, numberOf)]))
}

/** Returns it as filters see it: a long whole number is a bigint, any other number a double. */
export const forFilters = <T>(value: T): T =>
  withNumbers(value, ({ digits }) =>
    /^-?\d+$/.test(digits) && !Number.isSafeInteger(Number(digits)) ? BigInt(digits) : Number(digits),
  ) as T

/** Whether this browser would change a number of it on sending it back. */
export function wouldChange(value: unknown, keepsNumbers = rawJSON !== undefined): boolean {
  let found = false
  if (!keepsNumbers) withNumbers(value, () => (found = true))
  return found
}
