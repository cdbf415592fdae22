// What an empty list says of itself.

/** Whether an option leaves anything out. The offset of a client is a number, that of the operator a text. */
const leavesOut = ([name, value]: [string, unknown]): boolean =>
  name !== 'limit' && value !== undefined && !(name === 'offset' && Number(value) === 0)

/**
 * Returns `whole`, or `part` if the query leaves anything out: by a filter, or by an offset, which may be behind the
 * end of the list. Nobody must take a filter that fits nothing for an empty dead-letter queue.
 */
export const noneOf = (query: object, whole: string, part: string): string =>
  Object.entries(query).some(leavesOut) ? part : whole
