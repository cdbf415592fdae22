// The traffic of a channel as one CEL expression over events: those addressed to it, and those that a feed matches. The
// live stream of the service evaluates it, so that it means the same here as in the service.
import type { Channel, Feed } from '@sensorium/client'
import { parseGlob, type CharClass } from '../agents/glob.ts'

/** The longest filter that the live stream accepts. */
const LONGEST = 4096

const ANY = '.'
const NONE = '[^\\x{0}-\\x{10FFFF}]'

/** Returns the character as it is written in a regular expression, inside of a class or outside. */
const quoted = (point: number): string => String.fromCodePoint(point).replace(/[\\^$.|?*+()[\]{}-]/, '\\$&')

function regexOfClass({ isNegated, ranges }: CharClass): string {
  // A pattern may have empty ranges and classes of nothing else. A regular expression with one is refused.
  const members = ranges.filter(([first, last]) => first <= last)
  const [only] = members
  if (only === undefined) return isNegated ? ANY : NONE
  if (!isNegated && members.length === 1 && only[0] === only[1]) return quoted(only[0])
  const written = members.map(([first, last]) => (first === last ? quoted(first) : `${quoted(first)}-${quoted(last)}`))
  return `[${isNegated ? '^' : ''}${written.join('')}]`
}

/** Returns a regular expression with the same meaning as a pattern over event types. */
export function regexOf(glob: string): string {
  const parts = parseGlob(glob).map((item) => (item === '*' ? '.*' : item === '?' ? ANY : regexOfClass(item)))
  return `^(?s:${parts.join('')})$`
}

function partOf({ event_type_glob, filter_expression }: Feed): string {
  const type = `event.type.matches(${JSON.stringify(regexOf(event_type_glob))})`
  // The line break closes a comment at the end of the filter, if there is one.
  return filter_expression === null ? type : `(${type} && (${filter_expression}\n))`
}

/** Returns the expression, and whether it covers every feed: of very many, those that do not fit are left out. */
export function trafficFilter({ id }: Channel, feeds: readonly Feed[]): { filter: string; isWhole: boolean } {
  let filter = `(has(event.recipient) && event.recipient == ${JSON.stringify(id)})`
  const parts = feeds.filter(({ active }) => active).map(partOf)
  let isWhole = true
  for (const part of parts) {
    if (filter.length + part.length + 4 > LONGEST) isWhole = false
    else filter += ` || ${part}`
  }
  return { filter, isWhole }
}
