// A word of a query that no memory in view holds is probably misspelt. It is replaced by the most similar word that a
// memory in view does hold. Pure.
//
// A word that the model knows as one token is left alone. Measured with two letters exchanged in the longest word of
// each question, and words of four letters or more corrected: on short messages 42.2 / 51.7 became 47.8 / 58.0 (nDCG@10
// / R@10; 53.5 / 64.6 spelt correctly), on abstracts 43.5 / 45.1 became 45.0 / 46.1. With words of five letters or
// more, results of correctly spelt questions did not change.

/** Words that begin with one letter, each with about how many memories hold it. */
export type Vocabulary = Map<string, number>

/** The most words of a letter that are compared: more than a language has. */
export const MAX_VOCABULARY = 20_000
/**
 * A shorter word resembles too many others: with four letters, names were taken for other names, which cost a fifth of
 * a point.
 */
const SHORTEST = 5
/** From this length on, two letters may be wrong; in shorter words one. */
const LONG = 8
/** How many of the most similar words are tried. */
const TRIED = 4

/**
 * Reports whether a word is checked: Latin letters and digits, with a letter first, by which the vocabulary is read.
 */
export const isCheckedForSpelling = (word: string): boolean => word.length >= SHORTEST && /^[a-z][a-z0-9]*$/.test(word)

/**
 * Returns how many letters must be added, left out, replaced or exchanged with their neighbour to turn one word into
 * the other; `most` + 1 if it is more than `most`.
 */
export function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      let least = Math.min(last[j]! + 1, row[j - 1]! + 1, replaced)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, beforeLast[j - 2]! + 1)
      row.push(least)
    }
    if (Math.min(...row) > most) return most + 1
    beforeLast = last
    last = row
  }
  return last[b.length]!
}

/** Returns the words that a misspelt word may mean, the most similar first; among equals, the most common first. */
export function mostSimilarWords(word: string, vocabulary: ReadonlyMap<string, number>): string[] {
  const most = word.length >= LONG ? 2 : 1
  return [...vocabulary]
    .map(([other, holding]) => ({ other, holding, away: distance(word, other, most) }))
    .filter(({ away }) => away <= most)
    .sort((a, b) => a.away - b.away || b.holding - a.holding || (a.other < b.other ? -1 : 1))
    .slice(0, TRIED)
    .map(({ other }) => other)
}
