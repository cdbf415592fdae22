// Where a push may connect to. A tenant chooses the endpoint, so it must not become a way into the network that the
// service stands in: only addresses of the public internet are taken, whatever name or notation they hide behind.
//
// The check is part of the lookup that the connection itself makes, and the address it gives is the one that is
// connected to: a name that leads elsewhere afterwards changes nothing.
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * What is said of every endpoint that leads to no public address, and no more: neither the address that a name has, nor
 * whether it has one. Otherwise an agent could ask for the names and addresses of the network that the service stands
 * in.
 */
export class AddressRefused extends Error {
  constructor() {
    super('not a public address')
  }
}

/** The metadata service of one cloud stands on a public address. */
const METADATA_SERVICE = '168.63.129.16'
/** All that is public of IPv6. Inside of it `range` knows what is not: documentation, Teredo, 6to4 and the like. */
const PUBLIC_V6 = ipaddr.parseCIDR('2000::/3')
/** What a NAT64 translates: the last 32 bits are an IPv4 address. */
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96')

/** In hexadecimal groups: ipaddr.js takes `::127.0.0.1`, which is ::7f00:1, for a mapped IPv4 address. */
const inGroups = (v6: string): string => URL.parse(`http://[${v6.split('%')[0]}]/`)?.hostname.slice(1, -1) ?? '::'

/** Whether an address belongs to the public internet. */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0) return false
  // An IPv4 address that is mapped into IPv6 is judged as what it is.
  const address = ipaddr.process(text.includes(':') ? inGroups(text) : text)
  if (address.kind() === 'ipv4') return address.range() === 'unicast' && address.toString() !== METADATA_SERVICE
  if (address.match(NAT64)) return isPublicAddress(address.toByteArray().slice(12).join('.'))
  return address.range() === 'unicast' && address.match(PUBLIC_V6)
}

export type Resolve = (hostname: string) => Promise<string[]>

export interface SafeAddress {
  /**
   * Throws for a host that is written as an address and may not be reached; a connection asks no lookup about those.
   */
  checkLiteral(hostname: string): void
  lookup: LookupFunction
}

export function safeAddress(resolve: Resolve, allowed: (address: string) => boolean): SafeAddress {
  return {
    checkLiteral(hostname) {
      const address = hostname.replace(/^\[|\]$/g, '')
      if (isIP(address) && !allowed(address)) throw new AddressRefused()
    },
    lookup(hostname, options, answer) {
      resolve(hostname).then(
        (addresses) => {
          const wanted = Number(options.family === 'IPv4' ? 4 : options.family === 'IPv6' ? 6 : (options.family ?? 0))
          const safe = addresses.filter(allowed).map((address) => ({ address, family: isIP(address) }))
          const usable = safe.filter(({ family }) => wanted === 0 || family === wanted)
          if (safe.length === 0) answer(new AddressRefused(), '')
          else if (usable.length === 0) answer(new Error('no address of that family'), '')
          else if (options.all) answer(null, usable)
          else answer(null, usable[0]!.address, usable[0]!.family)
        },
        () => answer(new AddressRefused(), ''),
      )
    },
  }
}
