// Who is calling, as far as an address says it: the socket's, or what a proxy that the operator trusts says of it.
import type { IncomingMessage } from 'node:http'
import { contains, plainAddress, type AddressRange } from '../kernel/addresses.ts'

export type ClientAddress = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string

/** Proxies add themselves at the end. So many entries are looked at; a longer list is somebody's invention. */
const MOST_HOPS = 32

/**
 * The last address in the list that is not a trusted proxy's. What stands before it was written by whoever that is, and
 * may say anything. `X-Forwarded-For` is read first, and `Forwarded` where there is none.
 */
export function makeClientAddress(trusted: readonly AddressRange[]): ClientAddress {
  const known = new Map<string, boolean>()
  const isTrusted = (address: string): boolean => {
    let isTrusted = known.get(address)
    if (isTrusted === undefined) {
      if (known.size >= 10_000) known.clear()
      known.set(address, (isTrusted = trusted.some((range) => contains(range, address))))
    }
    return isTrusted
  }

  return ({ socket, headers }) => {
    const remote = socket.remoteAddress ?? ''
    if (trusted.length === 0) return remote.startsWith('::ffff:') ? (plainAddress(remote) ?? remote) : remote
    let client = plainAddress(remote) ?? remote
    if (!isTrusted(client)) return client
    const list = headers['x-forwarded-for'] ?? headers.forwarded
    if (list === undefined) return client
    const hops = String(list).split(',').slice(-MOST_HOPS)
    const read = headers['x-forwarded-for'] === undefined ? forwardedFor : plainAddress
    for (let i = hops.length - 1; i >= 0; i--) {
      const hop = read(hops[i]!.trim())
      // Not an address: nobody knows who is behind the proxy that wrote it down.
      if (hop === undefined) return client
      client = hop
      if (!isTrusted(client)) return client
    }
    return client
  }
}

/** `for=192.0.2.60;proto=http`, `for="[2001:db8::1]:4711"`; anything else is nobody's address. */
function forwardedFor(element: string): string | undefined {
  const pair = element.split(';').find((part) => part.trimStart().slice(0, 4).toLowerCase() === 'for=')
  return pair === undefined ? undefined : plainAddress(pair.trim().slice(4).replaceAll('"', ''))
}
