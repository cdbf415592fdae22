// The newest events that the tenant had accepted before a live list began: a list that begins empty looks as if nothing
// worked.
import type { EventSummary } from '@sensorium/client'
import { useMemo } from 'react'
import { useCall } from '../../api/calls.ts'
import type { LiveView } from '../../api/live-store.ts'
import { useSettled } from '../../components/use-settled.ts'

const EARLIER = 50
const NONE: readonly EventSummary[] = []

/** Returns the events of these types that are older than those of a live list, newest first. */
export function useEarlier({ events, arrived, error }: LiveView, type = '', isWanted = true): readonly EventSummary[] {
  // Every search looks through up to 10,000 events, so one for each letter is too many.
  const settled = useSettled(type)
  // Nothing is between a list that has dropped its oldest events and what came before.
  const isComplete = events.length === arrived
  const isShown = isWanted && isComplete && error === null
  const query = settled === '' ? { limit: EARLIER } : { limit: EARLIER, type: settled }
  const { data } = useCall('listEvents', { query }, { enabled: isShown })
  return useMemo(() => {
    if (!isShown || data === undefined) return NONE
    const oldest = events.at(-1)?.received_at
    const known = new Set(events.map(({ id }) => id))
    return data.events.filter(
      ({ id, received_at }) => !known.has(id) && (oldest === undefined || received_at <= oldest),
    )
  }, [isShown, data, events])
}
