// What an empty list says of itself.

/**
 * Returns `whole`, or `part` if the query leaves anything out: by a filter, or by an offset, which may be behind the end
 * of the list. Nobody must take a filter that fits nothing for an empty dead-letter queue.
 */
export const noneOf = (query: object, whole: string, part: string): string =>
  Object.entries(query).some(([name, value]) => name !== 'limit' && value !== undefined) ? part : whole
