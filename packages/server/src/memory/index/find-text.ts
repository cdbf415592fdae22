// Finds the memories that hold a text as one substring, whatever its case. The grams of the text select the candidates
// (grams.ts); their folded texts are then searched in time linear in their length. All of this runs in the search
// thread and in steps, so that a search through many long texts never keeps another tenant's search waiting for long.
import { after, candidateQuery, goneQuery } from './candidates.ts'
import { fold } from './fold.ts'
import type { MayHold } from './grams.ts'
import type { FindText } from './memory-index.ts'
import type { SearchThread } from './search.ts'

/**
 * Candidates that are selected at once: the main thread receives their ids in 2 ms. All that may hold the text are
 * looked through again for the next ones.
 */
const CANDIDATES = 250_000

export const makeFindText =
  (mayHold: MayHold, thread: SearchThread, most = CANDIDATES): FindText =>
  async (viewer, text, wanted, isGone = false) => {
    const needle = fold(text)
    const found: string[] = []
    for (let last: string | null = null; ; ) {
      const next = after(wanted, last)
      const query = isGone ? goneQuery(next, most) : candidateQuery(mayHold, viewer, needle, next, most)
      const candidates = await thread.ask(viewer, 'candidates', { ...query, most })
      for (const ids of candidates.slices) {
        const held = await thread.ask(viewer, 'holding', { tenantId: viewer.tenantId, ids, needle, isGone })
        if (held !== '') found.push(...held.split(' '))
      }
      if (candidates.last === null) return found
      last = candidates.last
    }
  }
