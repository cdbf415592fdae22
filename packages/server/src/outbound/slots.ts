// Which endpoint may be pushed to next. A push holds a slot and the memory of its body for as long as the endpoint
// takes, up to 15 s, so a dead endpoint could take both from others. Four rules prevent that:
//
// 1. Endpoints have a reputation. One that answers is proven; one never tried is new; one whose last push failed is
//    suspect. New ones together get at most half of the slots, suspects a quarter: proven ones always have room.
// 2. A tenant gets at most half of the slots, with the same shares inside it.
// 3. Memory has the same shares. How long a body is shows only once it is claimed, so until then each slot reserves a
//    million characters: without that, a single claim of 128 long events took as much as all tenants share. Characters
//    are counted because a text knows how many it has; in memory each takes one byte or two.
// 4. Tenants take turns, and inside a tenant its endpoints take turns.

export const REPUTATIONS = ['proven', 'new', 'suspect'] as const
export type Reputation = (typeof REPUTATIONS)[number]

const SHARE: Record<Reputation, number> = { proven: 1, new: 1 / 2, suspect: 1 / 4 }
const TENANT_SHARE = 1 / 2

/** What a slot reserves until its body is known: the size that an event may have by default. */
const RESERVED_CHARACTERS = 1_000_000

type ByReputation = Record<Reputation, number>

interface Held {
  slots: ByReputation
  characters: ByReputation
}

const nothingHeld = (): Held => ({
  slots: { proven: 0, new: 0, suspect: 0 },
  characters: { proven: 0, new: 0, suspect: 0 },
})

function add(held: Held, reputation: Reputation, slots: number, characters: number): void {
  held.slots[reputation] += slots
  held.characters[reputation] += characters
}

const sum = (held: ByReputation): number => held.proven + held.new + held.suspect

const roomIn = (held: ByReputation, reputation: Reputation, total: number): number =>
  Math.min(total - sum(held), total * SHARE[reputation] - held[reputation])

interface Slots<E> {
  /** Puts an endpoint in line; one that is in line already keeps its position. */
  line(tenant: string, reputation: Reputation, endpoint: E): void
  /**
   * Takes the next endpoint of that reputation, and up to as many slots as it wants; undefined if none can have one.
   */
  grant(reputation: Reputation, wanted: (endpoint: E) => number): Grant<E> | undefined
  /**
   * Gives back slots and characters of a grant. Negative ones are taken in addition: a body may be longer than what was
   * reserved for it.
   */
  release(grant: Grant<E>, count: number, characters: number): void
  held(): number
}

export interface Grant<E> {
  endpoint: E
  tenant: string
  reputation: Reputation
  count: number
  /** What is reserved for the bodies. */
  characters: number
}

export function makeSlots<E>(maxSlots: number, maxCharacters: number): Slots<E> {
  const everywhere = nothingHeld()
  const tenants = new Map<string, Held>()
  const lines: Record<Reputation, Map<string, Set<E>>> = { proven: new Map(), new: new Map(), suspect: new Map() }

  /** For how many more pushes there are slots and memory in a share of both. */
  const roomFor = ({ slots, characters }: Held, reputation: Reputation, share: number): number =>
    Math.floor(
      Math.min(
        roomIn(slots, reputation, maxSlots * share),
        roomIn(characters, reputation, maxCharacters * share) / RESERVED_CHARACTERS,
      ),
    )

  function grant(reputation: Reputation, wanted: (endpoint: E) => number): Grant<E> | undefined {
    const line = lines[reputation]
    const freeEverywhere = roomFor(everywhere, reputation, 1)
    if (freeEverywhere < 1) return undefined
    for (const [tenant, endpoints] of line) {
      const held = tenants.get(tenant) ?? nothingHeld()
      const free = Math.min(freeEverywhere, roomFor(held, reputation, TENANT_SHARE))
      if (free < 1) continue
      for (const endpoint of endpoints) {
        endpoints.delete(endpoint)
        const count = Math.min(wanted(endpoint), free)
        if (count < 1) continue
        // A tenant that had a turn goes to the end: a Map keeps the order of insertion.
        line.delete(tenant)
        if (endpoints.size > 0) line.set(tenant, endpoints)
        const characters = count * RESERVED_CHARACTERS
        tenants.set(tenant, held)
        add(held, reputation, count, characters)
        add(everywhere, reputation, count, characters)
        return { endpoint, tenant, reputation, count, characters }
      }
      line.delete(tenant)
    }
    return undefined
  }

  return {
    line(tenant, reputation, endpoint) {
      const line = lines[reputation]
      const endpoints = line.get(tenant)
      if (endpoints) endpoints.add(endpoint)
      else line.set(tenant, new Set([endpoint]))
    },
    grant,
    release({ tenant, reputation }, count, characters) {
      const held = tenants.get(tenant)!
      add(held, reputation, -count, -characters)
      add(everywhere, reputation, -count, -characters)
      if (sum(held.slots) === 0) tenants.delete(tenant)
    },
    held: () => sum(everywhere.slots),
  }
}
