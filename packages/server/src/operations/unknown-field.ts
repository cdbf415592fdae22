// `Prefer: handling=strict`: finds a field that the schema of a body does not know, which is otherwise ignored. Pure.
//
// Fields are not checked in objects without declared fields (metadata, data), in objects that allow more (CloudEvents),
// and in texts that are kept as they came.
import type { Schema } from '@sensorium/contract'
import type { Invalid } from '../kernel/failure.ts'

interface Described {
  properties?: Record<string, Described>
  items?: Described
  additionalProperties?: unknown
}

/** A longer name is no misspelling, and comparing it would cost its length times that of each field. */
const MAX_COMPARED = 64

/** Returns how many characters must be changed, added or removed to turn one text into the other. */
function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++)
      row.push(Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    above = row
  }
  return above[b.length]!
}

const nearest = (name: string, known: readonly string[]): string | undefined =>
  known
    .map((other) => ({ other, away: distance(name.slice(0, MAX_COMPARED).toLowerCase(), other) }))
    .sort((a, b) => a.away - b.away)[0]?.other

interface Found {
  path: string
  value: unknown
  known: readonly string[]
  name: string
}

function find(schema: Described, value: unknown, path: string): Found | null {
  if (Array.isArray(value)) {
    if (!schema.items) return null
    for (const [i, item] of value.entries()) {
      const found = find(schema.items, item, `${path}[${i}]`)
      if (found) return found
    }
    return null
  }
  if (!schema.properties || typeof value !== 'object' || value === null) return null
  const isOpen = schema.additionalProperties !== undefined && schema.additionalProperties !== false
  for (const [name, part] of Object.entries(value)) {
    const at = path ? `${path}.${name}` : name
    const known = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    if (known) {
      const found = find(known, part, at)
      if (found) return found
    } else if (!isOpen) return { path: at, value: part, known: Object.keys(schema.properties), name }
  }
  return null
}

/** Describes the first unknown field of a body; null if there is none. `mayBeSecret` says that its value may be a secret. */
export function unknownField(schema: Schema, body: unknown, mayBeSecret: boolean): Invalid | null {
  const found = find(schema as Described, body, '')
  if (!found) return null
  const near = nearest(found.name, found.known)
  return {
    field: found.path.slice(0, 1_000),
    value: mayBeSecret ? '[redacted]' : found.value,
    expected: near === undefined ? 'no field' : `a known field; the nearest is ${near}`,
    example: near ?? null,
  }
}
