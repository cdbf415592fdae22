// The events of a live view: the newest of them, and how many there were.
import type { EventSummary } from '@sensorium/client'

export interface LiveEvents {
  /** Newest first, at most MOST_EVENTS. */
  events: readonly EventSummary[]
  /** How many arrived since the filter was set, while the stream was open; those that are no longer kept included. */
  arrived: number
}

export const MOST_EVENTS = 2_000

/** Adds the events of a second, which are in the order in which they arrived. */
export function addEvents({ events, arrived }: LiveEvents, added: readonly EventSummary[]): LiveEvents {
  if (added.length === 0) return { events, arrived }
  return { events: [...added.toReversed(), ...events].slice(0, MOST_EVENTS), arrived: arrived + added.length }
}
