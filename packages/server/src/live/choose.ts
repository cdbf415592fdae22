// Chooses which of the new events a live stream shows: those that match its type pattern and pass its filter. The
// newest are examined first, so that the oldest are left out if there are too many.
import { MAX_LIVE_EVENTS } from '@sensorium/contract'
import type { SummaryRow } from '../events/summaries.ts'
import { nextTurn } from '../kernel/step-turns.ts'
import { compileFilter, type Envelope, type Filter } from '../routing/filter.ts'
import { compileGlob, type Glob } from '../routing/glob.ts'
import { EVENT_STEPS } from '../routing/evaluate.ts'

export interface Choice {
  glob: Glob | null
  filter: Filter | null
}

export interface Chosen {
  /** Oldest first. */
  events: SummaryRow[]
  /** The number of events that matched and are not shown, or that were not examined. */
  leftOut: number
}

export const makeChoice = (type: string | undefined, filter: string | undefined): Choice => ({
  glob: type === undefined ? null : compileGlob(type),
  filter: filter === undefined ? null : compileFilter(filter),
})

export const matchingType = ({ glob }: Choice, events: readonly SummaryRow[]): readonly SummaryRow[] =>
  glob === null ? events : events.filter(({ type }) => glob.matches(type))

/** How many steps the filters of a tenant's streams may take together in a second: about ten milliseconds. */
export const FILTER_STEPS = EVENT_STEPS
/** Evaluations in one turn of the event loop. */
const AT_ONCE = 20

/**
 * Chooses from `events`, which are newest first. `envelopeOf` returns undefined for an event that there was no room to
 * read. `steps` is how many steps the filter may take.
 */
export async function choose(
  choice: Choice,
  events: readonly SummaryRow[],
  envelopeOf: (event: SummaryRow) => Envelope | undefined,
  steps: number,
): Promise<Chosen> {
  const candidates = matchingType(choice, events)
  const { filter } = choice
  if (filter === null)
    return {
      events: candidates.slice(0, MAX_LIVE_EVENTS).reverse(),
      leftOut: Math.max(0, candidates.length - MAX_LIVE_EVENTS),
    }
  const budget = { left: steps }
  const passed: SummaryRow[] = []
  let leftOut = 0
  for (const [i, event] of candidates.entries()) {
    const envelope = budget.left > 0 ? envelopeOf(event) : undefined
    const matches = envelope === undefined ? null : filter.test(envelope, budget)
    if (matches === null || (matches && passed.length === MAX_LIVE_EVENTS)) leftOut++
    else if (matches) passed.push(event)
    if (i % AT_ONCE === AT_ONCE - 1) await nextTurn()
  }
  return { events: passed.reverse(), leftOut }
}
