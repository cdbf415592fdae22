// Limits how many pieces of work hold much memory at once, such as responses that last until their client has read
// them: an agent has a few under way, its tenant a few more and the node a fixed number, of which some are kept for
// tenants that have none. The rest wait.
import { makeTurns, type Turns } from './turns.ts'

/** For `mostWaiting` where every request may wait. No more requests than this are in hand. */
export const ANY_NUMBER = 10_000

interface Shares {
  /** What waits, as a refusal names it. */
  what: string
  ofNode: number
  /** How many of the node's are for tenants that have none under way. */
  keptForOthers?: number
  ofTenant: number
  ofAgent: number
  /** How many may wait, per agent and in all, instead of the defaults of turns.ts. */
  mostWaiting?: number
}

export type InTurn = (who: { tenantId: string; id: string }, work: () => Promise<void>) => Promise<void>

export function makeInTurn({ what, ofNode, keptForOthers: kept = 0, ofTenant, ofAgent, mostWaiting }: Shares): InTurn {
  const most = mostWaiting === undefined ? {} : { perAgent: mostWaiting, total: mostWaiting }
  const node = makeTurns({ what, atOnce: ofNode, kept, ...most })
  const shares = new Map<string, { turns: Turns; users: number }>()

  async function inShare(
    key: string,
    atOnce: number,
    { tenantId, id }: Parameters<InTurn>[0],
    work: () => Promise<void>,
  ): Promise<void> {
    let share = shares.get(key)
    if (!share) shares.set(key, (share = { turns: makeTurns({ what, atOnce, ...most }), users: 0 }))
    share.users++
    try {
      await share.turns.take(tenantId, id, work)
    } finally {
      if (--share.users === 0) shares.delete(key)
    }
  }

  return (who, work) => {
    const { tenantId, id } = who
    const inNode = () => node.take(tenantId, id, work)
    const inTenant = () => inShare(`tenant ${tenantId}`, ofTenant, who, inNode)
    return inShare(`agent ${tenantId} ${id}`, ofAgent, who, inTenant)
  }
}
