// JSON that a user types and the console sends: JSON.parse alone changes numbers that a double does not hold.
import { parseExactly } from '@sensorium/client'

/** A string or a number. JSON closes every string; that the quote is optional here keeps the search linear. */
export const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d[\d.eE+-]*/gs

const rewritten = (number: string): string => JSON.stringify(Number(number))

/** Whether one of these parts is a number that JSON.parse and JSON.stringify would change. */
export const isChangedNumber = (part: string): boolean => !part.startsWith('"') && rewritten(part) !== part

/**
 * Parses a JSON text for JSON.stringify, which then writes every number as it was typed. Throws if the text is not
 * JSON, or if the browser (Firefox before 135, Safari before 18.4) would change a number of it.
 */
export function parseToPassOn(text: string, keepsNumbers = 'rawJSON' in JSON): unknown {
  const value = parseExactly(text)
  if (keepsNumbers) return value
  const parts = text.match(STRING_OR_NUMBER) ?? []
  const changed = parts.find(isChangedNumber)
  if (changed !== undefined)
    throw new RangeError(`This browser cannot send ${changed} as it is written, only as ${rewritten(changed)}.`)
  return value
}
