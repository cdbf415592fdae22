import type { Memory } from '@sensorium/client'
import { useSession } from '../../session/session.ts'

/** Only the owner of a memory and org-admins may change it, with a key that may write. */
export function useMayChange(): (memory: Pick<Memory, 'agent_id'>) => boolean {
  const { can, kind, isSelf } = useSession()
  return ({ agent_id }) => can('memory:write') && (kind === 'org_admin' || isSelf(agent_id))
}
