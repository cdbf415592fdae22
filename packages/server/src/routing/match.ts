// Finds the recipients of an event in slices, so that the caller can give other work a turn in between. Patterns are
// tried in slices, and none is ever skipped: each takes a few microseconds at most. Filters have a budget
// (evaluate.ts).
import { evaluateInSlices, type MatchTools } from './evaluate.ts'
import type { Envelope } from './filter.ts'
import { collect, matchingOf, nothingFound } from './found.ts'
import type { FilterGroup, Matching, RoutingTable } from './table.ts'

/** Recipients that took more steps to add are not cached: a few such lists would replace all others. */
const KEPT_STEPS = 10_000

/**
 * Matches an event. Yields after each slice of work, and returns the recipients. `whole` completes an envelope whose
 * data was left out; it is used once a filter needs the data.
 */
export function* matchInSlices(
  table: RoutingTable,
  envelope: Envelope,
  tools: MatchTools,
  whole?: () => Generator<void, Envelope>,
): Generator<void, Matching> {
  const type = envelope['type'] as string
  const remembered = table.remembered(type)
  if (remembered) return remembered
  const { stamp } = table
  const found = nothingFound()
  const filtered: FilterGroup[] = []
  let collected = 0
  for (const group of yield* table.candidates(type, (steps) => found.took(steps))) {
    let steps = 1
    if (group.filter === null) collected += steps = collect(table, group, found.matches)
    else filtered.push(group)
    if (found.took(steps)) yield
  }
  if (filtered.length === 0) {
    const matching = matchingOf(found)
    // The table may have changed between two slices.
    if (collected <= KEPT_STEPS && table.stamp === stamp) table.keepMatching(type, { ...matching, steps: collected })
    return matching
  }
  const event = whole ? yield* whole() : envelope
  yield* evaluateInSlices(table, filtered, event, tools, found)
  return matchingOf(found)
}
