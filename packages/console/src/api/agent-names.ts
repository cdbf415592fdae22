// Names of those who act in a tenant and receive its events.
import type { Agent } from '@sensorium/client'
import { useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useSession } from '../session/session.ts'
import { useCall } from './calls.ts'
import { findAgent, type NamedAgent } from './find-agents.ts'

export const AGENTS_KNOWN = 200
/** How many names of other agents are looked up for one part of a page, and how long each is kept. */
const MOST_FOUND = 500
const FOUND_MS = 300_000

const useNewest = (enabled: boolean) => useCall('listAgents', { query: { limit: AGENTS_KNOWN } }, { enabled })

/** Returns the newest 200 agents by id. */
export function useAgents(enabled = true): ReadonlyMap<string, Agent> {
  const { data } = useNewest(enabled)
  return useMemo(() => new Map(data?.agents.map((agent) => [agent.id, agent])), [data])
}

/**
 * Whether an id is that of the org-admin, who has a mailbox as a member of channels, but is no agent and has no page.
 */
export const isOrgAdmin = (id: string): boolean => id.startsWith('adm_')

const foundIn = (results: readonly { data: NamedAgent | null | undefined }[]): NamedAgent[] =>
  results.flatMap(({ data }) => data ?? [])

/**
 * Returns how an agent or the org-admin is called. Of the ids that are shown, those of older agents are looked up; an
 * agent that is not known is called by its id.
 */
export function usePrincipalName(shown: readonly (string | null)[], enabled = true): (id: string) => string {
  const { client } = useSession()
  const agents = useAgents(enabled)
  const total = useNewest(enabled).data?.total ?? 0
  const isOlder = (id: string | null): id is string =>
    total > AGENTS_KNOWN && id !== null && id.startsWith('agt_') && !agents.has(id)
  const older = [...new Set(shown.filter(isOlder))].slice(0, MOST_FOUND)
  const found = useQueries({
    queries: older.map((id) => ({
      queryKey: ['agent name', id],
      queryFn: () => findAgent(client, id, total),
      staleTime: FOUND_MS,
    })),
    combine: foundIn,
  })
  return useMemo(() => {
    const names = new Map([...found, ...agents.values()].map(({ id, name }) => [id, name]))
    return (id) => (isOrgAdmin(id) ? 'Org admin' : (names.get(id) ?? id))
  }, [agents, found])
}
