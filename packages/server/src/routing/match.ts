// Finds the recipients of an event in slices, so that the caller can give other work a turn in between.
//
// 1. An event has a budget of steps across all filters that are evaluated for it. Cheap filters are evaluated first and
//    do not use the budget. When the budget is spent, the costliest filters are skipped, which counts as no match, and
//    reported. One agent's filters cannot take the budget of the others: its costly ones come last.
// 2. The cost of a filter is known from the last event. A filter that turns out not to be cheap is stopped and
//    evaluated later.
// 3. Patterns are tried in slices too, and none is ever skipped: each takes a few microseconds at most.
import { STEP_BUDGET } from '@sensorium/cel'
import type { Envelope } from './filter.ts'
import { filtersOfOneEvent, type Filters } from './filters.ts'
import { deeper, type FilterGroup, type Match, type Matching, type RoutingTable, type Subscription } from './table.ts'

/** The most steps of all filters together for one event: about ten milliseconds. */
export const EVENT_STEPS = 10 * STEP_BUDGET
/** About 0.2 ms, or one costly filter, because a filter is evaluated without a break. */
const SLICE_STEPS = 20_000
/** The steps that every filter may take. Nearly all filters need less, and those are never skipped. */
const CHEAP_STEPS = 200

/** Recipients that took more steps to add are not cached: a few such lists would replace all others. */
const KEPT_STEPS = 10_000

/** The fixed cost of an evaluation besides its steps, and the cost of adding a recipient. */
const EVALUATION_STEPS = 20
const RECIPIENT_STEPS = 10

export interface MatchTools {
  filters: Filters
  /** Called for each filter that is skipped because it takes too much work. */
  overBudget(): void
}

/** Returns a function that counts steps, and returns true whenever a slice of work is done. */
export function countSlices(): (steps: number) => boolean {
  let inSlice = 0
  return (steps) => {
    inSlice += steps
    if (inSlice < SLICE_STEPS) return false
    inSlice = 0
    return true
  }
}

/** What has been found for an event so far. */
interface Found {
  readonly matches: Map<string, Match>
  steps: number
  /** Counts steps, and returns true whenever a slice of work is done. */
  took(steps: number): boolean
}

function nothingFound(): Found {
  const isSliceOver = countSlices()
  return {
    matches: new Map(),
    steps: 0,
    took(steps) {
      this.steps += steps
      return isSliceOver(steps)
    },
  }
}

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

/** Adds the recipients of the groups whose filters pass: of cheap filters first, then of the others by their cost. */
function* evaluateInSlices(
  table: RoutingTable,
  groups: readonly FilterGroup[],
  event: Envelope,
  { filters, overBudget }: MatchTools,
  found: Found,
): Generator<void, void> {
  const filterOf = filtersOfOneEvent(filters)
  let left = EVENT_STEPS
  let pending = compiledFirst(groups, filters)
  for (const isFirst of [true, false]) {
    const later: FilterGroup[] = []
    for (const group of pending) {
      if (isFirst && group.cost > CHEAP_STEPS) {
        later.push(group)
        continue
      }
      const usable = left > 0 ? filterOf(group.filter!) : null
      if (!usable) {
        overBudget()
        continue
      }
      const { filter, compiled } = usable
      if (compiled > 0 && found.took(compiled)) yield
      const granted = isFirst ? CHEAP_STEPS : Math.min(STEP_BUDGET, left)
      const budget = { left: granted }
      const passed = filter.test(event, budget)
      const steps = granted - budget.left
      if (!isFirst) left -= steps
      group.cost = passed === null ? granted + 1 : steps
      if (passed === null && isFirst) later.push(group)
      else if (passed === null) overBudget()
      const added = passed === true ? collect(table, group, found.matches) : 0
      if (found.took(EVALUATION_STEPS + steps + added)) yield
    }
    if (later.length === 0) return
    pending = later.sort((a, b) => a.cost - b.cost)
  }
}

/** Those that are compiled, then the others, the shortest first: they are the fastest to compile and cost the least. */
function compiledFirst(groups: readonly FilterGroup[], filters: Filters): readonly FilterGroup[] {
  const isCompiled = ({ filter }: FilterGroup): boolean => filters.has(filter!)
  const others = groups.filter((group) => !isCompiled(group))
  if (others.length === 0) return groups
  return [...groups.filter(isCompiled), ...others.sort((a, b) => a.filter!.length - b.filter!.length)]
}

const matchingOf = ({ matches, steps }: Found): Matching => ({ matches, steps, list: [...matches.values()] })

function collect(table: RoutingTable, group: FilterGroup, matches: Map<string, Match>): number {
  let recipients = 0
  for (const subscription of group.subscriptions.values()) {
    for (const recipient of table.recipientsOf(subscription)) {
      add(recipient, subscription, matches)
      recipients++
    }
  }
  return recipients * RECIPIENT_STEPS
}

function add(recipientId: string, subscription: Subscription, matches: Map<string, Match>): void {
  const match = matches.get(recipientId)
  if (!match) {
    matches.set(recipientId, {
      recipientId,
      priority: subscription.priority,
      enrichment: subscription.enrichment,
      matched: [subscription],
    })
    return
  }
  match.priority = Math.max(match.priority, subscription.priority)
  match.enrichment = deeper(match.enrichment, subscription.enrichment)
  match.matched.push(subscription)
}
