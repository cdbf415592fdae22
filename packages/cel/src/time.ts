// Functions here that can fail return an error message instead of a value.
import { quote } from './errors.ts'
import { Duration, Timestamp } from './values.ts'

const NANOS = 1_000_000_000
/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z, the ends of CEL's timestamps. */
const FIRST_SECOND = -62_135_596_800
const LAST_SECOND = 253_402_300_799
/** Ten thousand years, the longest of CEL's durations. */
const LONGEST = 315_576_000_000

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?(?:[Zz]|([+-])(\d\d):(\d\d))$/
const LONGEST_TIMESTAMP_TEXT = 64

export function parseTimestamp(text: string): Timestamp | string {
  const found = text.length > LONGEST_TIMESTAMP_TEXT ? null : RFC3339.exec(text)
  if (found === null) return `${quote(text)} is not an RFC 3339 timestamp`
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  // A day that the month does not have rolls over into the next one.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || hour > 23 || minute > 59 || second > 59) {
    return `${quote(text)} is not a date and time`
  }
  const offsetHours = Number(found[9] ?? 0)
  const offsetMinutes = Number(found[10] ?? 0)
  if (offsetHours > 23 || offsetMinutes > 59) return `${quote(text)} is not a date and time`
  const offset = (offsetHours * 3600 + offsetMinutes * 60) * (found[8] === '-' ? -1 : 1)
  const seconds = date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offset
  return timestamp(seconds, Number((found[7] ?? '').padEnd(9, '0')))
}

export function timestamp(seconds: number, nanos: number): Timestamp | string {
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND) return 'timestamp out of range'
  return new Timestamp(seconds, nanos)
}

export function formatTimestamp(time: Timestamp): string {
  const whole = new Date(time.seconds * 1000).toISOString().slice(0, 19)
  return `${whole}${fraction(time.nanos)}Z`
}

function fraction(nanos: number): string {
  return nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`
}

const UNIT_NANOS: Readonly<Record<string, bigint>> = {
  h: 3_600_000_000_000n,
  m: 60_000_000_000n,
  s: 1_000_000_000n,
  ms: 1_000_000n,
  us: 1_000n,
  µs: 1_000n,
  ns: 1n,
}
const DURATION = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:h|ms|us|µs|ns|m|s))+)$/
const DURATION_PART = /(\d*)\.?(\d*)(h|ms|us|µs|ns|m|s)/g
const LONGEST_DURATION_TEXT = 64

/** `1h30m`, `-1.5s`, `250ms`: the form that Go and CEL share. */
export function parseDuration(text: string): Duration | string {
  if (text.length > LONGEST_DURATION_TEXT || !DURATION.test(text)) return `${quote(text)} is not a duration`
  let total = 0n
  for (const [, whole, part = '', unit] of text.matchAll(DURATION_PART)) {
    const nanos = UNIT_NANOS[unit as string] as bigint
    total += BigInt(`0${whole as string}`) * nanos + (BigInt(`0${part}`) * nanos) / 10n ** BigInt(part.length)
  }
  if (text.startsWith('-')) total = -total
  const nanos = Number(((total % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n)
  return duration(Number((total - BigInt(nanos)) / 1_000_000_000n), nanos)
}

function duration(seconds: number, nanos: number): Duration | string {
  if (Math.abs(seconds) > LONGEST) return 'duration out of range'
  return new Duration(seconds, nanos)
}

export function formatDuration(span: Duration): string {
  const negative = span.seconds < 0
  const { seconds, nanos } = negative ? negated(span) : span
  return `${negative ? '-' : ''}${seconds}${fraction(nanos)}s`
}

export function negated(span: Duration): Duration {
  return span.nanos === 0 ? new Duration(0 - span.seconds, 0) : new Duration(-span.seconds - 1, NANOS - span.nanos)
}

export function addDurations(a: Duration, b: Duration): Duration | string {
  const nanos = a.nanos + b.nanos
  return duration(a.seconds + b.seconds + (nanos >= NANOS ? 1 : 0), nanos % NANOS)
}

export function addToTimestamp(time: Timestamp, span: Duration): Timestamp | string {
  const nanos = time.nanos + span.nanos
  return timestamp(time.seconds + span.seconds + (nanos >= NANOS ? 1 : 0), nanos % NANOS)
}

/** A difference has to fit 64 bits of nanoseconds, which is 292 years. */
const LONGEST_DIFFERENCE = 2n ** 63n

export function timeBetween(a: Timestamp, b: Timestamp): Duration | string {
  const total = BigInt(a.seconds - b.seconds) * BigInt(NANOS) + BigInt(a.nanos - b.nanos)
  if (total >= LONGEST_DIFFERENCE || total < -LONGEST_DIFFERENCE) return 'duration out of range'
  const nanos = a.nanos - b.nanos
  return duration(a.seconds - b.seconds - (nanos < 0 ? 1 : 0), (nanos + NANOS) % NANOS)
}

/** The accessors of a timestamp, applied to a Date whose UTC fields show the local time. */
export const DATE_PARTS: Readonly<Record<string, (local: Date) => number>> = {
  getFullYear: (local) => local.getUTCFullYear(),
  getMonth: (local) => local.getUTCMonth(),
  getDate: (local) => local.getUTCDate(),
  getDayOfMonth: (local) => local.getUTCDate() - 1,
  getDayOfWeek: (local) => local.getUTCDay(),
  getDayOfYear: (local) => {
    const start = new Date(local)
    start.setUTCMonth(0, 1)
    return Math.round((local.getTime() - start.getTime()) / 86_400_000)
  },
  getHours: (local) => local.getUTCHours(),
  getMinutes: (local) => local.getUTCMinutes(),
  getSeconds: (local) => local.getUTCSeconds(),
  getMilliseconds: (local) => local.getUTCMilliseconds(),
}

/** The accessors of a duration return its whole length in a unit, except milliseconds, which return its fraction. */
export const DURATION_PARTS: Readonly<Record<string, (span: Duration) => number>> = {
  getHours: (span) => Math.trunc(truncatedSeconds(span) / 3600),
  getMinutes: (span) => Math.trunc(truncatedSeconds(span) / 60),
  getSeconds: (span) => truncatedSeconds(span),
  getMilliseconds: (span) => {
    const nanos = span.seconds < 0 && span.nanos > 0 ? span.nanos - NANOS : span.nanos
    return Math.trunc(nanos / 1_000_000)
  },
}

/** Returns the whole seconds, rounded towards zero. */
function truncatedSeconds(span: Duration): number {
  return span.seconds < 0 && span.nanos > 0 ? span.seconds + 1 : span.seconds
}

const FIXED_OFFSET = /^([+-]?)(\d\d):(\d\d)$/
// Creating a formatter costs a hundred times as much as using it, and zone names are untrusted.
const formatters = new Map<string, Intl.DateTimeFormat>()
const MAX_FORMATTERS = 64
const LONGEST_ZONE = 64

/** Returns a Date whose UTC fields show the time in a zone such as `Europe/Madrid`, `+02:00` or `UTC`. */
export function localTime(time: Timestamp, zone: string | undefined): Date | string {
  const utc = time.seconds * 1000 + Math.floor(time.nanos / 1_000_000)
  if (zone === undefined || zone === 'UTC' || zone === 'Z') return new Date(utc)
  const fixed = FIXED_OFFSET.exec(zone)
  if (fixed !== null) {
    const minutes = Number(fixed[2]) * 60 + Number(fixed[3])
    return new Date(utc + (fixed[1] === '-' ? -minutes : minutes) * 60_000)
  }
  const formatter = formatterOf(zone)
  if (formatter === null) return `unknown time zone ${quote(zone)}`
  const fields = new Map(formatter.formatToParts(utc).map(({ type, value }) => [type, value]))
  const field = (name: Intl.DateTimeFormatPartTypes): number => Number(fields.get(name) ?? 0)
  const local = new Date(0)
  // The first hours of the year 1 are in the year before it in the west, which is 1 BC there and 0 here.
  const year = fields.get('era') === 'B' ? 1 - field('year') : field('year')
  local.setUTCFullYear(year, field('month') - 1, field('day'))
  local.setUTCHours(field('hour'), field('minute'), field('second'), new Date(utc).getUTCMilliseconds())
  return local
}

function formatterOf(zone: string): Intl.DateTimeFormat | null {
  if (zone.length > LONGEST_ZONE) return null
  const known = formatters.get(zone)
  if (known !== undefined) return known
  let made: Intl.DateTimeFormat
  try {
    made = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      era: 'narrow',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return null
  }
  if (formatters.size >= MAX_FORMATTERS) formatters.clear()
  formatters.set(zone, made)
  return made
}
