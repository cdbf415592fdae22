// Internet addresses as people write them, and ranges of them.
import ipaddr from 'ipaddr.js'

export type AddressRange = readonly [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Parses an address or a range in CIDR form; returns undefined if the text is neither. */
export function parseRange(text: string): AddressRange | undefined {
  if (text.includes('/')) return ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : undefined
  const address = parse(text)
  return address && [address, address.kind() === 'ipv4' ? 32 : 128]
}

export function contains([network, bits]: AddressRange, text: string): boolean {
  const address = parse(text)
  return address !== undefined && address.kind() === network.kind() && address.match(network as never, bits)
}

/**
 * Returns the canonical form of an address, without brackets, port or zone; an IPv4 address that is written as IPv6
 * becomes IPv4. Returns undefined if the text is no address.
 */
export function plainAddress(text: string): string | undefined {
  const bracket = text.startsWith('[') ? text.indexOf(']') : -1
  const host =
    bracket > 0 ? text.slice(1, bracket) : text.split(':').length === 2 ? text.slice(0, text.indexOf(':')) : text
  return parse(host.split('%')[0]!)?.toString()
}

function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // Four parts: some programs take `127.1` and `0x7f.1` as addresses, but no proxy would write them.
  if (!text.includes(':') && !ipaddr.IPv4.isValidFourPartDecimal(text)) return undefined
  return text.length <= 64 && ipaddr.isValid(text) ? ipaddr.process(text) : undefined
}

/** Returns the network by which limits count: an IPv6 client has a whole /64 to choose its address from. */
export const networkOf = (address: string): string => (address.includes(':') ? prefixOf(address, 4) : address)

/** Returns the /48 of an IPv6 address, which is what a provider gives to one customer; null for IPv4. */
export const siteOf = (address: string): string | null => (address.includes(':') ? prefixOf(address, 3) : null)

/** Returns the network of an IPv6 address that has its first groups of 16 bits. */
function prefixOf(address: string, groups: number): string {
  const [head, tail] = address.split('::') as [string, string | undefined]
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  return `${[...before, ...zeros, ...after].slice(0, groups).join(':')}::/${groups * 16}`
}
