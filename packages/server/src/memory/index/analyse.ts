// Computes the folded form and the words of a text before the transaction that writes it. For 32,768 different
// characters that takes 40 ms, during which no other request would get its turn.
import { inSteps, nextTurn } from '../../kernel/step-turns.ts'
import { fold } from './fold.ts'
import { wordsOf, wordSteps, type Word } from './terms.ts'

export interface Analysed {
  folded: string
  words: readonly Word[]
}

export interface Analyse {
  /** Analyses long texts in steps, and gives other requests a turn after each step. */
  analyseAhead(...texts: (string | undefined)[]): Promise<void>
  /**
   * Returns the analysis of a text that was analysed ahead; analyses any other text now. The analysis stays until it is
   * dropped: title and content may be the same text, and a transaction may be run again.
   */
  take(text: string): Analysed
  drop(...texts: string[]): void
}

/** Shorter texts take less than three milliseconds. */
const LONG = 4_096
/** The most analysed texts that are kept for a transaction to come. One takes up to 4 MB. */
const MOST_READY = 8

export function makeAnalyse(): Analyse {
  const ready = new Map<string, Analysed>()

  function keep(text: string, analysed: Analysed): void {
    if (ready.size >= MOST_READY) ready.delete(ready.keys().next().value!)
    ready.set(text, analysed)
  }

  return {
    async analyseAhead(...texts) {
      // As they are stored: a text with half a surrogate pair would not be found again.
      for (const text of new Set(texts.map((sent) => sent?.toWellFormed()))) {
        if (text === undefined || text.length < LONG) continue
        const folded = fold(text)
        await nextTurn()
        keep(text, { folded, words: await inSteps(wordSteps(text), nextTurn) })
        await nextTurn()
      }
    },
    take: (text) => ready.get(text) ?? { folded: fold(text), words: wordsOf(text) },
    drop(...texts) {
      for (const text of texts) ready.delete(text)
    },
  }
}
