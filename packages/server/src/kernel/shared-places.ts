// The places that one agent has, such as those of its waiting polls. Several processes behind one port share them.
//
// 1. A process gives out its share without asking. While no process gives out more, they are within the bound together.
// 2. Beyond its share a process asks the others how many they have given out. A place that is being asked for counts as
//    taken, so that two processes that ask at the same time do not give out the same place.
// 3. A process that was asked about a key no longer has a share for it, because another may have given out more than
//    its own. It asks as well, until it hears that all others together are within one share.
// 4. A process that has just begun was not asked. Before it gives out a place, it asks once for the keys of 3.
import { makeCounts } from './counts.ts'

/** What a process answers about its places of one kind. */
export interface PlacesGiven {
  /** How many it has given out to a key. */
  to(key: string): number
  /** The keys to which it has given out more than its share. */
  beyondShare(): string[]
}

/** The other processes behind the same port. */
export interface Siblings {
  /** How many processes there are, this one included. */
  count: number
  /** Registers what this process answers about its places of a kind. */
  answer(kind: string, given: PlacesGiven): void
  /** Returns how many places of a kind the other processes have given out to a key. */
  ask(kind: string, key: string): Promise<number>
  /** Returns the keys to which another process has given out more than its share. */
  askBeyondShare(kind: string): Promise<string[]>
}

export const NO_SIBLINGS: Siblings = { count: 1, answer() {}, ask: async () => 0, askBeyondShare: async () => [] }

export interface SharedPlaces {
  /** Takes a place. False if there is none; a promise only if other processes have to be asked. */
  take(key: string): boolean | Promise<boolean>
  /** Gives a place back. */
  leave(key: string): void
}

/** More keys than agents with so many requests at once. Past it a bound may be exceeded once. */
const MAX_CROWDED = 10_000

export function makeSharedPlaces(kind: string, most: number, siblings: Siblings): SharedPlaces {
  const taken = makeCounts()
  const share = Math.floor(most / siblings.count)
  /** The keys of which another process may have given out more than its share. */
  const crowded = new Set<string>()
  /** The last question about a key that has no answer yet, unless another process has asked about the key since. */
  const asked = new Map<string, number>()
  let asks = 0

  function addCrowded(key: string): void {
    if (crowded.size >= MAX_CROWDED) crowded.clear()
    crowded.add(key)
  }

  siblings.answer(kind, {
    to(key) {
      addCrowded(key)
      // The answer to it may have been given before the other process took more.
      asked.delete(key)
      return taken.of(key)
    },
    beyondShare: () => taken.keys().filter((key) => taken.of(key) > share),
  })
  let beginning: Promise<void> | null = siblings.count > 1 ? begin() : null

  async function begin(): Promise<void> {
    for (const key of await siblings.askBeyondShare(kind)) addCrowded(key)
    beginning = null
  }

  const leave = (key: string): void => taken.add(key, -1)

  async function askOthers(key: string): Promise<boolean> {
    const ask = ++asks
    asked.set(key, ask)
    const elsewhere = await siblings.ask(kind, key)
    if (asked.get(key) === ask) {
      asked.delete(key)
      if (elsewhere <= share) crowded.delete(key)
    }
    const isFree = taken.of(key) + elsewhere <= most
    if (!isFree) leave(key)
    return isFree
  }

  function take(key: string): boolean | Promise<boolean> {
    if (beginning) return beginning.then(() => take(key))
    const now = taken.of(key) + 1
    if (now > most) return false
    taken.add(key, 1)
    return (now <= share && !crowded.has(key)) || askOthers(key)
  }

  return { take, leave }
}
