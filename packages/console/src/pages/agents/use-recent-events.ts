// Events to try a filter against: the latest that the agent acknowledged.
import type { Agent } from '@sensorium/client'
import { useCall } from '../../api/calls.ts'

export interface TriedEvent extends Readonly<Record<string, unknown>> {
  id: string
  type: string
  time: string | null
}

export function useRecentEvents(agent: Agent) {
  const recent = useCall('listRecentEvents', { params: { id: agent.id }, query: { limit: 50 } })
  return {
    ...recent,
    data: recent.data?.events.map(
      ({ event_id, type, source, subject, time, data }): TriedEvent => ({
        id: event_id,
        type,
        source,
        ...(subject === null ? {} : { subject }),
        time,
        data,
      }),
    ),
  }
}
