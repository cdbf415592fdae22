// How far a memory holds the one word that it shares with a query in passing: "soup" of a recipe for bean soup is in the
// name of a soup kitchen. The word alone cannot tell, and the meaning of the whole memory has it too. What tells is
// another memory that holds none of the words and means about as much of what is asked: one that is about the word lies
// clearly nearer than that. Pure.
//
// Measured on 26 questions with such a trap, of which 16 were in order and now 24, on 20 that were kept aside, 17 and 18,
// and on 12 in which the one word is the answer: all 12, as before. docs/memory.md has the forms that were tried.
import type { Words } from './bm25.ts'

/** A query of fewer words is met by one of them, not passed by. */
const SEVERAL = 3
/**
 * The cosine from which on a memory without any of the words means what is asked, and how far above it does so fully.
 * Among many something is near by chance: with the same bound whatever their number, short messages lost a point.
 */
const MEANT = { least: 0.12, byLogOfMemories: 0.04, fully: 0.1 } as const
/** By how much a memory that is about the word lies nearer: below the first it is held in passing, from the second on not. */
const NEARER = { hardly: 0.05, clearly: 0.08 } as const

const share = (value: number, from: number, to: number): number =>
  Math.min(1, Math.max(0, (value - from) / (to - from)))

function wordsHeld(frequencies: ArrayLike<number>): number {
  let held = 0
  for (let i = 0; i < frequencies.length; i++) if (frequencies[i]! > 0) held++
  return held
}

export interface Compared {
  frequencies: ArrayLike<number>
  /** Null until the memory is embedded: then nothing is known but its words. */
  cos: number | null
}

/** From 0, the word counts, to 1, it is held in passing and counts nothing. */
export function findPassing(words: Words, candidates: readonly Compared[]): (one: Compared) => number {
  if (words.idf.length < SEVERAL) return () => 0
  const nearest = Math.max(
    0,
    ...candidates.filter(({ frequencies }) => wordsHeld(frequencies) === 0).map(({ cos }) => cos ?? 0),
  )
  const least = MEANT.least + MEANT.byLogOfMemories * Math.log(Math.max(1, words.memories))
  const isMeant = share(nearest, least, least + MEANT.fully)
  return ({ frequencies, cos }) =>
    cos === null || isMeant === 0 || wordsHeld(frequencies) !== 1
      ? 0
      : isMeant * (1 - share(cos - nearest, NEARER.hardly, NEARER.clearly))
}
