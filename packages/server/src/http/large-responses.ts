// Responses that are made while they are read. Each holds a row of up to 10 MB for as long as its reader takes, which
// may be long: so an agent has a few of them under way, its tenant a few more and the node so many, and the rest wait.
import type { Principal } from '../auth/principal.ts'
import { makeTurns, type Turns } from '../kernel/turns.ts'

const OF_THE_NODE = 16
const OF_A_TENANT = 4
const OF_AN_AGENT = 2

export type SendInTurn = (principal: Principal, send: () => Promise<void>) => Promise<void>

export function makeSendInTurn(): SendInTurn {
  const what = 'large responses waiting'
  const ofNode = makeTurns({ what, atOnce: OF_THE_NODE })
  const shares = new Map<string, { turns: Turns; users: number }>()

  async function inShare(key: string, atOnce: number, { tenantId, id }: Principal, work: () => Promise<void>) {
    let share = shares.get(key)
    if (!share) shares.set(key, (share = { turns: makeTurns({ what, atOnce }), users: 0 }))
    share.users++
    try {
      await share.turns.take(tenantId, id, work)
    } finally {
      if (--share.users === 0) shares.delete(key)
    }
  }

  return (principal, send) => {
    const { tenantId, id } = principal
    const inNode = () => ofNode.take(tenantId, id, send)
    const inTenant = () => inShare(`tenant ${tenantId}`, OF_A_TENANT, principal, inNode)
    return inShare(`agent ${tenantId} ${id}`, OF_AN_AGENT, principal, inTenant)
  }
}
