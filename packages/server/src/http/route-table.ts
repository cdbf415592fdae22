// Finds the route of a path. Each path has one spelling, so that a proxy's rules about paths hold.
import makeRouter from 'find-my-way'
import { type Failure, methodNotAllowed, notFound } from '../kernel/failure.ts'
import type { Exchange } from './exchange.ts'

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export type Serve = (exchange: Exchange) => void

export interface RouteTable {
  add(method: (typeof METHODS)[number] | 'OPTIONS', url: string, serve: Serve): void
  /** Sets the route, its parameters and the query of the exchange. Throws if there is no route. */
  find(exchange: Exchange): Serve
}

/** Characters that RFC 3986 calls unreserved have one spelling: `/%6fperator` is not `/operator`. */
const isUnreserved = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || // a to z
  (code >= 0x41 && code <= 0x5a) || // A to Z
  (code >= 0x30 && code <= 0x39) || // 0 to 9
  code === 0x2d || // -
  code === 0x2e || // .
  code === 0x5f || // _
  code === 0x7e // ~

function escapesUnreserved(path: string): boolean {
  for (let at = path.indexOf('%'); at !== -1; at = path.indexOf('%', at + 1))
    if (isUnreserved(Number.parseInt(path.slice(at + 1, at + 3), 16))) return true
  return false
}

interface Found {
  route: string
  query: Exchange['query']
  serve: Serve
}

/** In the path: one in a query is data. */
const HAS_FRAGMENT = /^[^?]*#/

const LONGEST_KEPT = 128
const MOST_KEPT = 1_000

function isPlain(params: object): boolean {
  for (const _ in params) return false
  return true
}

/** `isClosed` tells whether a known path is closed: it is then reported as not found, never as method_not_allowed. */
export function makeRouteTable(isClosed: (path: string) => boolean): RouteTable {
  // A parameter may be as long as a request line (16 KiB): the length of an id is checked where the id is.
  const router = makeRouter({ maxParamLength: 16_384, ignoreTrailingSlash: false, caseSensitive: true })

  // Clients request the same few URLs: those without parameters in the path are cached, with their parsed queries.
  const found = new Map<string, Map<string, Found>>()
  function keep(method: string, url: string, route: Found): void {
    const ofMethod = found.get(method) ?? new Map<string, Found>()
    if (ofMethod.size >= MOST_KEPT) ofMethod.clear()
    found.set(method, ofMethod.set(url, route))
  }

  function noRoute({ method, path, request }: Exchange): Failure {
    const allowed = isClosed(path) ? [] : METHODS.filter((other) => router.find(other, request.url!) !== null)
    if (allowed.length > 0) return methodNotAllowed(method, allowed)
    // The guides leave out the prefix.
    const isOfApi = METHODS.some((other) => router.find(other, `/v1${request.url}`) !== null)
    return notFound('path', path, isOfApi ? `There is no such path, but there is /v1${path}` : undefined)
  }

  return {
    add: (method, url, serve) => router.on(method, url, () => {}, { url, serve }),
    find(exchange) {
      const { method, path, request } = exchange
      const known = found.get(method)?.get(request.url!)
      if (known) {
        exchange.route = known.route
        exchange.query = known.query
        return known.serve
      }
      // The router does not look at the first character: `*operator` would match `/operator`. It ends a path at a `#`,
      // which no client sends: `/metrics#x` would be `/metrics`, and pass a proxy's rule about it.
      if (!path.startsWith('/') || escapesUnreserved(path) || HAS_FRAGMENT.test(request.url!))
        throw notFound('path', path)
      const match = router.find(method as 'GET', request.url!)
      if (!match) throw noRoute(exchange)
      const { url, serve } = match.store as { url: string; serve: Serve }
      exchange.route = url
      exchange.params = match.params
      exchange.query = match.searchParams
      if (isPlain(match.params) && request.url!.length <= LONGEST_KEPT)
        keep(method, request.url!, { route: url, query: Object.freeze(match.searchParams), serve })
      return serve
    },
  }
}
