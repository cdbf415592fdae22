// Publishing within the quotas of a tenant. Each event stands or falls alone: those there is room for are published, the
// rest are refused.
import type { Quotas } from '../tenants/quotas.ts'
import type { Store } from '../store/db.ts'
import type { Publish, PublishOutcome, Submission } from './publish.ts'

export function withinQuota(store: Store, publish: Publish, quotas: Quotas): Publish {
  async function limited(submission: Submission): Promise<PublishOutcome[]> {
    const { tenantId, events, remember } = submission
    const refused = new Map<number, PublishOutcome>()
    for (const [i, event] of events.entries()) {
      const failure = await quotas.take(tenantId, 1, Buffer.byteLength(event.text))
      if (failure) refused.set(i, { status: 'refused', failure })
    }
    /** What became of all of them, in order. */
    const together = (outcomes: readonly PublishOutcome[]): PublishOutcome[] => {
      const left = [...outcomes]
      return events.map((_, i) => refused.get(i) ?? left.shift()!)
    }
    const room = events.filter((_, i) => !refused.has(i))
    if (room.length === 0) {
      if (remember) await store.tx((tx) => remember(tx, together([])))
      return together([])
    }
    const giveBack = (outcomes: readonly (PublishOutcome | null)[]): void => {
      for (const [i, outcome] of outcomes.entries())
        if (outcome?.status !== 'accepted') quotas.release(tenantId, 1, Buffer.byteLength(room[i]!.text))
    }
    try {
      const outcomes = await publish({
        ...submission,
        events: room,
        ...(remember ? { remember: (tx, made) => remember(tx, together(made)) } : {}),
      })
      giveBack(outcomes)
      return together(outcomes)
    } catch (error) {
      giveBack(room.map(() => null))
      throw error
    }
  }

  return (submission) => (quotas.limitsPublishing(submission.tenantId) ? limited(submission) : publish(submission))
}
