// How long the chain of causes above an event is: an agent that answers its own events would otherwise go on for ever.
import { ruleBroken, type Failure } from '../kernel/failure.ts'
import type { Db } from '../store/db.ts'
import type { PreparedEvent } from './envelope.ts'
import { readChains } from './sql.ts'

export const MAX_ANCESTORS = 32

interface Caused {
  tenantId: string
  events: readonly PreparedEvent[]
}

/**
 * How long the chain above each event is, where it names a cause. The chain is walked, not remembered: what is
 * published later may lengthen the chain of what was published before. A cause may be in the same group, before the
 * event.
 */
export async function ancestorsOf(tx: Db, group: readonly Caused[]): Promise<Map<PreparedEvent, number>> {
  const counts = new Map<PreparedEvent, number>()
  const causes = group.flatMap(({ events }) => events.flatMap((event) => event.causationId ?? []))
  if (causes.length === 0) return counts
  const chains = await readChains(tx, [...new Set(group.map((s) => s.tenantId))], [...new Set(causes)], MAX_ANCESTORS)
  const stored = new Map(chains.map((chain) => [`${chain.tenant_id} ${chain.start}`, chain]))
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
