// Names of those who act in a tenant and receive its events.
import type { Agent } from '@sensorium/client'
import { useCallback, useMemo } from 'react'
import { useCall } from './calls.ts'

export const AGENTS_KNOWN = 200

/** Returns the newest 200 agents by id. Older agents are shown by their id. */
export function useAgents(enabled = true): ReadonlyMap<string, Agent> {
  const { data } = useCall('listAgents', { query: { limit: AGENTS_KNOWN } }, { enabled })
  return useMemo(() => new Map(data?.agents.map((agent) => [agent.id, agent])), [data])
}

/** Whether an id is that of the org-admin, who has a mailbox as a member of channels, but is no agent and has no page. */
export const isOrgAdmin = (id: string): boolean => id.startsWith('adm_')

/** Returns how an agent or the org-admin is called: an agent that is not known by its id. */
export function usePrincipalName(enabled = true): (id: string) => string {
  const agents = useAgents(enabled)
  return useCallback((id) => (isOrgAdmin(id) ? 'Org admin' : (agents.get(id)?.name ?? id)), [agents])
}
