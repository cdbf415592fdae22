// What an entry of the audit log shows of the request. Pure.
//
// 1. Only what the contract declares is shown: the fields that the operation names and, of an object, its declared
//    members. Unknown members are ignored everywhere, and an entry must not keep them for a year.
// 2. However long the request, its details are short: texts and lists are cut, and a field that does not fit is only
//    named.
// 3. Of a URL, its user, password and query are left out: they may be secrets.
import type { Operation } from '@sensorium/contract'
import { hideKeys } from '../kernel/hide-keys.ts'

/** The length of the details as JSON, apart from the names in `left_out`. */
const LONGEST_DETAILS = 4_096
const LONGEST_TEXT = 200
/** No id in a path is longer: external ids have up to 255 characters, of one or two code units each. */
const LONGEST_PARAM = 510
const LONGEST_LIST = 20

interface Described {
  format?: string
  properties?: Readonly<Record<string, Described>>
  items?: Described
}

interface ShownRequest {
  operation: Pick<Operation, 'audit' | 'body'>
  params: Readonly<Record<string, string | undefined>>
  body: unknown
  /** The API key of the call, empty if there is none. */
  keyId: string
}

const cut = (text: string, longest: number): string =>
  text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text

export const fieldsOf = (body: unknown): Record<string, unknown> =>
  typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}

/** A URL without its user and password, and without its query, in which keys stand too. */
function placeOf(url: string): string {
  const parsed = URL.parse(url)
  return parsed === null ? '' : parsed.origin + parsed.pathname
}

function declared(value: unknown, schema: Described = {}): unknown {
  if (typeof value === 'string')
    return cut(hideKeys(schema.format === 'http-url' ? placeOf(value) : value), LONGEST_TEXT)
  if (Array.isArray(value)) return value.slice(0, LONGEST_LIST).map((item) => declared(item, schema.items))
  if (typeof value !== 'object' || value === null) return value
  const members = value as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(schema.properties ?? {})
      .filter(([name]) => Object.hasOwn(members, name))
      .map(([name, part]) => [name, declared(members[name], part)]),
  )
}

/** Returns the parameters, the key and the fields to be shown; beside a list that is cut, how many items it had. */
function* shown({ operation, params, body, keyId }: ShownRequest): Generator<[name: string, value: unknown]> {
  for (const [name, value] of Object.entries(params)) if (value !== undefined) yield [name, cut(value, LONGEST_PARAM)]
  if (keyId !== '') yield ['actor_key_id', keyId]
  const fields = fieldsOf(body)
  const schemas = (operation.body as Described | undefined)?.properties
  for (const name of operation.audit ?? []) {
    const value = fields[name]
    if (value === undefined) continue
    yield [name, declared(value, schemas?.[name])]
    if (Array.isArray(value) && value.length > LONGEST_LIST) yield [`${name}_count`, value.length]
  }
}

export function detailsOf(request: ShownRequest): Record<string, unknown> {
  const details: Record<string, unknown> = {}
  const leftOut: string[] = []
  let room = LONGEST_DETAILS
  for (const [name, value] of shown(request)) {
    const length = JSON.stringify({ [name]: value }).length
    if (length > room) leftOut.push(name)
    else {
      room -= length
      details[name] = value
    }
  }
  return leftOut.length === 0 ? details : { ...details, left_out: leftOut }
}
