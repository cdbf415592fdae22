// Results as JSON, and as words for a person.
import { formatCidr, formatIp } from './address.ts'
import { CelError, quote } from './errors.ts'
import { formatDuration, formatTimestamp } from './time.ts'
import {
  Cidr,
  Double,
  Duration,
  Ip,
  isRecord,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  valueOfKey,
  type CelMap,
  type JsonObject,
  type Value,
} from './values.ts'

/** More values or characters than any accepted event has. A list may hold the same large value many times. */
const MAX_RESULT_SIZE = 2_000_000
const MAX_RESULT_DEPTH = 200
/** Values and characters of one step: about half a millisecond. */
const STEP_SIZE = 2_048

/** Converts a whole number that a double cannot represent exactly. */
export type ConvertBigInt = (whole: bigint) => unknown

/** Describes a value to a person. A large event may be in a list or a map, so these are only named. */
export function describeValue(value: Value): string {
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return 'a list'
  if (isRecord(value) || value instanceof Map) return 'a map'
  if (value instanceof Optional) return 'an optional'
  return value instanceof Uint8Array ? 'bytes' : String(scalarToJson(value))
}

/** Converts a result to JSON by the rules of CEL: values that JSON cannot represent exactly become strings. */
export function toJson(value: Value, convertBigInt?: ConvertBigInt): unknown {
  const steps = toJsonSteps(value, convertBigInt)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** Does the same and yields after each step: a list may be a large part of the event, which takes 100 ms at once. */
export function* toJsonSteps(value: Value, convertBigInt: ConvertBigInt = String): Generator<void, unknown> {
  // The event itself or a part of it, unchanged: already JSON, and no larger than the event.
  if (isRecord(value)) return value
  let room = MAX_RESULT_SIZE
  let pauseAt = room - STEP_SIZE
  const take = (part: unknown, depth: number): void => {
    room -= typeof part === 'string' ? part.length + 1 : 1
    if (room < 0) throw new CelError('the result is too large')
    if (depth > MAX_RESULT_DEPTH) throw new CelError('the result is nested too deeply')
  }
  const isPauseDue = (): boolean => {
    if (room > pauseAt) return false
    pauseAt = room - STEP_SIZE
    return true
  }

  function* measure(part: unknown, depth: number): Generator<void, void> {
    take(part, depth)
    if (typeof part !== 'object' || part === null) return
    for (const name of Object.keys(part)) {
      if (!Array.isArray(part)) take(name, depth)
      yield* measure((part as JsonObject)[name], depth + 1)
      if (isPauseDue()) yield
    }
  }

  function* convert(part: Value, depth: number): Generator<void, unknown> {
    take(part, depth)
    if (isPauseDue()) yield
    if (Array.isArray(part)) {
      const items: unknown[] = []
      for (const item of part as readonly Value[]) items.push(yield* convert(item, depth + 1))
      return items
    }
    if (part instanceof Map) {
      const entries: [string, unknown][] = []
      for (const [key, item] of part as CelMap) {
        const name = String(valueOfKey(key))
        take(name, depth)
        entries.push([name, yield* convert(item, depth + 1)])
      }
      // fromEntries defines its keys, so that __proto__ is a key like any other.
      return Object.fromEntries(entries)
    }
    if (part instanceof Optional) return part.held === undefined ? null : yield* convert(part.held, depth + 1)
    if (isRecord(part)) {
      yield* measure(part, depth)
      return part
    }
    return typeof part === 'bigint' ? convertBigInt(part) : scalarToJson(part)
  }

  return yield* convert(value, 0)
}

function scalarToJson(value: Value): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (value instanceof Double) return value.whole
  if (value instanceof Uint) {
    return value.unsigned <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value.unsigned) : String(value.unsigned)
  }
  if (value instanceof Timestamp) return formatTimestamp(value)
  if (value instanceof Duration) return formatDuration(value)
  if (value instanceof TypeValue) return value.typeName
  if (value instanceof Ip) return formatIp(value)
  if (value instanceof Cidr) return formatCidr(value)
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value
}
