// Publishing within the quotas of a tenant. Each event stands or falls alone: those there is room for are published,
// the rest are refused. Room is taken after routing, so what is refused for another reason takes none, and is told that
// reason. An event whose id was accepted before, or appears earlier in the batch, needs no room: it is published, and
// found to be a duplicate.
import type { Failure } from '../kernel/failure.ts'
import type { Quotas } from '../tenants/quotas.ts'
import type { Reads } from '../store/db.ts'
import { readAhead, tooDeep, tooDeepAmong } from './causation.ts'
import type { PreparedEvent } from './envelope.ts'
import type { Routed } from './route-events.ts'
import type { PublishOutcome, Submission } from './submission.ts'
import { storedAmong } from './sql.ts'

/** The room that a submission has taken. */
export interface QuotaRoom {
  /** Takes room for the events that routing lets pass, and refuses those there is none for. Events may be a part. */
  fit(events: readonly PreparedEvent[], routed: Routed): Promise<Routed>
  /** Reports what is stored, and gives back the rest. */
  end(outcomes: readonly PublishOutcome[]): void
}

const bytesOf = (event: PreparedEvent): number => Buffer.byteLength(event.text)

/** The most bytes that each id may take: of several events with one id at most one is stored. */
function bytesById(events: readonly PreparedEvent[]): Map<string, number> {
  const bytes = new Map<string, number>()
  for (const event of events) bytes.set(event.id, Math.max(bytes.get(event.id) ?? 0, bytesOf(event)))
  return bytes
}

/** Returns null for a tenant without a quota on what it publishes. */
export function roomFor(db: Reads, quotas: Quotas, { tenantId }: Submission): QuotaRoom | null {
  if (!quotas.limitsPublishing(tenantId)) return null
  const taken = new Map<string, number>()

  /** Returns the failures of the ids there is no room for. */
  async function take(wanted: ReadonlyMap<string, number>): Promise<Map<string, Failure>> {
    const refused = new Map<string, Failure>()
    for (const [id, bytes] of wanted) {
      if (taken.has(id)) continue
      const failure = await quotas.take(tenantId, 1, bytes)
      if (failure) refused.set(id, failure)
      else taken.set(id, bytes)
    }
    return refused
  }

  function release(ids: Iterable<string>): void {
    for (const id of ids) {
      const bytes = taken.get(id)
      if (bytes !== undefined) quotas.release(tenantId, 1, bytes)
      taken.delete(id)
    }
  }

  return {
    async fit(events, routed) {
      const passed = events.filter((_, i) => routed.events[i]!.refused === null)
      if ((await take(bytesById(passed))).size === 0) return routed
      // There is not enough for all: those that will not be stored give theirs to the others.
      const group = [{ submission: { tenantId, events }, routed }]
      const known = await storedAmong(
        db,
        tenantId,
        passed.map(({ id }) => id),
      )
      const deep = await tooDeepAmong(db, group, await readAhead(db, group))
      const wanted = bytesById(passed.filter((event) => !known.has(event.id) && !deep.has(event)))
      release(passed.map(({ id }) => id).filter((id) => !wanted.has(id)))
      const refused = await take(wanted)
      return {
        ...routed,
        events: routed.events.map((was, i) => {
          const event = events[i]!
          const failure = deep.has(event) ? tooDeep(event) : refused.get(event.id)
          return was.refused || !failure ? was : { matches: [], refused: failure, isSettled: true }
        }),
      }
    },
    end(outcomes) {
      for (const outcome of outcomes) {
        if (outcome.status !== 'accepted') continue
        const bytes = taken.get(outcome.eventId)
        if (bytes === undefined) continue
        taken.delete(outcome.eventId)
        quotas.written(tenantId, 1, bytes)
      }
      release([...taken.keys()])
    },
  }
}
