// `Prefer: handling=strict`: finds a field that the schema of a body does not know, which is otherwise ignored. Pure.
//
// Fields are not checked in objects without declared fields (metadata, data), in objects that allow more (CloudEvents),
// and in texts that are kept as they came.
import type { Schema } from '@sensorium/contract'
import type { Invalid } from '../kernel/failure.ts'
import { nearestFields } from './nearest-fields.ts'
import { ANYTHING, type Repeatable } from './repeatable.ts'

interface Described {
  properties?: Record<string, Described>
  items?: Described
  additionalProperties?: unknown
}

interface Found {
  path: readonly (string | number)[]
  value: unknown
  known: readonly string[]
  name: string
}

/** Whether an object somewhere in a value of this schema has declared fields. */
const hasFields = ({ properties, items }: Described): boolean =>
  properties !== undefined || (items !== undefined && hasFields(items))

/** The path is put together when something is found: for half a million items of a list it took 0.1 s. */
function find(schema: Described, value: unknown): Found | null {
  if (Array.isArray(value)) {
    const { items } = schema
    if (!items || !hasFields(items)) return null
    for (let i = 0; i < value.length; i++) {
      const found = find(items, value[i])
      if (found) return { ...found, path: [i, ...found.path] }
    }
    return null
  }
  if (!schema.properties || typeof value !== 'object' || value === null) return null
  const isOpen = schema.additionalProperties !== undefined && schema.additionalProperties !== false
  // Not `Object.entries`: most of a wide object is never looked at.
  for (const name in value) {
    if (!Object.hasOwn(value, name)) continue
    const part = (value as Record<string, unknown>)[name]
    const known = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    const found = known
      ? find(known, part)
      : isOpen
        ? null
        : { path: [], value: part, known: Object.keys(schema.properties), name }
    if (found) return { ...found, path: [name, ...found.path] }
  }
  return null
}

/** `events[3].data.name`. */
const textOf = (path: readonly (string | number)[]): string =>
  path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text ? `${text}.${step}` : step),
    '',
  )

function expectedOf(near: readonly string[], known: readonly string[]): string {
  if (near.length === 1) return `a known field; the nearest is ${near[0]}`
  if (near.length > 1) return `a known field; the nearest are ${near.join(', ')}`
  if (known.length === 0) return 'no field'
  return `a known field: ${known.join(', ')}`
}

/** Describes the first unknown field of a body; null if there is none. */
export function unknownField(schema: Schema, body: unknown, repeatable: Repeatable = ANYTHING): Invalid | null {
  const found = find(schema as Described, body)
  if (!found) return null
  const near = nearestFields(found.name, found.known)
  return {
    field: textOf(found.path).slice(0, 1_000),
    value: repeatable.ofPart(found.value),
    expected: expectedOf(near, found.known),
    example: near[0] ?? null,
  }
}
