// Measures the chain of causes above an event: an agent that answers its own events would otherwise go on for ever.
import { ruleBroken, type Failure } from '../kernel/failure.ts'
import type { Db } from '../store/db.ts'
import type { PreparedEvent } from './envelope.ts'
import { readChains, type Chain } from './sql.ts'

export const MAX_ANCESTORS = 32

interface Caused {
  tenantId: string
  events: readonly PreparedEvent[]
}

/** The causes that events of the group name, by tenant. */
function causesOf(group: readonly Caused[]): Map<string, Set<string>> {
  const causes = new Map<string, Set<string>>()
  for (const { tenantId, events } of group) {
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
 * Returns how long the chain above each event is; the map is empty if no event names a cause. The chain is walked each
 * time and not stored: an event published later may lengthen the chain of an earlier one. A cause may be in the same
 * group, before the event.
 */
export async function ancestorsOf(tx: Db, group: readonly Caused[]): Promise<Map<PreparedEvent, number>> {
  const counts = new Map<PreparedEvent, number>()
  const causes = causesOf(group)
  if (causes.size === 0) return counts
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

  for (const { tenantId, events } of group) {
    for (const event of events) {
      const count = lengthFrom(tenantId, event.causationId)
      counts.set(event, count)
      if (count <= MAX_ANCESTORS && !before.has(`${tenantId} ${event.id}`))
        before.set(`${tenantId} ${event.id}`, event.causationId)
    }
  }
  return counts
}

export const tooDeep = (event: PreparedEvent): Failure =>
  ruleBroken('causation_too_deep', `The chain of causation above this event is longer than ${MAX_ANCESTORS}`, {
    event_id: event.id,
    causation_id: event.causationId,
  })
