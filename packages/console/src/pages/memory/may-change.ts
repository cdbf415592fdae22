import type { Memory } from '@sensorium/client'
import { useSession } from '../../session/session.ts'

/** Its owner and org-admins change a memory, with a key that writes. */
export function useMayChange(): (memory: Pick<Memory, 'agent_id'>) => boolean {
  const { can, kind, isSelf } = useSession()
  return ({ agent_id }) => can('memory:write') && (kind === 'org_admin' || isSelf(agent_id))
}
