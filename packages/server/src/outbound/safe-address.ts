// Where a push may connect to. A tenant chooses the endpoint, so it must not become a way into the network of the
// service: only addresses of the public internet are allowed, whatever name or notation they hide behind.
//
// The check is part of the lookup of the connection itself, and the connection uses the address that was checked: a
// name that resolves differently afterwards changes nothing.
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * The same error for every endpoint that leads to no public address. It reveals neither the address of a name nor
 * whether there is one. Otherwise an agent could explore the names and addresses of the service's network.
 */
export class AddressRefused extends Error {
  constructor() {
    super('not a public address')
  }
}

/** The metadata service of one cloud has a public address. */
const METADATA_SERVICE = '168.63.129.16'
/** The public part of IPv6. Inside it `range` excludes what is not public: documentation, Teredo, 6to4 and the like. */
const PUBLIC_V6 = ipaddr.parseCIDR('2000::/3')
/** The prefix that a NAT64 translates: the last 32 bits are an IPv4 address. */
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96')

/** Writes hexadecimal groups: ipaddr.js takes `::127.0.0.1`, which is ::7f00:1, for a mapped IPv4 address. */
const normaliseV6 = (v6: string): string => URL.parse(`http://[${v6.split('%')[0]}]/`)?.hostname.slice(1, -1) ?? '::'

/** Whether an address belongs to the public internet. */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0) return false
  // An IPv4 address that is mapped into IPv6 is judged as IPv4.
  const address = ipaddr.process(text.includes(':') ? normaliseV6(text) : text)
  if (address.kind() === 'ipv4') return address.range() === 'unicast' && address.toString() !== METADATA_SERVICE
  if (address.match(NAT64)) return isPublicAddress(address.toByteArray().slice(12).join('.'))
  return address.range() === 'unicast' && address.match(PUBLIC_V6)
}

/** Returns the addresses of a name, none if there is no such name. `tenantId` is the tenant that needs them. */
export type Resolve = (hostname: string, tenantId: string) => Promise<string[]>

export interface SafeAddress {
  /** Throws for a host that is a literal address and not allowed; a connection makes no lookup for these. */
  checkLiteral(hostname: string): void
  /** Returns the lookup for connections of a tenant. */
  lookupFor(tenantId: string): LookupFunction
}

export function safeAddress(resolve: Resolve, allowed: (address: string) => boolean): SafeAddress {
  return {
    checkLiteral(hostname) {
      const address = hostname.replace(/^\[|\]$/g, '')
      if (isIP(address) && !allowed(address)) throw new AddressRefused()
    },
    lookupFor: (tenantId) => (hostname, options, answer) => {
      resolve(hostname, tenantId).then(
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
