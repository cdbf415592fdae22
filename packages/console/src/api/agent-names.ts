import type { Agent } from '@sensorium/client'
import { useMemo } from 'react'
import { useCall } from './calls.ts'

export const AGENTS_KNOWN = 200

/** Returns the newest 200 agents by id. Older agents are shown by their id. */
export function useAgents(enabled = true): ReadonlyMap<string, Agent> {
  const { data } = useCall('listAgents', { query: { limit: AGENTS_KNOWN } }, { enabled })
  return useMemo(() => new Map(data?.agents.map((agent) => [agent.id, agent])), [data])
}
