// What has been found for an event so far, and when a slice of the work is done.
import { deeper, type FilterGroup, type Match, type Matching, type RoutingTable, type Subscription } from './table.ts'

/** About 0.2 ms, or one costly filter, because a filter is evaluated without a break. */
const SLICE_STEPS = 20_000

/** The cost of adding a recipient. */
const RECIPIENT_STEPS = 10

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

export interface Found {
  readonly matches: Map<string, Match>
  steps: number
  /** Counts steps, and returns true whenever a slice of work is done. */
  took(steps: number): boolean
}

export function nothingFound(): Found {
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

export const matchingOf = ({ matches, steps }: Found): Matching => ({ matches, steps, list: [...matches.values()] })

/** Adds the recipients of a group, and returns the steps that this took. */
export function collect(table: RoutingTable, group: FilterGroup, matches: Map<string, Match>): number {
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
