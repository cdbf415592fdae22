// How alike unrelated texts look to the built-in model. It was trained with English. Texts of another language are cut
// into pieces of words that say little, so all of them look alike: among sentences that have nothing to do with each
// other, the median cosine is 0.04 in English, 0.32 to 0.47 in eight other languages with Latin letters, 0.50 to 0.73
// in Russian, Greek, Arabic, Hebrew, Korean and Hindi, and 0.52 to 0.55 in Chinese and Japanese. The medians of the
// likeness of tokens are 0.16, 0.41 to 0.51, 0.56 to 0.72, and 0.19 to 0.41.
//
// What a text has in common with any other says nothing, so only what is above the baseline of its language counts, and
// its words count more. Of texts of which the model knows too few words (`isUnread`), only the words count.
//
// Measured with 8 memories, or 20, a related event for each, and 10 or 20 events that have nothing to do with any of
// them, in German (twice), French, Spanish, Russian, Chinese and Japanese. Before, 69 of 80 unrelated events found a
// memory above the floor of enrichment, and 9 do now. Of 68 related events 58 found theirs first, and 62 do now; above
// the floor it was for 60, and is for 55. Higher baselines took more from the related than from the unrelated ones.
import { isEnglishText } from './index/terms.ts'

export interface Baseline {
  cos: number
  tok: number
  /** How foreign the text is to the model, 0 to 1. */
  foreign: number
}

export const NO_BASELINE: Baseline = { cos: 0, tok: 0, foreign: 0 }

/** By script: Latin letters in another language than English, ideographs and kana, and all other alphabets. */
const LATIN: Baseline = { cos: 0.22, tok: 0.25, foreign: 1 }
const IDEOGRAPHS: Baseline = { cos: 0.42, tok: 0.24, foreign: 1 }
const OTHERS: Baseline = { cos: 0.68, tok: 0.67, foreign: 1 }
/** How much more the words of a foreign text count. */
const MORE_BY_WORDS = 2

const LETTER = /\p{L}/gu
const IS_LATIN = /\p{Script=Latin}/u
const IS_IDEOGRAPH = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u
/** Letters that are looked at: enough to tell the script. */
const LOOKED_AT = 400

/** If its small words do not tell the language: pieces of a word from which a text is foreign, a little and fully. */
const PIECES = { little: 1.6, fully: 2.2, leastWords: 3 } as const
const HAS_DIGIT = /\d/

/** Returns how foreign to the model a text in Latin letters is, 0 to 1. `words` has the word of each token. */
function foreignness(text: string, words: readonly string[]): number {
  const isKnown = isEnglishText(text)
  if (isKnown !== undefined) return isKnown ? 0 : 1
  const written = words.filter((word) => !HAS_DIGIT.test(word))
  const distinct = new Set(written).size
  if (distinct < PIECES.leastWords) return 0
  const pieces = written.length / distinct
  return Math.min(1, Math.max(0, (pieces - PIECES.little) / (PIECES.fully - PIECES.little)))
}

/** Returns the baseline of a text; `words` has the word of each token that carries meaning. */
export function baselineOf(text: string, words: readonly string[]): Baseline {
  let latin = 0
  let ideographs = 0
  let others = 0
  for (const [letter] of text.matchAll(LETTER)) {
    if (IS_LATIN.test(letter)) latin++
    else if (IS_IDEOGRAPH.test(letter)) ideographs++
    else others++
    if (latin + ideographs + others === LOOKED_AT) break
  }
  const letters = latin + ideographs + others
  if (letters === 0) return NO_BASELINE
  const foreign = latin === 0 ? 0 : latin * foreignness(text, words)
  const mean = (signal: keyof Baseline): number =>
    (foreign * LATIN[signal] + ideographs * IDEOGRAPHS[signal] + others * OTHERS[signal]) / letters
  return { cos: mean('cos'), tok: mean('tok'), foreign: mean('foreign') }
}

/** Returns what a value says beyond the baseline, 0 to 1. */
export const above = (baseline: number, value: number): number => Math.max(0, value - baseline) / (1 - baseline)

/** Returns what the words of a text count, in relation to those of an English one. */
export const wordsCount = ({ foreign }: Baseline): number => 1 + MORE_BY_WORDS * foreign
