import type { Agent } from '@sensorium/client'
import { useMemo } from 'react'
import { useCall } from './calls.ts'

/** Returns the newest 200 agents by id. Older agents are shown by their id. */
export function useAgents(enabled = true): ReadonlyMap<string, Agent> {
  const { data } = useCall('listAgents', { query: { limit: 200 } }, { enabled })
  return useMemo(() => new Map(data?.agents.map((agent) => [agent.id, agent])), [data])
}
