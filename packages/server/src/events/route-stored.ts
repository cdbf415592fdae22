// Finds who receives stored events by today's interests and feeds. This is done before a transaction and in slices, as
// in publishing: a megabyte of `{}` takes a fifth of a second to parse, and inside a transaction that would hold up
// every other writer.
import { STORED_DEPTH } from '../kernel/json.ts'
import { isLong, parseBody } from '../kernel/json-steps.ts'
import type { Envelope } from '../routing/filter.ts'
import { REROUTES, RoutingMoved, type Router } from '../routing/router.ts'
import type { Match, RoutingTable } from '../routing/table.ts'
import type { Reads } from '../store/db.ts'
import type { PreparedEvent } from './envelope.ts'
import { leftOutOfLong } from './envelope.ts'
import { makeRouteEvents } from './route-events.ts'

interface StoredEvent {
  id: string
  /** Null once retention has emptied it. */
  envelope: string | null
}

export interface RoutedStored {
  /** Throws `RoutingMoved` if the table is not the one that was used. */
  requireCurrent(table: RoutingTable): void
  /** Whether the event still has content to deliver. */
  has(eventId: string): boolean
  matchOf(eventId: string, recipientId: string): Match | undefined
}

/** `senderId` is the caller, who takes turns with others. */
type RouteStored = (tenantId: string, senderId: string, events: readonly StoredEvent[]) => Promise<RoutedStored>

async function prepared(id: string, text: string): Promise<PreparedEvent> {
  const bytes = Buffer.from(text)
  const long = isLong(bytes)
  const options = { extraDepth: STORED_DEPTH, exactNumbers: true }
  const parsed = await parseBody(bytes, long ? { ...options, leaveOut: leftOutOfLong } : options)
  if (!parsed.ok) throw new Error(`the stored event ${id} is not ${parsed.problem}`)
  const envelope = parsed.value as Envelope
  const { type, source } = envelope as { type: string; source: string }
  // The addressee stays as it was: only matches are computed.
  return { isLong: long, id, type, source, subject: null, causationId: null, recipient: null, envelope, text }
}

export function makeRouteStored(router: Router, db: Reads): RouteStored {
  const route = makeRouteEvents(router, db)
  return async (tenantId, senderId, stored) => {
    const events: PreparedEvent[] = []
    for (const { id, envelope } of stored) if (envelope !== null) events.push(await prepared(id, envelope))
    const routed = await route({ tenantId, senderId, events, isIngested: true })
    const matches = new Map(
      routed.events.map((event, i) => [
        events[i]!.id,
        new Map(event.matches.map((match) => [match.recipientId, match])),
      ]),
    )
    return {
      requireCurrent({ version, stamp }) {
        if (version !== routed.version || stamp !== routed.stamp) throw new RoutingMoved(tenantId)
      },
      has: (eventId) => matches.has(eventId),
      matchOf: (eventId, recipientId) => matches.get(eventId)?.get(recipientId),
    }
  }
}

/** Does the work, and starts over while routing changes under it. The last run accepts outdated routing. */
export async function retryWhileRoutingMoves<T>(work: (canStartOver: boolean) => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work(tries < REROUTES)
    } catch (error) {
      if (!(error instanceof RoutingMoved)) throw error
    }
  }
}
