// What goes through a channel, as one CEL expression over events: what is addressed to it, and what a feed matches. The
// live stream of the service evaluates it, so that it means here what it means there.
import type { Channel, Feed } from '@sensorium/client'

/** What the live stream takes as a filter. */
const LONGEST = 4096

/** Where a class such as `[a-z_]` ends; -1 where its bracket is not closed and stands for itself. */
function endOfClass(glob: string, start: number): number {
  let at = start + (glob[start + 1] === '!' ? 2 : 1)
  for (const first = at; at < glob.length; at++) {
    // A `]` that comes first is a member.
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

/** A pattern over event types as a regular expression of the same meaning. */
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
  // The line break ends a comment that the filter may end with.
  return filter_expression === null ? type : `(${type} && (${filter_expression}\n))`
}

/** The expression, and whether it holds every feed: with very many, what is too long is left out. */
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
