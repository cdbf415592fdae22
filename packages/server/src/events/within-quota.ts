// Publishing within the quotas of a tenant. Each event stands or falls alone: those there is room for are published,
// the rest are refused. An event whose id was accepted before, or appears earlier in the batch, needs no room: it is
// published, and found to be a duplicate.
import type { Failure } from '../kernel/failure.ts'
import type { Quotas } from '../tenants/quotas.ts'
import type { Store } from '../store/db.ts'
import type { PreparedEvent } from './envelope.ts'
import type { Publish } from './publish.ts'
import type { PublishOutcome, Submission } from './submission.ts'
import { storedAmong } from './sql.ts'

const bytesOf = (event: PreparedEvent): number => Buffer.byteLength(event.text)

/** The most bytes that each id may take: of several events with one id at most one is stored. */
function bytesById(events: readonly PreparedEvent[]): Map<string, number> {
  const bytes = new Map<string, number>()
  for (const event of events) bytes.set(event.id, Math.max(bytes.get(event.id) ?? 0, bytesOf(event)))
  return bytes
}

export function withinQuota(store: Store, publish: Publish, quotas: Quotas): Publish {
  /** Takes room for each id and notes it in `taken`. Returns the failures of the ids that have to be refused. */
  async function makeRoom(
    tenantId: string,
    wanted: ReadonlyMap<string, number>,
    taken: Map<string, number>,
  ): Promise<Map<string, Failure>> {
    const refused = new Map<string, Failure>()
    for (const [id, bytes] of wanted) {
      const failure = await quotas.take(tenantId, 1, bytes)
      if (failure) refused.set(id, failure)
      else taken.set(id, bytes)
    }
    return refused
  }

  /** The same, but if there is not enough room for all, ids that are already stored give theirs to the others. */
  async function makeRoomForNew(
    tenantId: string,
    wanted: ReadonlyMap<string, number>,
    taken: Map<string, number>,
  ): Promise<Map<string, Failure>> {
    const refused = await makeRoom(tenantId, wanted, taken)
    if (refused.size === 0) return refused
    const known = await storedAmong(store, tenantId, [...wanted.keys()])
    for (const id of known) {
      const bytes = taken.get(id)
      if (bytes !== undefined) quotas.release(tenantId, 1, bytes)
      taken.delete(id)
      refused.delete(id)
    }
    return makeRoom(tenantId, new Map([...refused.keys()].map((id) => [id, wanted.get(id)!])), taken)
  }

  async function limited(submission: Submission): Promise<PublishOutcome[]> {
    const { tenantId, events, record } = submission
    const taken = new Map<string, number>()
    try {
      const refused = await makeRoomForNew(tenantId, bytesById(events), taken)
      const admitted = events.filter(({ id }) => !refused.has(id))
      /** The outcomes of all events, in order. */
      const together = (outcomes: readonly PublishOutcome[]): PublishOutcome[] => {
        const left = [...outcomes]
        return events.map(({ id }) => {
          const failure = refused.get(id)
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
        const { id } = admitted[i]!
        const bytes = taken.get(id)
        if (status !== 'accepted' || bytes === undefined) continue
        taken.delete(id)
        quotas.written(tenantId, 1, bytes)
      }
      return together(outcomes)
    } finally {
      for (const bytes of taken.values()) quotas.release(tenantId, 1, bytes)
    }
  }

  return (submission) => (quotas.limitsPublishing(submission.tenantId) ? limited(submission) : publish(submission))
}
