// Networks that sent much at once, remembered for a while: a client that disconnects and comes back is still known.

const LOUD_FOR_MS = 60_000
/** The oldest is forgotten first. */
const MOST_REMEMBERED = 10_000

interface LoudNetworks {
  note(name: string): void
  has(name: string): boolean
}

export function makeLoudNetworks(now: () => number): LoudNetworks {
  /** In order of expiry. */
  const until = new Map<string, number>()
  return {
    note(name) {
      until.delete(name)
      until.set(name, now() + LOUD_FOR_MS)
      if (until.size > MOST_REMEMBERED) until.delete(until.keys().next().value!)
    },
    has(name) {
      const end = until.get(name)
      if (end !== undefined && end <= now()) until.delete(name)
      return until.has(name)
    },
  }
}
