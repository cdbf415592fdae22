// Where a push may connect to. A tenant chooses the endpoint, so it must not become a way into the network that the
// service stands in: only addresses of the public internet are taken, whatever name or notation they hide behind.
//
// The check is part of the lookup that the connection itself makes, and the address it answers is the one that is
// connected to: a name that changes its answer afterwards changes nothing.
import { BlockList, isIP, type LookupFunction } from 'node:net'

/**
 * What is said of every endpoint that leads to no public address, and no more: neither the address that a name has, nor
 * whether it has one. Otherwise an agent could ask for the names and addresses of the network that the service stands in.
 */
export class AddressRefused extends Error {
  constructor() {
    super('not a public address')
  }
}

const REFUSED_V4: [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['168.63.129.16', 32], // the metadata service of one cloud stands on a public address
]
// Inside 2000::/3, which is all that is public: protocol assignments with Teredo, documentation twice, 6to4 (it carries
// any IPv4).
const REFUSED_V6: [string, number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

const refused = new BlockList()
for (const [net, prefix] of REFUSED_V4) refused.addSubnet(net, prefix, 'ipv4')
for (const [net, prefix] of REFUSED_V6) refused.addSubnet(net, prefix, 'ipv6')

/** The eight groups of an IPv6 address, however it is written. */
function groupsOf(address: string): number[] {
  const plain = URL.parse(`http://[${address.split('%')[0]}]/`)?.hostname.slice(1, -1) // always hexadecimal and lower-case
  if (plain === undefined) return []
  const [head = '', tail] = plain.split('::')
  const read = (part: string | undefined): number[] => (part ? part.split(':').map((group) => parseInt(group, 16)) : [])
  const [front, back] = [read(head), read(tail)]
  return tail === undefined ? front : [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back]
}

const embeddedV4 = (groups: number[]): string =>
  [groups[6]! >> 8, groups[6]! & 255, groups[7]! >> 8, groups[7]! & 255].join('.')

const startsWith = (groups: number[], ...start: number[]): boolean => start.every((group, i) => groups[i] === group)

/** Whether an address belongs to the public internet. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !refused.check(address, 'ipv4')
  if (family === 0) return false
  const groups = groupsOf(address)
  if (groups.length !== 8) return false
  // IPv4 in IPv6 clothes is judged as what it is: mapped addresses, and what a NAT64 translates.
  if (startsWith(groups, 0, 0, 0, 0, 0, 0xffff) || startsWith(groups, 0x64, 0xff9b, 0, 0, 0, 0))
    return isPublicAddress(embeddedV4(groups))
  return groups[0]! >= 0x2000 && groups[0]! <= 0x3fff && !refused.check(address.split('%')[0]!, 'ipv6')
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
