// The places that one agent has, such as those of its waiting polls. Several processes behind one port share them.
//
// 1. A process gives out its share without asking. While no process gives out more, they are within the bound together.
// 2. Beyond its share a process asks the others how many they have given out. A place that is being asked for counts as
//    taken, so that two processes that ask at the same time do not give out the same place.
// 3. A process that was asked about a key no longer has a share for it, because another may have given out more than
//    its own. It asks as well, until it hears that all others are within their shares.

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

/** More keys than agents with so many requests at once. Past it a bound may be exceeded once. */
const MAX_CROWDED = 10_000

export function makeSharedPlaces(kind: string, most: number, siblings: Siblings): SharedPlaces {
  const taken = new Map<string, number>()
  const share = Math.floor(most / siblings.count)
  /** The keys that another process asked about. */
  const crowded = new Set<string>()

  siblings.answer(kind, (key) => {
    if (crowded.size >= MAX_CROWDED) crowded.clear()
    crowded.add(key)
    return taken.get(key) ?? 0
  })

  function leave(key: string): void {
    const left = taken.get(key)! - 1
    if (left === 0) taken.delete(key)
    else taken.set(key, left)
  }

  async function askOthers(key: string): Promise<boolean> {
    const elsewhere = await siblings.ask(kind, key)
    if (elsewhere <= share) crowded.delete(key)
    const isFree = taken.get(key)! + elsewhere <= most
    if (!isFree) leave(key)
    return isFree
  }

  return {
    take(key) {
      const now = (taken.get(key) ?? 0) + 1
      if (now > most) return false
      taken.set(key, now)
      return (now <= share && !crowded.has(key)) || askOthers(key)
    },
    leave,
  }
}
