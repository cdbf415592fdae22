// /agents and /agents/{id}/keys
import { operations, type Agent } from '@sensorium/contract'
import { showsUser, type ShowEndpoint } from '../agents/endpoint-user.ts'
import { requireAgent } from '../agents/get.ts'
import { listAgents } from '../agents/list.ts'
import { putAgent } from '../agents/put.ts'
import { registerAgent } from '../agents/register.ts'
import { setAgentPaused, setAgentStatus, updateAgent } from '../agents/update.ts'
import { keyPages, mintKey, revokeKey, shownKey, type KeyTools } from '../auth/keys.ts'
import type { Principal } from '../auth/principal.ts'
import { endpointSeenBy } from '../auth/seen-endpoint.ts'
import type { Wakeups } from '../delivery/wake.ts'
import type { Quotas } from '../tenants/quotas.ts'
import type { Announce } from '../store/announce.ts'
import { longList } from './long-list.ts'
import { created, noContent, ok } from './response.ts'
import { read, write, type Binding } from './binding.ts'

interface AgentOperationTools extends KeyTools {
  announce: Announce
  quotas: Quotas
  wakeups: Wakeups
}

export function agentOperations(tools: AgentOperationTools): Binding[] {
  const { makeId, now, announce, quotas, secrets } = tools
  const seenBy = (principal: Principal): ShowEndpoint => endpointSeenBy(secrets, principal)
  // The record of a response that shows the user and password of an endpoint is encrypted.
  const shown = (agent: Agent) => ({ ...ok(agent), secret: showsUser(agent) })
  return [
    read(operations.listAgents, async ({ principal, query }, db) =>
      ok(await listAgents(db, principal.tenantId, query, seenBy(principal))),
    ),

    write(operations.registerAgent, async ({ principal, body }, tx) =>
      created(await registerAgent(tx, quotas, makeId, now(), principal.tenantId, body)),
    ),

    write(operations.putAgent, async ({ principal, params, body }, tx) => {
      const { agent, made, isChanged } = await putAgent(
        tx,
        tools,
        principal.tenantId,
        params.external_id,
        body,
        seenBy(principal),
      )
      return made ? created(agent) : { ...shown(agent), unchanged: !isChanged }
    }),

    read(operations.getAgent, async ({ principal, params }, db) =>
      ok(await requireAgent(db, principal.tenantId, params.id, seenBy(principal))),
    ),

    write(operations.updateAgent, async ({ principal, params, body }, tx) => {
      const { agent, isChanged } = await updateAgent(
        tx,
        tools,
        now(),
        principal.tenantId,
        params.id,
        body,
        seenBy(principal),
      )
      return { ...shown(agent), unchanged: !isChanged }
    }),

    write(operations.deactivateAgent, async ({ principal, params }, tx) => {
      const { isChanged } = await setAgentStatus(tx, announce, now(), principal.tenantId, params.id, 'inactive')
      return { ...ok({ status: 'inactive' }), unchanged: !isChanged }
    }),

    write(operations.activateAgent, async ({ principal, params }, tx) => {
      const { isChanged } = await setAgentStatus(tx, announce, now(), principal.tenantId, params.id, 'active')
      return { ...ok({ status: 'active' }), unchanged: !isChanged }
    }),

    write(operations.pauseAgent, async ({ principal, params }, tx) => {
      const { isChanged } = await setAgentPaused(tx, tools, now(), principal.tenantId, params.id, true)
      return { ...ok({ paused: true }), unchanged: !isChanged }
    }),

    write(operations.resumeAgent, async ({ principal, params }, tx) => {
      const { isChanged } = await setAgentPaused(tx, tools, now(), principal.tenantId, params.id, false)
      return { ...ok({ paused: false }), unchanged: !isChanged }
    }),

    read(operations.listKeys, async ({ principal, params, options }, db) =>
      longList('keys', keyPages(db, principal, params.id), shownKey, options.brief),
    ),

    write(operations.mintKey, async ({ principal, params, body }, tx) => ({
      ...created(await mintKey(tx, tools, principal, params.id, body)),
      secret: true,
    })),

    write(operations.revokeKey, async ({ principal, params }, tx) => {
      await revokeKey(tx, announce, principal, params.id, params.key_id, now())
      return noContent()
    }),
  ]
}
