// Reads values that may be long: given directly, as `@file`, or as `-` for standard input.
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { parseExactly } from '@sensorium/client'
import { UsageError } from '../../command.ts'

export async function readInput(given: string): Promise<string> {
  if (given === '-') return text(process.stdin)
  if (!given.startsWith('@')) return given
  try {
    // Removes the byte order mark that some editors write. For standard input, the decoder removes it.
    return readFileSync(given.slice(1), 'utf8').replace(/^\ufeff/, '')
  } catch (error) {
    throw new UsageError(`${given.slice(1)} cannot be read: ${(error as Error).message}`, 'a file')
  }
}

export async function readJson(option: string, given: string): Promise<unknown> {
  try {
    return parseExactly(await readInput(given))
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(
      `${option} takes JSON, such as '{"celsius":93}' or '"a text"': ${(error as Error).message}`,
      'JSON, @file or -',
    )
  }
}

/** Reads the number given as the value of an option. */
export function numberOf(option: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const number = Number(given)
  if (given.trim() === '' || !Number.isFinite(number))
    throw new UsageError(`${option} takes a number, not ${given}`, 'a number')
  return number
}

/** Splits a list such as `send,receive`. */
export const listOf = (given: string): string[] =>
  given
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')

/** Returns the fields without those that are undefined. */
export const withoutUndefined = <T extends Record<string, unknown>>(
  fields: T,
): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
