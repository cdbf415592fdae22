// The address of the client: that of the socket, or the one that a proxy trusted by the operator reports.
import type { IncomingMessage } from 'node:http'
import { contains, plainAddress, type AddressRange } from '../kernel/addresses.ts'

export type ClientAddress = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string

/** Proxies append to the list. This many entries from its end are looked at; a longer list is made up. */
const MOST_HOPS = 32

/**
 * The client is the last address in the list that is not a trusted proxy. Entries before it were written by that client
 * and may say anything. `X-Forwarded-For` is read first, and `Forwarded` if there is none.
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
    const read = headers['x-forwarded-for'] === undefined ? forwardedFor : plainAddress
    for (const text of splitFromEnd(String(list), ',', MOST_HOPS)) {
      const hop = read(text.trim())
      // Not an address: the client behind the proxy that wrote it is unknown.
      if (hop === undefined) return client
      client = hop
      if (!isTrusted(client)) return client
    }
    return client
  }
}

/**
 * Returns the parts of a list, the last one first. What stands in quotes is no separator: a proxy quotes what a client
 * sent, as in `host="x,for=6.6.6.6"`. Read from its end, so that a quote which a client left open spoils only what that
 * client wrote.
 */
function splitFromEnd(list: string, separator: string, most = Infinity): string[] {
  const parts: string[] = []
  let end = list.length
  let isQuoted = false
  for (let i = list.length - 1; i >= 0 && parts.length < most; i--) {
    if (list[i] === '"' && list[i - 1] !== '\\') isQuoted = !isQuoted
    if (list[i] !== separator || isQuoted) continue
    parts.push(list.slice(i + 1, end))
    end = i
  }
  if (parts.length < most) parts.push(list.slice(0, end))
  return parts
}

/** Reads `for=192.0.2.60;proto=http` or `for="[2001:db8::1]:4711"`; returns undefined for anything else. */
function forwardedFor(element: string): string | undefined {
  const pair = splitFromEnd(element, ';').find((part) => part.trimStart().slice(0, 4).toLowerCase() === 'for=')
  return pair === undefined ? undefined : plainAddress(pair.trim().slice(4).replaceAll('"', ''))
}
