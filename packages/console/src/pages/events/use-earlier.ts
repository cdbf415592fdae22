// The newest events that the tenant had accepted before a live list began: a list that begins empty looks as if nothing
// worked.
import type { EventSummary } from '@sensorium/client'
import { useMemo } from 'react'
import { useCall } from '../../api/calls.ts'
import type { LiveView } from '../../api/live-store.ts'
import { useSettled } from '../../components/use-settled.ts'
import { withEarlier } from './with-earlier.ts'

const EARLIER = 50

interface EarlierOptions {
  /** A pattern of types. */
  type?: string
  isWanted?: boolean
  /** Events that were accepted after this time are left out, as while the list is held. */
  until?: string | undefined
}

/**
 * Returns the events of a live list together with the newest of these types that it has not, newest first: those of
 * before, and those that were accepted while nobody watched.
 */
export function useWithEarlier(
  { events, arrived, error }: LiveView,
  { type = '', isWanted = true, until }: EarlierOptions = {},
): readonly EventSummary[] {
  // Every search looks through up to 10,000 events, so one for each letter is too many.
  const settled = useSettled(type)
  // Nothing is between a list that has dropped its oldest events and what came before.
  const isComplete = events.length === arrived
  const isShown = isWanted && isComplete && error === null
  const query = settled === '' ? { limit: EARLIER } : { limit: EARLIER, type: settled }
  const { data } = useCall('listEvents', { query }, { enabled: isShown })
  return useMemo(() => {
    return isShown && data !== undefined ? withEarlier(events, data.events, until) : events
  }, [isShown, data, events, until])
}
