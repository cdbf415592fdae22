// Who sees the user and password in an agent's endpoint: the agent itself, with the scope to change them, and the
// org-admin. Others see `***` in their place.
import { maskedEndpoint, openUser, type ShowEndpoint } from '../agents/endpoint-user.ts'
import type { Secrets } from '../kernel/secrets.ts'
import { holds, isOrgAdmin, type Principal } from './principal.ts'

export const endpointSeenBy =
  (secrets: Secrets, viewer: Principal): ShowEndpoint =>
  (agent) => {
    const isOwn = viewer.id === agent.id && holds(viewer, 'receive')
    if (agent.delivery_endpoint === null || !(isOwn || isOrgAdmin(viewer))) return maskedEndpoint(agent)
    return openUser(secrets, agent, agent.delivery_endpoint)
  }
