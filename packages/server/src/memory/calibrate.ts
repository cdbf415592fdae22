// Turns the relevance that orders results into the score that is returned: about the chance that a person would call
// the result relevant. The score rises with relevance and depends on nothing else of the response, so it never changes
// an order. Relevance itself is not independent of the rest: the query moves towards its three best answers (rank.ts),
// which are chosen after the filters.
//
//   log odds = shift + slope · ln(relevance) + length · long − size · ln(memories)
//              − flatter · ln(relevance) · ln(memories)
//
// The number of memories is in it because among a thousand something always looks a little like the question, and the
// same relevance says less than among ten. The curve was learnt by logistic regression from the first ten results of
// judged questions in two collections, in parts of them with 8, 40 and 200 memories and in both put together (8 to
// 10,342 memories), with questions of other collections, to which nothing is relevant. On questions that it was not
// learnt from, score and share of relevant results lie 0.02 to 0.07 apart in each of these, and 0.04 in whole
// collections, where most is at stake. Relevance in place of its logarithm and its square were tried and were worse at
// the ends. Including the best of the other results gained a little, and would make a score depend on them even more.
import { longness } from './rank.ts'

/** The signals that a relevance was computed from: each basis has a scale of its own. */
export type Basis = 'tokens' | 'vectors' | 'words'

interface Curve {
  shift: number
  slope: number
  length: number
  size: number
  flatter: number
}

/** `vectors` was learnt with the built-in model. Vectors of others are spread differently: there it is a guess. */
const CURVES: Record<Basis, Curve> = {
  tokens: { shift: 5.723, slope: 6.835, length: 0.825, size: 0.643, flatter: 0.36 },
  vectors: { shift: 5.86, slope: 4.745, length: 0.895, size: 0.506, flatter: 0 },
  words: { shift: 5.285, slope: 2.252, length: 0.938, size: 0.477, flatter: 0 },
}
/** Fewer and more memories were not measured; with very many the curve would fall. */
const MEASURED = { fewest: 8, most: 10_000 } as const

/** What the relevances of one response are converted by. */
export interface Scale {
  basis: Basis
  averageLength: number
  memories: number
}

export function chanceOf(relevance: number, { basis, averageLength, memories }: Scale): number {
  const { shift, slope, length, size, flatter } = CURVES[basis]
  const many = Math.log(Math.min(MEASURED.most, Math.max(MEASURED.fewest, memories)))
  const logOdds =
    shift + length * longness(averageLength) - size * many + (slope - flatter * many) * Math.log(relevance)
  return 1 / (1 + Math.exp(-logOdds))
}

/**
 * A score as it is returned. Four digits say more than is known. Recency changes a score a little in every second: with
 * all digits, `min_score` at a score that was just returned would leave its memory out.
 */
export const rounded = (score: number): number => Math.round(score * 10_000) / 10_000
