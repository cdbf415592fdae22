// BM25, as functions and as the SQL by which PostgreSQL chooses candidates. A test checks that the two agree.
import type { Condition } from '../see.ts'

const K1 = 1.2
const B = 0.75

/** Statistics of the words of a query over the memories that the caller sees. */
export interface Words {
  /** Weight of each distinct word. */
  idf: readonly number[]
  averageLength: number
  /** How many memories the caller sees. */
  memories: number
}

/** A word is worth more the fewer memories hold it; never nothing, however common. */
export const idf = (memories: number, holding: number): number =>
  Math.log(1 + (memories - holding + 0.5) / (holding + 0.5))

/** `idf` as SQL over two numeric columns. */
export const idfSql = (memories: string, holding: string): string =>
  `ln(1 + (${memories} - ${holding} + 0.5::double precision) / (${holding} + 0.5::double precision))`

/** How much of a word's weight its frequency in a memory of this length earns: 0 to 1. */
export const saturation = (frequency: number, length: number, averageLength: number): number =>
  frequency / (frequency + K1 * (1 - B + (B * length) / (averageLength || 1)))

/** `saturation` as SQL over three numeric columns. */
export const saturationSql = (frequency: string, length: string, averageLength: string): Condition => ({
  sql: `${frequency} / (${frequency} + ?::double precision * (1 - ?::double precision + ?::double precision * ${length} / greatest(${averageLength}, 1e-9)))`,
  values: [K1, B, B],
})

/** BM25 divided by the most it could be: 0 to 1. */
export function lexical(words: Words, frequencies: ArrayLike<number>, length: number): number {
  let sum = 0
  let most = 0
  for (let i = 0; i < words.idf.length; i++) {
    const weight = words.idf[i]!
    const frequency = frequencies[i]!
    most += weight
    if (frequency > 0) sum += weight * saturation(frequency, length, words.averageLength)
  }
  return most > 0 ? sum / most : 0
}

/** The share of a query's words, by their weight, that a memory holds at all. */
export function coverage(words: Words, frequencies: ArrayLike<number>): number {
  let held = 0
  let all = 0
  for (let i = 0; i < words.idf.length; i++) {
    all += words.idf[i]!
    if (frequencies[i]! > 0) held += words.idf[i]!
  }
  return all > 0 ? held / all : 0
}
