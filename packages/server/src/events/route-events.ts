// Finds the recipients of events before the transaction that publishes them: filters may take milliseconds, and a
// transaction holds up every other writer. Submissions take turns, tenants first and senders inside a tenant, a slice
// at a time, and the event loop runs in between: twenty costly events of one tenant block nobody.
import { Failure, ruleBroken, unavailable } from '../kernel/failure.ts'
import { STORED_DEPTH } from '../kernel/json.ts'
import { parseSteps } from '../kernel/json-steps.ts'
import { inSteps, makeStepTurns } from '../kernel/step-turns.ts'
import { makeTurns } from '../kernel/turns.ts'
import type { MatchTools } from '../routing/evaluate.ts'
import type { Envelope } from '../routing/filter.ts'
import { matchInSlices } from '../routing/match.ts'
import type { Router } from '../routing/router.ts'
import type { Match, RoutingTable } from '../routing/table.ts'
import type { Reads } from '../store/db.ts'
import {
  admitAddressee,
  findAddressees,
  NO_ADDRESSEES,
  refuseInactive,
  withAddressee,
  type Addressees,
} from './addressee.ts'
import type { PreparedEvent } from './envelope.ts'
import { storedAmong } from './sql.ts'

/**
 * About 0.2 ms, which is what a turn of the event loop gives to routing that did not finish at once. A request takes
 * four to six turns: with 4 ms of another tenant's costly filters in each, a publish took 20 ms longer.
 */
const SLICE_STEPS = 20_000
/** A caller's turn ends after this long, not after a slice: those of a long event are mostly much shorter. */
const TURN_MS = 0.25

/** How many long events have their data parsed at the same time: a megabyte of `{}` takes 20 MB. */
const LONG_AT_ONCE = 4
const LONG_OF_A_SENDER = 1_000

export interface ToRoute {
  tenantId: string
  senderId: string
  events: readonly PreparedEvent[]
  /** An agent that receives the events whatever its interests are. */
  extraRecipientId?: string
  /** The events came through a webhook or a connector, and may use the ids reserved for its source. */
  isIngested?: boolean
  /** Whether the client no longer waits for the response. */
  isClientGone?: () => boolean
}

interface RoutedEvent {
  matches: readonly Match[]
  /** Why the event cannot be published, by the tenant's routing. */
  refused: Failure | null
  /** Not decided by routing, and no other routing changes it. */
  isSettled?: true
}

export interface Routed {
  /** The state of routing that was used; the transaction may find a newer one. */
  version: number
  stamp: string
  events: RoutedEvent[]
  steps: number
  addressees: Addressees
}

/** Refuses an id that begins with a source of the tenant and a colon: it is reserved for events from that source. */
function reservedId({ id }: PreparedEvent, sources: ReadonlySet<string>): Failure | null {
  const colon = id.indexOf(':')
  if (colon === -1 || !sources.has(id.slice(0, colon))) return null
  const source = id.slice(0, colon)
  return ruleBroken('reserved_event_id', `Ids that begin with ${source}: belong to what comes in through ${source}`, {
    event_id: id,
    source,
  })
}

export function* routeInSlices(
  table: RoutingTable,
  given: ToRoute,
  addressees: Addressees,
  tools: MatchTools,
): Generator<void, Routed> {
  const routed: Routed = { version: table.version, stamp: table.stamp, events: [], steps: 0, addressees }
  let inSlice = 0
  for (const event of given.events) {
    const named = event.recipient === null ? undefined : addressees.get(event)
    const addressee = named && admitAddressee(table, named, given.senderId)
    const refused =
      (given.isIngested ? null : reservedId(event, table.sources)) ??
      (addressee instanceof Failure ? addressee : null) ??
      (given.extraRecipientId === undefined ? null : refuseInactive(table, given.extraRecipientId))
    if (refused || addressee instanceof Failure) {
      routed.events.push({ matches: [], refused })
      continue
    }
    // The data of a long event stays text if no filter applies.
    const whole = event.isLong ? () => wholeEnvelope(event) : undefined
    const found = yield* matchInSlices(table, event.envelope, tools, whole)
    const { list, steps } = addressee ? withAddressee(table, addressee, given.senderId, found) : found
    routed.events.push({ matches: list, refused: null })
    routed.steps += steps
    inSlice += steps
    if (inSlice < SLICE_STEPS) continue
    inSlice = 0
    yield
  }
  return routed
}

/** Parses a long event as filters see it. */
const wholeEnvelope = ({ text }: PreparedEvent): Generator<void, Envelope> =>
  parseSteps(Buffer.from(text), { extraDepth: STORED_DEPTH, exactNumbers: true }) as Generator<void, Envelope>

/** Returns synchronously if there is nothing to wait for. */
type RouteEvents = (given: ToRoute) => Routed | Promise<Routed>

export function makeRouteEvents(router: Router, db: Reads): RouteEvents {
  const turns = makeStepTurns()
  const longTurns = makeTurns({ what: 'long events waiting', atOnce: LONG_AT_ONCE, perAgent: LONG_OF_A_SENDER })

  function routeNow(table: RoutingTable, given: ToRoute, addressees: Addressees): Routed | Promise<Routed> {
    const slices = routeInSlices(table, given, addressees, router.matching)
    // Nearly everything is done in its first slice.
    const first = slices.next()
    if (first.done) return first.value
    return routeRest(given, slices)
  }

  async function routeRest(given: ToRoute, slices: Generator<void, Routed>): Promise<Routed> {
    let began = -Infinity
    const pause = async (): Promise<void> => {
      if (performance.now() - began < TURN_MS) return
      await turns.take(given.tenantId, given.senderId)
      began = performance.now()
      if (given.isClientGone?.()) throw clientGone()
    }
    await pause()
    return inSteps(slices, pause)
  }

  // One event at a time: of a batch of ten megabytes, one event is parsed while the others stay text.
  async function routeLong(table: RoutingTable, given: ToRoute, addressees: Addressees): Promise<Routed> {
    const routed: Routed = { version: table.version, stamp: table.stamp, events: [], steps: 0, addressees }
    for (const event of given.events) {
      const alone = async (): Promise<Routed> => routeNow(table, { ...given, events: [event] }, addressees)
      const { events, steps } = await (event.isLong ? longTurns.take(given.tenantId, given.senderId, alone) : alone())
      routed.events.push(...events)
      routed.steps += steps
    }
    return routed
  }

  function routeBy(table: RoutingTable, given: ToRoute, addressees: Addressees): Routed | Promise<Routed> {
    return given.events.some(({ isLong }) => isLong)
      ? routeLong(table, given, addressees)
      : routeNow(table, given, addressees)
  }

  async function routeAddressed(given: ToRoute): Promise<Routed> {
    const { tenantId, senderId, events } = given
    const addressees = await findAddressees(db, tenantId, senderId, events)
    const table = (await router.prepare([tenantId])).get(tenantId)!
    return routeBy(table, given, addressees)
  }

  function routeAll(given: ToRoute): Routed | Promise<Routed> {
    const { tenantId, events } = given
    if (events.some(({ recipient }) => recipient !== null)) return routeAddressed(given)
    const table = router.known(tenantId)
    if (table) return routeBy(table, given, NO_ADDRESSEES)
    return router.prepare([tenantId]).then((tables) => routeBy(tables.get(tenantId)!, given, NO_ADDRESSEES))
  }

  return (given) => {
    const routed = routeAll(given)
    return routed instanceof Promise
      ? routed.then((found) => letDuplicatesPass(db, given, found))
      : letDuplicatesPass(db, given, routed)
  }
}

/** Lets a retry of an accepted event be a duplicate, even if it would be refused today. */
function letDuplicatesPass(db: Reads, { tenantId, events }: ToRoute, routed: Routed): Routed | Promise<Routed> {
  const ids = events.filter((_, i) => routed.events[i]!.refused !== null).map(({ id }) => id)
  if (ids.length === 0) return routed
  return storedAmong(db, tenantId, ids).then((stored) => {
    const pass = (was: RoutedEvent, i: number): RoutedEvent =>
      was.refused && stored.has(events[i]!.id) ? { matches: [], refused: null, isSettled: true } : was
    return { ...routed, events: routed.events.map(pass) }
  })
}

/** Nobody reads this: the client closed its connection. */
export const clientGone = (): Failure => unavailable('The client has gone away')
