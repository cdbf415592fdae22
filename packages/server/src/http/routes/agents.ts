// /agents and /agents/{id}/keys
import { operations } from '@sensorium/contract'
import { requireAgent } from '../../agents/get.ts'
import { listAgents } from '../../agents/list.ts'
import { registerAgent } from '../../agents/register.ts'
import { setAgentStatus, updateAgent } from '../../agents/update.ts'
import type { Identify } from '../../auth/identify.ts'
import { listKeys, mintKey, revokeKey, type KeyTools } from '../../auth/keys.ts'
import { created, noContent, ok } from '../answer.ts'
import { read, write, type Route } from '../route.ts'

export interface AgentRouteTools extends KeyTools {
  identify: Identify
  /** An agent changed: it may be pushed to now, or elsewhere. */
  changed(agentId: string): void
}

export function agentRoutes(tools: AgentRouteTools): Route[] {
  const { makeId, now, identify, changed } = tools
  return [
    read(operations.listAgents, async ({ principal, query }, db) =>
      ok(await listAgents(db, principal.tenantId, query)),
    ),

    write(operations.registerAgent, async ({ principal, body }, tx) =>
      created(await registerAgent(tx, makeId, now(), principal.tenantId, body)),
    ),

    read(operations.getAgent, async ({ principal, params }, db) =>
      ok(await requireAgent(db, principal.tenantId, params.id)),
    ),

    write(operations.updateAgent, async ({ principal, params, body, afterCommit }, tx) => {
      afterCommit(() => changed(params.id))
      return ok(await updateAgent(tx, now(), principal.tenantId, params.id, body))
    }),

    write(operations.deactivateAgent, async ({ principal, params, afterCommit }, tx) => {
      await setAgentStatus(tx, now(), principal.tenantId, params.id, 'inactive')
      afterCommit(() => identify.forget(principal.tenantId))
      return ok({ status: 'inactive' })
    }),

    write(operations.activateAgent, async ({ principal, params, afterCommit }, tx) => {
      await setAgentStatus(tx, now(), principal.tenantId, params.id, 'active')
      afterCommit(() => {
        identify.forget(principal.tenantId)
        changed(params.id)
      })
      return ok({ status: 'active' })
    }),

    read(operations.listKeys, async ({ principal, params }, db) =>
      ok({ keys: await listKeys(db, principal, params.id) }),
    ),

    write(operations.mintKey, async ({ principal, params, body }, tx) => ({
      ...created(await mintKey(tx, tools, principal, params.id, body)),
      secret: true,
    })),

    write(operations.revokeKey, async ({ principal, params, afterCommit }, tx) => {
      await revokeKey(tx, principal, params.id, params.key_id, now())
      afterCommit(() => identify.forget(principal.tenantId))
      return noContent()
    }),
  ]
}
