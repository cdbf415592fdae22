// Where submissions wait to be published: tenants take turns, and senders inside a tenant. Where nodes share a store, a
// tenant of which nothing is under way is urgent: it shares no transaction with a flood and waits for no lane of it. In
// a group with the flood's rows, a neighbour's event took as long as those.
import type { BatchQueue, Waiting } from '../kernel/batches.ts'
import { fairQueue } from '../kernel/fair-queue.ts'
import type { Submission } from './submission.ts'

export interface PublishQueue<Item, Result> extends BatchQueue<Waiting<Item, Result>> {
  /** A group with these begins; what is returned says that it has ended. */
  begin(group: readonly Item[]): () => void
}

export function makePublishQueue<Item extends { submission: Submission }, Result>(
  isShared: boolean,
): PublishQueue<Item, Result> {
  const queue = fairQueue<Waiting<Item, Result>>()
  /** How many groups each tenant has something in. */
  const groupsOf = new Map<string, number>()
  const isUnderWay = (tenantId: string): boolean => groupsOf.has(tenantId)

  function end(tenantId: string): void {
    const left = groupsOf.get(tenantId)! - 1
    if (left === 0) groupsOf.delete(tenantId)
    else groupsOf.set(tenantId, left)
  }

  return {
    get size() {
      return queue.size
    },
    push: (waiting) => queue.push(waiting.item.submission.tenantId, waiting.item.submission.senderId, waiting),
    take: queue.take,
    ...(isShared
      ? { urgent: { has: () => queue.hasOther(isUnderWay), take: (isFull) => queue.take(isFull, isUnderWay) } }
      : {}),
    begin(group) {
      const tenants = new Set(group.map(({ submission }) => submission.tenantId))
      for (const tenantId of tenants) groupsOf.set(tenantId, (groupsOf.get(tenantId) ?? 0) + 1)
      return () => {
        for (const tenantId of tenants) end(tenantId)
      }
    },
  }
}
