// The requests in hand: each holds a place from its arrival until its response or its socket ends, and is then counted
// and logged.
import { performance } from 'node:perf_hooks'
import type { Identify } from '../auth/identify.ts'
import type { Logger } from '../kernel/logger.ts'
import { NOBODY } from '../operations/call.ts'
import type { ClientAddress } from './client-address.ts'
import type { Exchange } from './exchange.ts'
import type { Metrics } from './metrics.ts'
import { HEALTH_PATHS, makePlaces, type Place } from './places.ts'
import { makeBodyRoom, makeResponseRoom } from './room.ts'

export interface InHandTools {
  identify: Identify
  clientAddress: ClientAddress
  log: Logger
  metrics: Metrics
}

export interface InHand {
  /**
   * Takes a request that has arrived. Throws if there is no place; it is in hand even so, until its refusal is read.
   */
  take(exchange: Exchange): void
  /** Called once the caller is known: the place, and the room of the body, then count for the agent and its tenant. */
  identified(exchange: Exchange): void
  /**
   * Counts the bytes of a response until it is read. Throws if that is too much beside the others that are not read,
   * unless it reports what is done.
   */
  holdUnread(exchange: Exchange, bytes: number, isDone: boolean): void
  /** Gives back the place of a request that is over or has its response. A second call does nothing. */
  leave(exchange: Exchange, status: number): void
  count(): number
  /** Resolves when no request is in hand. */
  emptied(): Promise<void>
}

export function makeInHand({ identify, clientAddress, log, metrics }: InHandTools): InHand {
  const places = makePlaces()
  const bodyRoom = makeBodyRoom()
  const responseRoom = makeResponseRoom()
  let count = 0
  let emptied = (): void => {}

  // A caller whose token this installation signed gets a place of its own at once, so that unauthenticated requests do
  // not count against it, from the same address or from others.
  function placeOf(exchange: Exchange): Place {
    const { bearer, clientAddress } = exchange
    if (HEALTH_PATHS.has(exchange.path)) return places.ofHealth(clientAddress)
    if (bearer === null) return places.ofAddress(clientAddress)
    exchange.cachedPrincipal = identify.cached(bearer)
    const known = exchange.cachedPrincipal ?? identify.claimed(bearer)
    return known ? places.ofPrincipal(null, known) : places.ofAddress(clientAddress)
  }

  function report(exchange: Exchange, status: number, ms: number): void {
    const { id, method, path, route, clientAddress: address, principal } = exchange
    metrics.request(method, route, status, ms / 1000)
    const known = principal !== null && principal.tenantId !== ''
    log.request({
      requestId: id,
      method,
      path,
      status,
      ms,
      address,
      tenant: known ? principal.tenantId : null,
      principal: known ? principal.id : null,
    })
  }

  return {
    take(exchange) {
      count++
      exchange.clientAddress = clientAddress(exchange.request)
      exchange.place = placeOf(exchange)
    },
    identified(exchange) {
      const { place, principal } = exchange
      // The socket closed while the caller was being identified: its place is given back, and it gets no other.
      if (!exchange.isCounted) return
      if (exchange.mayBeLong) exchange.room = bodyRoom.hold(principal, exchange.clientAddress)
      if (place === null || principal === null || principal === NOBODY) return
      // The response to a change is sent in any case, so the change is refused before it is made.
      if (exchange.method !== 'GET') responseRoom.refuseFull(principal)
      responseRoom.refuseAgain(principal, exchange.route)
      exchange.place = null
      exchange.place = places.ofPrincipal(place, principal)
    },
    holdUnread(exchange, bytes, isDone) {
      if (!exchange.isCounted) return
      exchange.unread ??= responseRoom.hold(exchange.principal, exchange.clientAddress, exchange.route)
      if (isDone) exchange.unread.growAnyway(bytes)
      else exchange.unread.grow(bytes)
    },
    leave(exchange, status) {
      if (!exchange.isCounted) return
      exchange.isCounted = false
      if (exchange.place) places.giveBack(exchange.place)
      exchange.room?.release()
      exchange.unread?.release()
      report(exchange, status, performance.now() - exchange.started)
      if (--count === 0) emptied()
    },
    count: () => count,
    emptied: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => (emptied = resolve))),
  }
}
