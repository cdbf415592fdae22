import type { LiveEvents } from '../../api/live-events.ts'
import { counted } from '../../components/counted.ts'

/** Says how many are shown: `12 events`, or `the newest 2,000 of 5,431 events`. */
export function countOf({ events, arrived }: LiveEvents): string {
  const all = counted(arrived, 'event')
  return events.length < arrived ? `the newest ${events.length.toLocaleString()} of ${all}` : all
}
