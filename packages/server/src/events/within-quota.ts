// Publishing within the quotas of a tenant. Each event stands or falls alone: those there is room for are published,
// the rest are refused. A retry of an event that was accepted needs no room: it is published, and found to be a
// duplicate.
import type { Failure } from '../kernel/failure.ts'
import type { Quotas } from '../tenants/quotas.ts'
import type { Store } from '../store/db.ts'
import type { PreparedEvent } from './envelope.ts'
import type { Publish, PublishOutcome, Submission } from './publish.ts'
import { storedAmong } from './sql.ts'

const bytesOf = (event: PreparedEvent): number => Buffer.byteLength(event.text)

export function withinQuota(store: Store, publish: Publish, quotas: Quotas): Publish {
  /** Takes room for each event; gives back why there is none for those that have to be refused. */
  async function makeRoom(
    tenantId: string,
    events: readonly PreparedEvent[],
    counted: Set<PreparedEvent>,
  ): Promise<Map<PreparedEvent, Failure>> {
    const refused = new Map<PreparedEvent, Failure>()
    for (const event of events) {
      const failure = await quotas.take(tenantId, 1, bytesOf(event))
      if (failure) refused.set(event, failure)
      else counted.add(event)
    }
    if (refused.size === 0) return refused
    const known = await storedAmong(
      store,
      tenantId,
      [...refused.keys()].map(({ id }) => id),
    )
    for (const { id } of counted) known.add(id)
    for (const event of refused.keys()) if (known.has(event.id)) refused.delete(event)
    return refused
  }

  async function limited(submission: Submission): Promise<PublishOutcome[]> {
    const { tenantId, events, record } = submission
    const counted = new Set<PreparedEvent>()
    const giveBack = (): void => {
      for (const event of counted) quotas.release(tenantId, 1, bytesOf(event))
    }
    try {
      const refused = await makeRoom(tenantId, events, counted)
      const admitted = events.filter((event) => !refused.has(event))
      /** What became of all of them, in order. */
      const together = (outcomes: readonly PublishOutcome[]): PublishOutcome[] => {
        const left = [...outcomes]
        return events.map((event) => {
          const failure = refused.get(event)
          return failure ? { status: 'refused', failure } : left.shift()!
        })
      }
      if (admitted.length === 0) {
        if (record) await store.tx((tx) => record(tx, together([])))
        return together([])
      }
      const outcomes = await publish({
        ...submission,
        events: admitted,
        ...(record ? { record: (tx, made) => record(tx, together(made)) } : {}),
      })
      for (const [i, { status }] of outcomes.entries()) {
        const event = admitted[i]!
        if (status === 'accepted' && counted.delete(event)) quotas.written(tenantId, 1, bytesOf(event))
      }
      return together(outcomes)
    } finally {
      giveBack()
    }
  }

  return (submission) => (quotas.limitsPublishing(submission.tenantId) ? limited(submission) : publish(submission))
}
