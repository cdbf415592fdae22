// `ip()` and `cidr()`. Their arguments are short or rejected at once, so there is one price for all.
import { formatIp, masked, parseCidr, parseIp } from './address.ts'
import { either, functionOf, method, type Arg, type Definitions, type Fn } from './definition.ts'
import { mistyped } from './strings.ts'
import { quote } from './errors.ts'
import { ADDRESS_TEXT_STEPS } from './text.ts'
import { Cidr, fail, Ip, overBudget, spend, type Context, type Result, type Value } from './values.ts'

const PARSE_STEPS = 60

/** `ip("10.0.0.1")`, and `cidr(…).ip()`. */
function toIp(c: Context, value: Value): Result {
  if (value instanceof Ip) return value
  if (value instanceof Cidr) return value.ip
  if (typeof value !== 'string') return mistyped(c, 'ip', value)
  if (spend(c, PARSE_STEPS)) return overBudget(c)
  return parseIp(value) ?? fail(c, `${quote(value)} is not an IP address`)
}

function toCidr(c: Context, value: Value): Result {
  if (value instanceof Cidr) return value
  if (typeof value !== 'string') return mistyped(c, 'cidr', value)
  if (spend(c, PARSE_STEPS)) return overBudget(c)
  return parseCidr(value) ?? fail(c, `${quote(value)} is not a range of IP addresses`)
}

const parses = (name: string, parse: (text: string) => unknown): Fn => {
  return (c, value) => {
    if (typeof value !== 'string') return mistyped(c, name, value)
    return spend(c, PARSE_STEPS) ? overBudget(c) : parse(value) !== null
  }
}

/** Reports whether an address is written as `string(ip(…))` formats it. */
function isCanonical(c: Context, value: Value): Result {
  const ip = toIp(c, value)
  if (!(ip instanceof Ip)) return ip
  return spend(c, ADDRESS_TEXT_STEPS) ? overBudget(c) : formatIp(ip) === value
}

/** Reports whether an address is in a range, given by the first address and the number of fixed bits. */
const inRange = (ip: Ip, family: number, range: bigint, prefix: number): boolean =>
  ip.family === family && masked(ip, prefix) === range

const isLoopback = (ip: Ip): boolean => inRange(ip, 4, 0x7f000000n, 8) || inRange(ip, 6, 1n, 128)
const isUnspecified = (ip: Ip): boolean => ip.bits === 0n
const isMulticast = (ip: Ip): boolean => inRange(ip, 4, 0xe0000000n, 4) || inRange(ip, 6, 0xffn << 120n, 8)
const isLinkLocalUnicast = (ip: Ip): boolean => inRange(ip, 4, 0xa9fe0000n, 16) || inRange(ip, 6, 0xfe80n << 112n, 10)
const isLinkLocalMulticast = (ip: Ip): boolean =>
  inRange(ip, 4, 0xe0000000n, 24) || (ip.family === 6 && (ip.bits >> 112n) % 16n === 2n && isMulticast(ip))
const isGlobalUnicast = (ip: Ip): boolean =>
  !isLoopback(ip) &&
  !isUnspecified(ip) &&
  !isMulticast(ip) &&
  !isLinkLocalUnicast(ip) &&
  !inRange(ip, 4, 0xffffffffn, 32)

const ofIp = (name: string, property: (ip: Ip) => Value): [string, ReturnType<typeof method>] => [
  name,
  method((c, value) => (value instanceof Ip ? property(value) : mistyped(c, name, value)), 1),
]

function containsIp(c: Context, range: Value, address: Arg): Result {
  const ip = address === undefined ? null : toIp(c, address)
  if (!(range instanceof Cidr)) return mistyped(c, 'containsIP', range, address)
  if (!(ip instanceof Ip)) return ip
  return inRange(ip, range.ip.family, masked(range.ip, range.prefix), range.prefix)
}

function containsCidr(c: Context, range: Value, other: Arg): Result {
  const inner = other === undefined ? null : toCidr(c, other)
  if (!(range instanceof Cidr)) return mistyped(c, 'containsCIDR', range, other)
  if (!(inner instanceof Cidr)) return inner
  return (
    inner.prefix >= range.prefix && inRange(inner.ip, range.ip.family, masked(range.ip, range.prefix), range.prefix)
  )
}

const ofCidr = (name: string, property: (range: Cidr) => Value): [string, ReturnType<typeof method>] => [
  name,
  method((c, value) => (value instanceof Cidr ? property(value) : mistyped(c, name, value)), 1),
]

export const NETWORK_FUNCTIONS: Definitions = [
  ['ip', either(toIp, 1)],
  ['isIP', functionOf(parses('isIP', parseIp), 1)],
  ['ip.isCanonical', functionOf(isCanonical, 1)],
  ['cidr', functionOf(toCidr, 1)],
  ['isCIDR', functionOf(parses('isCIDR', parseCidr), 1)],
  ofIp('family', (ip) => ip.family),
  ofIp('isLoopback', isLoopback),
  ofIp('isUnspecified', isUnspecified),
  ofIp('isLinkLocalUnicast', isLinkLocalUnicast),
  ofIp('isLinkLocalMulticast', isLinkLocalMulticast),
  ofIp('isGlobalUnicast', isGlobalUnicast),
  ['containsIP', method(containsIp, 2)],
  ['containsCIDR', method(containsCidr, 2)],
  ofCidr('masked', ({ ip, prefix }) => new Cidr(new Ip(ip.family, masked(ip, prefix)), prefix)),
  ofCidr('prefixLength', ({ prefix }) => prefix),
]
