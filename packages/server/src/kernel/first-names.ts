// The first names of an object that was parsed. JavaScript lists and sorts all names of an object at once, even for a
// loop that ends after the first: 20 to 80 ms for 90,000. So the parser keeps the first ones of a wide object while it
// is still small.

const FIRST = 200
const kept = new WeakMap<object, readonly string[]>()

export function keepFirstNames(object: object): void {
  if (!kept.has(object)) kept.set(object, Object.keys(object).slice(0, FIRST))
}

/** Returns the names of at most 200 members. */
export const firstNames = (object: object): readonly string[] => kept.get(object) ?? Object.keys(object).slice(0, FIRST)
