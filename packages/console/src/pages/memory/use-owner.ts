// The name of a memory's owner. An org-admin, or an agent past the first page, is shown by id.
import { useCall } from '../../api/calls.ts'

export function useOwner(): (id: string) => string {
  const agents = useCall('listAgents', { query: { limit: 200 } })
  return (id) => agents.data?.agents.find((agent) => agent.id === id)?.name ?? id
}
