// IP addresses as numbers of 32 or 128 bits. Zones, IPv4 inside IPv6 and octets with leading zeros are rejected, as in
// CEL's network functions, so that each address has one meaning.
import { Cidr, Ip } from './values.ts'

const LONGEST = 43
const OCTET = /^(?:0|[1-9]\d{0,2})$/
const GROUP = /^[0-9a-fA-F]{1,4}$/

export function parseIp(text: string): Ip | null {
  if (text.length > LONGEST) return null
  const bits = text.includes(':') ? parseV6(text) : parseV4(text)
  return bits === null ? null : new Ip(text.includes(':') ? 6 : 4, bits)
}

function parseV4(text: string): bigint | null {
  const octets = text.split('.')
  if (octets.length !== 4) return null
  let bits = 0n
  for (const octet of octets) {
    if (!OCTET.test(octet) || Number(octet) > 255) return null
    bits = (bits << 8n) | BigInt(octet)
  }
  return bits
}

function parseV6(text: string): bigint | null {
  const halves = text.split('::')
  if (halves.length > 2) return null
  const groupsOf = (half: string): string[] => (half === '' ? [] : half.split(':'))
  const head = groupsOf(halves[0] as string)
  const tail = halves.length === 2 ? groupsOf(halves[1] as string) : []
  const missing = 8 - head.length - tail.length
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null
  const groups = [...head, ...Array.from({ length: missing }, () => '0'), ...tail]
  let bits = 0n
  for (const group of groups) {
    if (!GROUP.test(group)) return null
    bits = (bits << 16n) | BigInt(`0x${group}`)
  }
  // ::ffff:0:0/96 are IPv4 addresses written as IPv6.
  return bits >> 32n === 0xffffn ? null : bits
}

export function parseCidr(text: string): Cidr | null {
  if (text.length > LONGEST + 4) return null
  const slash = text.lastIndexOf('/')
  if (slash === -1) return null
  const ip = parseIp(text.slice(0, slash))
  const length = text.slice(slash + 1)
  if (ip === null || !OCTET.test(length) || Number(length) > widthOf(ip)) return null
  return new Cidr(ip, Number(length))
}

function widthOf(ip: Ip): number {
  return ip.family === 4 ? 32 : 128
}

/** Returns the address with the bits after the prefix set to zero. */
export function masked(ip: Ip, prefix: number): bigint {
  const rest = BigInt(widthOf(ip) - prefix)
  return (ip.bits >> rest) << rest
}

export function formatIp(ip: Ip): string {
  if (ip.family === 4) return [24n, 16n, 8n, 0n].map((shift) => String((ip.bits >> shift) & 0xffn)).join('.')
  const groups = Array.from({ length: 8 }, (_, i) => (ip.bits >> BigInt(112 - 16 * i)) & 0xffffn)
  const [start, length] = longestZeros(groups)
  const text = (part: bigint[]): string => part.map((group) => group.toString(16)).join(':')
  if (length < 2) return text(groups)
  return `${text(groups.slice(0, start))}::${text(groups.slice(start + length))}`
}

function longestZeros(groups: readonly bigint[]): [start: number, length: number] {
  let best: [number, number] = [0, 0]
  for (let i = 0; i < groups.length; i++) {
    let end = i
    while (end < groups.length && groups[end] === 0n) end++
    if (end - i > best[1]) best = [i, end - i]
    i = Math.max(i, end)
  }
  return best
}

export function formatCidr({ ip, prefix }: Cidr): string {
  return `${formatIp(ip)}/${prefix}`
}
