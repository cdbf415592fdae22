// How many windows, chosen by their signatures, are compared exactly. Long memories need more, because many of the
// windows may belong to the same memory.

/** Words, as they are counted for BM25, that fill a window of the built-in model. */
const WORDS_OF_WINDOW = 120

/** What is searched: how many memories, and how many words they have on average. */
interface Searched {
  memories: number
  averageLength: number
}

const windowsEach = ({ averageLength }: Searched): number => Math.max(1, averageLength / WORDS_OF_WINDOW)

/**
 * With the columns in memory: the exact top ten were all among 144 of 10,000 windows, among 256 of 100,000 (144: 0.99)
 * and among 512 of a million (256: 0.975). With 128 of 900 short messages the ranking of a hundred lost a tenth of a
 * point of recall, with 192 nothing.
 */
export function windowsByColumns(searched: Searched): number {
  const each = windowsEach(searched)
  return Math.min(512, Math.ceil(each * (192 + (each * searched.memories) / 800)))
}

/**
 * By statements alone: among 50,000 windows, 200 held 0.978 of the exact top ten, 400 held 0.991 and 800 held 0.996.
 * Among fewer windows fewer suffice: each is two kilobytes that are sent over the wire and thrown away.
 */
export const windowsByStatements = (searched: Searched): number =>
  Math.min(500, Math.ceil(windowsEach(searched) * Math.max(200, searched.memories * 0.02)))
