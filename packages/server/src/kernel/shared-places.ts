// The places that one agent has, such as those of its waiting polls. Several processes behind one port share them.
//
// 1. A process gives out its share without asking, once it has heard that all others are within theirs. While no
//    process gives out more, they are within the bound together.
// 2. Beyond its share a process asks the others how many they have given out. A place that is being asked for counts as
//    taken, so that two processes that ask at the same time do not give out the same place.
// 3. A process that was asked about a key no longer has a share for it, because another may have given out more than
//    its own. It asks as well, until it hears that all others are within their shares.
import { makeCounts } from './counts.ts'

/** The other processes behind the same port. */
export interface Siblings {
  /** How many processes there are, this one included. */
  count: number
  /** Registers the function that answers for this process how many places of a kind a key has taken. */
  answer(kind: string, taken: (key: string) => number): void
  /** Returns how many places of a kind the other processes have given out to a key. */
  ask(kind: string, key: string): Promise<number>
}

export const NO_SIBLINGS: Siblings = { count: 1, answer() {}, ask: async () => 0 }

export interface SharedPlaces {
  /** Takes a place. False if there is none; a promise only if other processes have to be asked. */
  take(key: string): boolean | Promise<boolean>
  /** Gives a place back. */
  leave(key: string): void
}

/** More keys than agents with requests at a process. Past it a process asks again. */
const MAX_CALM = 50_000

export function makeSharedPlaces(kind: string, most: number, siblings: Siblings): SharedPlaces {
  const taken = makeCounts()
  const share = Math.floor(most / siblings.count)
  /** The keys of which all other processes are within their shares. A process that has just begun knows of none. */
  const calm = new Set<string>()
  /** The last question about a key that has no answer yet, unless another process has asked about the key since. */
  const asked = new Map<string, number>()
  let asks = 0

  siblings.answer(kind, (key) => {
    calm.delete(key)
    // The answer may have been given before the other process took more.
    asked.delete(key)
    return taken.of(key)
  })

  const leave = (key: string): void => taken.add(key, -1)

  async function askOthers(key: string): Promise<boolean> {
    const ask = ++asks
    asked.set(key, ask)
    const elsewhere = await siblings.ask(kind, key)
    if (asked.get(key) === ask) {
      asked.delete(key)
      if (calm.size >= MAX_CALM) calm.clear()
      if (elsewhere <= share) calm.add(key)
    }
    const isFree = taken.of(key) + elsewhere <= most
    if (!isFree) leave(key)
    return isFree
  }

  return {
    take(key) {
      const now = taken.of(key) + 1
      if (now > most) return false
      taken.add(key, 1)
      return (now <= share && (siblings.count === 1 || calm.has(key))) || askOthers(key)
    },
    leave,
  }
}
