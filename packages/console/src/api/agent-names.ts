import type { Agent } from '@sensorium/client'
import { useMemo } from 'react'
import { useCall } from './calls.ts'

/** Agents by their id, the newest 200; of others the id has to do. */
export function useAgents(enabled = true): ReadonlyMap<string, Agent> {
  const { data } = useCall('listAgents', { query: { limit: 200 } }, { enabled })
  return useMemo(() => new Map(data?.agents.map((agent) => [agent.id, agent])), [data])
}
