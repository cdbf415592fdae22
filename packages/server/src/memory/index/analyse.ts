// What a text is found by is worked out before the transaction that writes it: of 32,768 different characters that is
// 40 ms, in which no other request would have its turn.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fold } from './fold.ts'
import { wordsOf, type Word } from './terms.ts'

export interface Analysed {
  folded: string
  words: readonly Word[]
}

export interface Analyse {
  /** Works out long texts in steps, with a turn for everybody else after each. */
  ahead(...texts: (string | undefined)[]): Promise<void>
  /** Of a text that was worked out ahead, that; of any other, now. */
  of(text: string): Analysed
}

/** Shorter texts take less than three milliseconds. */
const LONG = 4_096
/** Texts whose transaction has not come yet: one takes up to 4 MB. */
const MOST_READY = 8

export function makeAnalyse(): Analyse {
  const ready = new Map<string, Analysed>()

  function keep(text: string, analysed: Analysed): void {
    if (ready.size >= MOST_READY) ready.delete(ready.keys().next().value!)
    ready.set(text, analysed)
  }

  return {
    async ahead(...texts) {
      for (const text of texts) {
        if (text === undefined || text.length < LONG) continue
        const folded = fold(text)
        await nextTurn()
        keep(text, { folded, words: wordsOf(text) })
        await nextTurn()
      }
    },
    of(text) {
      const known = ready.get(text)
      ready.delete(text)
      return known ?? { folded: fold(text), words: wordsOf(text) }
    },
  }
}
