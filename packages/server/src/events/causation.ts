// Measures the chain of causes above an event: an agent that answers its own events would otherwise go on for ever.
import { ruleBroken, type Failure } from '../kernel/failure.ts'
import { nextTurn } from '../kernel/step-turns.ts'
import type { Reads } from '../store/db.ts'
import type { PreparedEvent } from './envelope.ts'
import { readChains, storedAmong } from './sql.ts'

const MAX_ANCESTORS = 32
/**
 * How many chains are read in one statement, which is up to 660 events. A transaction on SQLite has the event loop to
 * itself, and a group may name two hundred causes.
 */
const CHAINS_AT_ONCE = 20

interface Caused {
  submission: { tenantId: string; events: readonly PreparedEvent[] }
  /** What routing has decided about each of the events. */
  routed: { events: readonly { refused: Failure | null }[] }
}

/** The cause that each known event names, null if it names none: tenant → id → cause. */
export type Causes = ReadonlyMap<string, ReadonlyMap<string, string | null>>
type MutableCauses = Map<string, Map<string, string | null>>

export const NONE_KNOWN: Causes = new Map()
const NONE: ReadonlySet<PreparedEvent> = new Set()

function ofTenant(causes: MutableCauses, tenantId: string): Map<string, string | null> {
  let known = causes.get(tenantId)
  if (!known) causes.set(tenantId, (known = new Map()))
  return known
}

/**
 * Walks up a chain as far as it is known. Returns the number of events in it, up to one more than is allowed, and the
 * id of the next one if that is not known.
 */
function walk(
  known: ReadonlyMap<string, string | null> | undefined,
  cause: string | null,
): { length: number; unknown: string | null } {
  let length = 0
  for (let id = cause; id !== null && length <= MAX_ANCESTORS; length++) {
    const next = known?.get(id)
    if (next === undefined) return { length, unknown: id }
    id = next
  }
  return { length, unknown: null }
}

/** Returns the ids at which the chains above the events of the group leave what is known, by tenant. */
function unknownAbove(group: readonly Caused[], known: Causes): Map<string, Set<string>> {
  const unknown = new Map<string, Set<string>>()
  for (const { submission } of group) {
    const { tenantId, events } = submission
    for (const { causationId } of events) {
      const { unknown: id } = walk(known.get(tenantId), causationId)
      if (id !== null) unknown.set(tenantId, (unknown.get(tenantId) ?? new Set()).add(id))
    }
  }
  return unknown
}

async function readInto(known: MutableCauses, db: Reads, tenantId: string, ids: string[]): Promise<void> {
  const ofThis = ofTenant(known, tenantId)
  for (const { id, cause } of await readChains(db, tenantId, ids, MAX_ANCESTORS)) ofThis.set(id, cause)
}

/** Whether the events of a group name so many causes that their chains are to be read before the transaction. */
export function hasManyCauses(group: readonly Caused[]): boolean {
  let causes = 0
  for (const ids of unknownAbove(group, NONE_KNOWN).values()) causes += ids.size
  return causes > CHAINS_AT_ONCE
}

/**
 * Reads the stored chains above the events of a group before its transaction, a few at a time with a turn of the event
 * loop in between. What is stored names the same cause for ever, so the transaction only has to read what was stored
 * since.
 */
export async function readAhead(store: Reads, group: readonly Caused[]): Promise<Causes> {
  const known: MutableCauses = new Map()
  for (const [tenantId, causes] of unknownAbove(group, NONE_KNOWN)) {
    const left = [...causes]
    while (left.length > 0) {
      // Chains that were read before may contain some of these.
      const ids = left.splice(0, CHAINS_AT_ONCE).filter((id) => !ofTenant(known, tenantId).has(id))
      if (ids.length === 0) continue
      await readInto(known, store, tenantId, ids)
      await nextTurn()
    }
  }
  return known
}

/**
 * Returns the events whose chain of causes is too long. The chain is walked each time and not stored: an event
 * published later may lengthen the chain of an earlier one, or close it to a circle. So a retry of an accepted event,
 * which is a duplicate, is never among them. A cause may be in the same group, before the event. `ahead` is what
 * `readAhead` found.
 */
export async function tooDeepAmong(
  db: Reads,
  group: readonly Caused[],
  ahead: Causes,
): Promise<ReadonlySet<PreparedEvent>> {
  const unknown = unknownAbove(group, ahead)
  if (unknown.size === 0 && ahead.size === 0) return NONE
  const known: MutableCauses = new Map(Array.from(ahead, ([tenantId, causes]) => [tenantId, new Map(causes)]))
  await Promise.all(Array.from(unknown, ([tenantId, ids]) => readInto(known, db, tenantId, [...ids])))

  const deep: { tenantId: string; event: PreparedEvent }[] = []
  for (const { submission, routed } of group) {
    const { tenantId, events } = submission
    const ofThis = ofTenant(known, tenantId)
    for (const [i, event] of events.entries()) {
      // What is refused is not stored. An id that is stored, or the second of two equal ones, is a duplicate.
      if (routed.events[i]!.refused || ofThis.has(event.id)) continue
      if (walk(ofThis, event.causationId).length <= MAX_ANCESTORS) ofThis.set(event.id, event.causationId)
      else deep.push({ tenantId, event })
    }
  }
  return deep.length === 0 ? NONE : withNewIds(db, deep)
}

/** Returns the events whose ids their tenants have not stored. */
async function withNewIds(
  db: Reads,
  given: readonly { tenantId: string; event: PreparedEvent }[],
): Promise<Set<PreparedEvent>> {
  const found = await Promise.all(
    Array.from(
      Map.groupBy(given, ({ tenantId }) => tenantId),
      async ([tenantId, ofTenant]) => {
        const events = ofTenant.map(({ event }) => event)
        const known = await storedAmong(
          db,
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
