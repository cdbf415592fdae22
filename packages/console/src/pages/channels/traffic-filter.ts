// The traffic of a channel as one CEL expression over events: those addressed to it, and those that a feed matches. The
// live stream of the service evaluates it, so that it means the same here as in the service.
import type { Channel, Feed } from '@sensorium/client'

/** The longest filter that the live stream accepts. */
const LONGEST = 4096

/** Returns the end of a class such as `[a-z_]`, or -1 if its bracket is not closed and therefore literal. */
function endOfClass(glob: string, start: number): number {
  let at = start + (glob[start + 1] === '!' ? 2 : 1)
  for (const first = at; at < glob.length; at++) {
    // A leading `]` is a member of the class.
    if (glob[at] === ']' && at > first) return at
    if (glob[at] === '\\') at++
  }
  return -1
}

const quoted = (text: string): string => text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&')

function classOf(inside: string): string {
  const isNegated = inside.startsWith('!')
  const members = (isNegated ? inside.slice(1) : inside).replace(/\\(.)/gs, '$1')
  return `[${isNegated ? '^' : ''}${members.replace(/[\\[\]^]/g, '\\$&')}]`
}

/** Returns a regular expression with the same meaning as a pattern over event types. */
export function regexOf(glob: string): string {
  let regex = ''
  for (let at = 0; at < glob.length; at++) {
    const character = glob[at]!
    const end = character === '[' ? endOfClass(glob, at) : -1
    if (character === '*') regex += '.*'
    else if (character === '?') regex += '.'
    else if (end > 0) {
      regex += classOf(glob.slice(at + 1, end))
      at = end
    } else regex += quoted(character === '\\' && at + 1 < glob.length ? glob[++at]! : character)
  }
  return `^(?s:${regex})$`
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
