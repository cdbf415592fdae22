// How a change of the parameters in the address enters the history of the browser. Back closes what was opened and
// nothing more; closing it by a button leaves no second entry of the same page behind.

import { isOpenIn, OPENING } from '../components/in-address.ts'

type Search = Readonly<Record<string, string | undefined>>

interface HistoryStep {
  /** `back` has the effect of the change, because the entry before this one has it already. */
  kind: 'push' | 'replace' | 'back'
  /** Whether the new entry exists because something was opened in front of the one before it. */
  isOpening: boolean
}

/** Returns the step from an entry with these parameters; `wasOpening` is the `isOpening` of that entry. */
export function historyStep(search: Search, change: Search, wasOpening: boolean): HistoryStep {
  const opens = isOpenIn({ ...search, ...change })
  if (opens && !isOpenIn(search)) return { kind: 'push', isOpening: true }
  const isFilter = Object.keys(change).some((name) => !OPENING.includes(name))
  if (!opens && wasOpening && !isFilter) return { kind: 'back', isOpening: false }
  return { kind: 'replace', isOpening: wasOpening && opens }
}
