// Reads fields. Only own properties of a JSON object count: `data.constructor` is missing like any other field that was
// not sent. Nearly all field names are never inherited properties, so a plain property read needs no check for that;
// the other names are read by `carefulField`. This holds for objects that JSON.parse or Object.fromEntries made, and a
// caller must give no others: `made[name] = value` takes a member called `__proto__` for the prototype. To ask at every
// read (Object.hasOwn, or for the prototype) made filters of 110 to 240 ns slower by 30 to 130 ns.
import { isMap, lookUp, payKey } from './compare.ts'
import { quote } from './errors.ts'
import {
  Cidr,
  Double,
  Duration,
  fail,
  FAULT,
  Ip,
  isRecord,
  NONE,
  Optional,
  overBudget,
  Timestamp,
  TypeValue,
  typeWord,
  Uint,
  type CelMap,
  type Context,
  type JsonObject,
  type Result,
  type Run,
  type Value,
} from './values.ts'

const UNSAFE_KEYS = new Set<string>(
  [
    Object,
    Array,
    Map,
    Uint8Array,
    Object.getPrototypeOf(Uint8Array) as typeof Object,
    Double,
    Uint,
    Timestamp,
    Duration,
    TypeValue,
    Optional,
    Ip,
    Cidr,
  ].flatMap((made) => Object.getOwnPropertyNames(made.prototype)),
)
for (const own of [
  'whole',
  'unsigned',
  'seconds',
  'nanos',
  'typeName',
  'held',
  'family',
  'bits',
  'ip',
  'prefix',
  'length',
])
  UNSAFE_KEYS.add(own)

/** Reports whether `object[key]`, if it is not undefined, can only be an own property of a JSON object. */
function isPlainKey(key: string): boolean {
  return !UNSAFE_KEYS.has(key) && /^[A-Za-z_]/.test(key)
}

/** Reads the variable at an index. `name` is its name in the message if it has no value. */
export function readVariable(index: number, name: string): Run {
  const missing = `no such field: ${name}`
  return (c) => c.vars[index] ?? (c.vars[index] === null ? null : fail(c, missing))
}

/** Reads a field of the variable at an index, in one closure because most filters consist of these. */
export function readVariableField(index: number, field: string): Run {
  const missing = `no such field: ${field}`
  if (!isPlainKey(field)) {
    return (c) => {
      const object = c.vars[index]
      return object === undefined ? fail(c, missing) : carefulField(c, object, field, missing)
    }
  }
  return (c) => {
    const object = c.vars[index]
    if (typeof object === 'object' && object !== null) {
      const value = (object as JsonObject)[field]
      if (value !== undefined) return value
    }
    return object === undefined ? fail(c, missing) : carefulField(c, object, field, missing)
  }
}

/** Reads a field of the result of `object`. `missing` is the message if there is no such field. */
export function readField(object: Run, field: string, missing = `no such field: ${field}`): Run {
  const plain = isPlainKey(field)
  return (c) => {
    const from = object(c)
    if (from === FAULT) return FAULT
    if (plain && typeof from === 'object' && from !== null) {
      const value = (from as JsonObject)[field]
      if (value !== undefined) return value
    }
    return carefulField(c, from, field, missing)
  }
}

function carefulField(c: Context, object: Value, field: string, missing: string): Result {
  if (object instanceof Optional) return optionalField(c, object, field)
  if (object instanceof Map) {
    const found = lookUp(object as CelMap, field)
    return found === undefined ? fail(c, missing) : found
  }
  if (!isRecord(object)) return fail(c, `${missing} (${typeWord(object)} has no fields)`)
  return Object.hasOwn(object, field) ? (object[field] as Value) : fail(c, missing)
}

export function testField(object: Run, field: string): Run {
  return (c) => {
    const given = object(c)
    if (given === FAULT) return FAULT
    const from = given instanceof Optional ? given.held : given
    if (from === undefined) return false
    if (from instanceof Map) return lookUp(from as CelMap, field) !== undefined
    return isRecord(from) ? Object.hasOwn(from, field) : fail(c, `has() needs a map, not ${typeWord(from)}`)
  }
}

/** `object.?field`, and `object.field` if the object is itself an optional. */
export function optionalField(c: Context, object: Value, field: string): Result {
  const from = object instanceof Optional ? object.held : object
  if (from === undefined) return NONE
  if (!isMap(from)) return fail(c, `no such field: ${field} (${typeWord(from)} has no fields)`)
  const found = lookUp(from, field)
  return found === undefined ? NONE : new Optional(found)
}

/** `object[?key]`, and `object[key]` if the object is itself an optional. */
export function optionalElement(c: Context, object: Value, key: Value): Result {
  const from = object instanceof Optional ? object.held : object
  if (from === undefined) return NONE
  if (Array.isArray(from)) {
    const index = indexOfList(key)
    if (index === null) return fail(c, `${typeWord(key)} is not an index of a list`)
    return index >= 0 && index < from.length ? new Optional((from as readonly Value[])[index]) : NONE
  }
  if (!isMap(from)) return fail(c, `${typeWord(from)} has no elements`)
  if (!payKey(c, key)) return overBudget(c)
  const found = lookUp(from, key)
  return found === undefined ? NONE : new Optional(found)
}

function indexOfList(key: Value): number | null {
  const index = key instanceof Double ? key.whole : key instanceof Uint ? Number(key.unsigned) : key
  return typeof index === 'number' && Number.isInteger(index) ? index : null
}

/** `object[key]`. */
export function elementAt(c: Context, object: Value, key: Value): Result {
  if (Array.isArray(object)) {
    const index = indexOfList(key)
    if (index === null) return fail(c, `${typeWord(key)} is not an index of a list`)
    if (index >= 0 && index < object.length) return (object as readonly Value[])[index] as Value
    return fail(c, `index ${index} is out of range in a list of ${object.length}`)
  }
  if (object instanceof Optional) return optionalElement(c, object, key)
  if (!isMap(object)) return fail(c, `${typeWord(object)} has no elements`)
  if (!payKey(c, key)) return overBudget(c)
  const found = lookUp(object, key)
  if (found !== undefined) return found
  if (typeof key === 'string') return fail(c, `no such key: ${quote(key)}`)
  return fail(c, typeof key === 'number' ? `no such key: ${key}` : `no such key: a ${typeWord(key)}`)
}
