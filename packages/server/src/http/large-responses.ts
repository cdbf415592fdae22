// Responses that are made while they are read, and bodies that are worked off while their sender waits. Each holds a
// row of up to 10 MB, or a file, for as long as it lasts, which may be long: so an agent has a few of them under way,
// its tenant a few more and the node so many, and the rest wait.
import type { Principal } from '../auth/principal.ts'
import { makeTurns, type Turns } from '../kernel/turns.ts'

interface Shares {
  /** What waits, in a refusal. */
  what: string
  ofNode: number
  ofTenant: number
  ofAgent: number
}

export type InTurn = (principal: Principal, work: () => Promise<void>) => Promise<void>

function makeInTurn({ what, ofNode, ofTenant, ofAgent }: Shares): InTurn {
  const node = makeTurns({ what, atOnce: ofNode })
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

  return (principal, work) => {
    const { tenantId, id } = principal
    const inNode = () => node.take(tenantId, id, work)
    const inTenant = () => inShare(`tenant ${tenantId}`, ofTenant, principal, inNode)
    return inShare(`agent ${tenantId} ${id}`, ofAgent, principal, inTenant)
  }
}

export const largeResponses = (): InTurn =>
  makeInTurn({ what: 'large responses waiting', ofNode: 16, ofTenant: 4, ofAgent: 2 })

export const imports = (): InTurn => makeInTurn({ what: 'imports waiting', ofNode: 8, ofTenant: 2, ofAgent: 1 })
