// Limits how many members the messages of a request have, while they are parsed. The library checks whatever is around
// the arguments of a tool member by member, in one turn, and describes each that is wrong: a megabyte of wrong members
// held the node for 1.8 seconds, and the response was twenty times as long as the request. The values of arguments are
// free, because they may be an event, and the library does not look into them.

/** A message has about ten members, and a request up to a hundred messages. */
export const MAX_MEMBERS = 1_000
/** No tool has half as many arguments. */
export const MAX_ARGUMENTS = 64

export class TooManyMembers extends Error {}

/** Returns what counts the members of one request for the parser, and throws TooManyMembers. */
export function makeMemberLimit(): (depth: number, nameOf: () => string | null) => void {
  /** The depth of the members of a message: one more in a batch. */
  let messageDepth = 1
  let isInParams = false
  /** The depth at which the member `arguments` stands whose value is under way. */
  let argumentsDepth = Infinity
  let members = 0
  let names = 0

  return (depth, nameOf) => {
    if (depth > argumentsDepth) {
      if (depth === argumentsDepth + 1 && nameOf() !== null && ++names > MAX_ARGUMENTS)
        throw new TooManyMembers(`a tool is called with at most ${MAX_ARGUMENTS} arguments`)
      return
    }
    argumentsDepth = Infinity
    if (++members > MAX_MEMBERS)
      throw new TooManyMembers(`a request has at most ${MAX_MEMBERS} members outside the arguments of tools`)
    const name = nameOf()
    if (depth === 1 && name === null) messageDepth = 2
    if (depth === messageDepth) isInParams = name === 'params'
    if (depth === messageDepth + 1 && isInParams && name === 'arguments') {
      argumentsDepth = depth
      names = 0
    }
  }
}
