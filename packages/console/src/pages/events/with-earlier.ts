import type { EventSummary } from '@sensorium/client'

/**
 * Adds to the events of a live list those found by a search that it has not, in their place: some are from before, and
 * some were accepted while nobody watched. Those after `until` are left out.
 */
export function withEarlier(
  live: readonly EventSummary[],
  found: readonly EventSummary[],
  until?: string,
): readonly EventSummary[] {
  const known = new Set(live.map(({ id }) => id))
  const others = found.filter(({ id, received_at }) => !known.has(id) && (until === undefined || received_at <= until))
  if (others.length === 0) return live
  // Times are written so that their order is that of their texts.
  return [...live, ...others].toSorted(({ received_at: one }, { received_at: other }) =>
    one === other ? 0 : one > other ? -1 : 1,
  )
}
