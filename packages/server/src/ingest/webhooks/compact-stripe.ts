// Reduces a Stripe event to what an agent needs: the object that it is about, without nested objects. Pure, and done in
// a few milliseconds whatever the body is.
import { firstNames } from '../../kernel/first-names.ts'

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null

/** Metadata holds no objects or lists. What it had not before is null in `previous_attributes`. */
const metadataOf = (object: Json): Json =>
  Object.fromEntries(firstNames(object).flatMap((name) => (isScalar(object[name]) ? [[name, object[name]]] : [])))

/** Keeps strings, numbers, flags and metadata; a nested object becomes its id, if it has one; drops lists and nulls. */
function flat(object: Json): Json {
  const kept: [name: string, shown: unknown][] = []
  for (const name of firstNames(object)) {
    const value = object[name]
    if (isObject(value)) {
      if (name === 'metadata') kept.push([name, metadataOf(value)])
      else if (typeof value['id'] === 'string') kept.push([name, value['id']])
    } else if (value !== null && isScalar(value)) kept.push([name, value])
  }
  // An assignment would take a member called `__proto__` for the prototype.
  return Object.fromEntries(kept)
}

/** Returns the fields of `data.object`, and changes as `previous_attributes`; undefined if it is not a Stripe event. */
export function compactStripe(body: unknown): unknown {
  const data = isObject(body) ? body['data'] : undefined
  if (!isObject(data) || !isObject(data['object'])) return undefined
  const previous = data['previous_attributes']
  return { ...flat(data['object']), ...(isObject(previous) ? { previous_attributes: flat(previous) } : {}) }
}
