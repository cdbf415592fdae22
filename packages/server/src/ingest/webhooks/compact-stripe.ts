// What an agent needs of an event of Stripe's: the object that it is about, without what is nested in it. Pure, and
// linear in the body.

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Texts, numbers and flags stay; an object inside is its id, where it has one; lists and what is null are left out. */
function flat(object: Json): Json {
  const kept: Json = {}
  for (const [name, value] of Object.entries(object)) {
    if (isObject(value)) {
      if (name === 'metadata') kept[name] = value
      else if (typeof value['id'] === 'string') kept[name] = value['id']
    } else if (value !== null && !Array.isArray(value)) kept[name] = value
  }
  return kept
}

/**
 * The fields of `data.object`, and what changed as `previous_attributes`; undefined for what is no event of Stripe's.
 */
export function compactStripe(body: unknown): unknown {
  const data = isObject(body) ? body['data'] : undefined
  if (!isObject(data) || !isObject(data['object'])) return undefined
  const previous = data['previous_attributes']
  return { ...flat(data['object']), ...(isObject(previous) ? { previous_attributes: flat(previous) } : {}) }
}
