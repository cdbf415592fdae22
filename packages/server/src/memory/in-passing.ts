// Estimates whether a memory holds the one word that it shares with a query only in passing: asked for a recipe for
// bean soup, "soup" is also in the name of a soup kitchen. The word alone cannot tell, and it is part of the meaning of
// the whole memory too. What tells is another memory that holds none of the words and is about as near to the query in
// meaning: a memory that is about the word lies clearly nearer than that one. Pure.
//
// Measured on 26 questions with such a trap: 16 were in order before, 24 are now. On 20 that were kept aside: 17 before
// and 18 now. On 12 in which the one word is the answer: all 12, as before. docs/memory.md has what else was tried.
import type { Words } from './index/bm25.ts'

/** In a query of fewer words, one shared word is a match and not in passing. */
const MIN_QUERY_WORDS = 3
/**
 * The cosine from which a memory without any of the words counts as meaning what is asked, and how far above that it
 * counts fully. Among many memories something is near by chance: with the same bound for any number of memories, short
 * messages lost a point.
 */
const MEANT_COSINE = { least: 0.12, byLogOfMemories: 0.04, fully: 0.1 } as const
/** How much nearer a memory about the word lies: below `hardly` the word is in passing, from `clearly` on it is not. */
const LEAD_IN_COSINE = { hardly: 0.05, clearly: 0.08 } as const

const ramp = (value: number, from: number, to: number): number => Math.min(1, Math.max(0, (value - from) / (to - from)))

function wordsHeld(frequencies: ArrayLike<number>): number {
  let held = 0
  for (let i = 0; i < frequencies.length; i++) if (frequencies[i]! > 0) held++
  return held
}

interface Compared {
  frequencies: ArrayLike<number>
  /** Null while the memory is not embedded and only its words are known. */
  cos: number | null
}

/** Returns a function that rates a memory from 0, the word counts fully, to 1, it is in passing and counts nothing. */
export function findPassing(words: Words, candidates: readonly Compared[]): (one: Compared) => number {
  if (words.idf.length < MIN_QUERY_WORDS) return () => 0
  const nearest = Math.max(
    0,
    ...candidates.filter(({ frequencies }) => wordsHeld(frequencies) === 0).map(({ cos }) => cos ?? 0),
  )
  const least = MEANT_COSINE.least + MEANT_COSINE.byLogOfMemories * Math.log(Math.max(1, words.memories))
  const isMeant = ramp(nearest, least, least + MEANT_COSINE.fully)
  return ({ frequencies, cos }) =>
    cos === null || isMeant === 0 || wordsHeld(frequencies) !== 1
      ? 0
      : isMeant * (1 - ramp(cos - nearest, LEAD_IN_COSINE.hardly, LEAD_IN_COSINE.clearly))
}
