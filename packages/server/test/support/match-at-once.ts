import { matchInSlices, type MatchTools } from '../../src/routing/match.ts'
import type { Envelope } from '../../src/routing/filter.ts'
import type { Matching, RoutingTable } from '../../src/routing/table.ts'

/** Matches an event without giving other work a turn. */
export function matchAtOnce(table: RoutingTable, event: Envelope, tools: MatchTools): Matching {
  const slices = matchInSlices(table, event, tools)
  for (;;) {
    const next = slices.next()
    if (next.done) return next.value
  }
}
