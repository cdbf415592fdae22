// Events to try a filter against: the latest of the tenant for an org-admin, otherwise the latest that the agent
// acknowledged.
import type { Agent, Client, Event } from '@sensorium/client'
import { useQuery } from '@tanstack/react-query'
import { forFilters } from '../../api/exact-numbers.ts'
import { useSession } from '../../session/session.ts'

interface TriedEvent extends Readonly<Record<string, unknown>> {
  id: string
  type: string
  time: string | null
}

/** Each event of a tenant costs a request of its own, so there are only a few. */
const OF_THE_TENANT = 20
const OF_THE_AGENT = 50

async function ofTenant(client: Client, signal: AbortSignal): Promise<TriedEvent[]> {
  const { events } = await client.events.list({ limit: OF_THE_TENANT }, { signal })
  const traces = await Promise.all(events.map(({ id }) => client.events.get(id, { signal }).catch(() => null)))
  return traces
    .map((trace) => trace?.event ?? null)
    .filter((event): event is Event => event !== null)
    .map((event) => forFilters({ ...event, time: event.time ?? null }))
}

async function ofAgent(client: Client, id: string, signal: AbortSignal): Promise<TriedEvent[]> {
  const { events } = await client.agents.recentEvents(id, OF_THE_AGENT, { signal })
  return events.map(({ event_id, type, source, subject, time, data }) => ({
    id: event_id,
    type,
    source,
    ...(subject === null ? {} : { subject }),
    time,
    data: forFilters(data),
  }))
}

export function useRecentEvents(agent: Agent) {
  const { client, kind } = useSession()
  return useQuery({
    queryKey: ['events to try', agent.id],
    queryFn: ({ signal }) => (kind === 'org_admin' ? ofTenant(client, signal) : ofAgent(client, agent.id, signal)),
    staleTime: 30_000,
  })
}
