// Whose memory it is, by name. Memories of an org-admin, and of agents past the first page, have their id.
import { useCall } from '../../api/calls.ts'

export function useOwner(): (id: string) => string {
  const agents = useCall('listAgents', { query: { limit: 200 } })
  return (id) => agents.data?.agents.find((agent) => agent.id === id)?.name ?? id
}
