// Values as text, as `string()` and formats show them.
import { formatCidr, formatIp } from './address.ts'
import { formatDuration, formatTimestamp } from './time.ts'
import {
  Cidr,
  Double,
  Duration,
  fail,
  type FAULT,
  Ip,
  overBudget,
  spend,
  spendChars,
  Timestamp,
  TypeValue,
  Uint,
  type Context,
  type Value,
} from './values.ts'

/** The cost of writing a value that has to be computed digit by digit: an IPv6 address takes 2 to 3 microseconds. */
export const ADDRESS_TEXT_STEPS = 250
const TIME_TEXT_STEPS = 100

/** Returns the result of `string()`; null for a value that has no text form. */
export function scalarText(c: Context, value: Value): string | typeof FAULT | null {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (value instanceof Double) return Object.is(value.whole, -0) ? '-0' : String(value.whole)
  if (value instanceof Uint) return String(value.unsigned)
  if (value instanceof Timestamp || value instanceof Duration) {
    if (spend(c, TIME_TEXT_STEPS)) return overBudget(c)
    return value instanceof Timestamp ? formatTimestamp(value) : formatDuration(value)
  }
  if (value instanceof TypeValue) return value.typeName
  if (value instanceof Ip || value instanceof Cidr) {
    if (spend(c, ADDRESS_TEXT_STEPS)) return overBudget(c)
    return value instanceof Ip ? formatIp(value) : formatCidr(value)
  }
  if (!(value instanceof Uint8Array)) return null
  if (spendChars(c, value.length)) return overBudget(c)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value)
  } catch {
    return fail(c, 'the bytes are not UTF-8')
  }
}
