// Measures the chain of causes above an event: an agent that answers its own events would otherwise go on for ever.
import { ruleBroken, type Failure } from '../kernel/failure.ts'
import type { Db } from '../store/db.ts'
import type { PreparedEvent } from './envelope.ts'
import { readChains, storedAmong, type Chain } from './sql.ts'

const MAX_ANCESTORS = 32

interface Caused {
  submission: { tenantId: string; events: readonly PreparedEvent[] }
  /** What routing has decided about each of the events. */
  routed: { events: readonly { refused: Failure | null }[] }
}

const NONE: ReadonlySet<PreparedEvent> = new Set()

/** The causes that events of the group name, by tenant. */
function causesOf(group: readonly Caused[]): Map<string, Set<string>> {
  const causes = new Map<string, Set<string>>()
  for (const { submission } of group) {
    const { tenantId, events } = submission
    for (const { causationId } of events) {
      if (causationId !== null) causes.set(tenantId, (causes.get(tenantId) ?? new Set()).add(causationId))
    }
  }
  return causes
}

/** Reads the stored chains that begin with these causes, by tenant and cause. */
async function storedChains(tx: Db, causes: ReadonlyMap<string, ReadonlySet<string>>): Promise<Map<string, Chain>> {
  const stored = new Map<string, Chain>()
  await Promise.all(
    Array.from(causes, async ([tenantId, ids]) => {
      for (const chain of await readChains(tx, tenantId, [...ids], MAX_ANCESTORS))
        stored.set(`${tenantId} ${chain.start}`, chain)
    }),
  )
  return stored
}

/**
 * Returns the events whose chain of causes is too long. The chain is walked each time and not stored: an event published
 * later may lengthen the chain of an earlier one, or close it to a circle. So a retry of an accepted event, which is a
 * duplicate, is never among them. A cause may be in the same group, before the event.
 */
export async function tooDeepAmong(tx: Db, group: readonly Caused[]): Promise<ReadonlySet<PreparedEvent>> {
  const causes = causesOf(group)
  if (causes.size === 0) return NONE
  const stored = await storedChains(tx, causes)
  const before = new Map<string, string | null>()

  function lengthFrom(tenantId: string, cause: string | null): number {
    let length = 0
    while (cause !== null && length <= MAX_ANCESTORS) {
      const chain = stored.get(`${tenantId} ${cause}`)
      const next = chain ? chain.beyond : before.get(`${tenantId} ${cause}`)
      if (next === undefined) return length
      length += chain?.length ?? 1
      cause = next
    }
    return length
  }

  const deep: { tenantId: string; event: PreparedEvent }[] = []
  for (const { submission, routed } of group) {
    const { tenantId, events } = submission
    for (const [i, event] of events.entries()) {
      // What is refused is not stored, and the second of two equal ids is a duplicate.
      if (routed.events[i]!.refused || before.has(`${tenantId} ${event.id}`)) continue
      if (lengthFrom(tenantId, event.causationId) <= MAX_ANCESTORS)
        before.set(`${tenantId} ${event.id}`, event.causationId)
      else deep.push({ tenantId, event })
    }
  }
  return deep.length === 0 ? NONE : withNewIds(tx, deep)
}

/** Returns the events whose ids their tenants have not stored. */
async function withNewIds(
  tx: Db,
  given: readonly { tenantId: string; event: PreparedEvent }[],
): Promise<Set<PreparedEvent>> {
  const found = await Promise.all(
    Array.from(
      Map.groupBy(given, ({ tenantId }) => tenantId),
      async ([tenantId, ofTenant]) => {
        const events = ofTenant.map(({ event }) => event)
        const known = await storedAmong(
          tx,
          tenantId,
          events.map(({ id }) => id),
        )
        return events.filter(({ id }) => !known.has(id))
      },
    ),
  )
  return new Set(found.flat())
}

export const tooDeep = (event: PreparedEvent): Failure =>
  ruleBroken('causation_too_deep', `The chain of causation above this event is longer than ${MAX_ANCESTORS}`, {
    event_id: event.id,
    causation_id: event.causationId,
  })
