// Which endpoint may be pushed to next. A push holds a slot for as long as the endpoint takes, up to 15 s, so a dead
// endpoint could take slots from others. Three rules prevent that:
//
// 1. Endpoints have a reputation. One that answers is proven; one never tried is new; one whose last push failed is
//    suspect. New ones together get at most half of the slots, suspects a quarter: proven ones always have room.
// 2. A tenant gets at most half of the slots, with the same shares inside it.
// 3. Tenants take turns, and inside a tenant its endpoints take turns.

export const REPUTATIONS = ['proven', 'new', 'suspect'] as const
export type Reputation = (typeof REPUTATIONS)[number]

const SHARE: Record<Reputation, number> = { proven: 1, new: 1 / 2, suspect: 1 / 4 }
const TENANT_SHARE = 1 / 2

type Held = Record<Reputation, number>

const sum = (held: Held): number => held.proven + held.new + held.suspect

const roomIn = (held: Held, reputation: Reputation, total: number): number =>
  Math.min(total - sum(held), total * SHARE[reputation] - held[reputation])

export interface Slots<E> {
  /** Puts an endpoint in line; one that is in line already keeps its position. */
  line(tenant: string, reputation: Reputation, endpoint: E): void
  /**
   * Takes the next endpoint of that reputation, and up to as many slots as it wants; undefined if none can have one.
   */
  grant(reputation: Reputation, wanted: (endpoint: E) => number): Grant<E> | undefined
  release(grant: Grant<E>, count: number): void
  held(): number
}

export interface Grant<E> {
  endpoint: E
  tenant: string
  reputation: Reputation
  count: number
}

export function makeSlots<E>(total: number): Slots<E> {
  const everywhere: Held = { proven: 0, new: 0, suspect: 0 }
  const tenants = new Map<string, Held>()
  const lines: Record<Reputation, Map<string, Set<E>>> = { proven: new Map(), new: new Map(), suspect: new Map() }

  const room = (tenant: string, reputation: Reputation): number => {
    const held = tenants.get(tenant)
    const here = held ? roomIn(held, reputation, total * TENANT_SHARE) : total * TENANT_SHARE * SHARE[reputation]
    return Math.floor(Math.min(here, roomIn(everywhere, reputation, total)))
  }

  function grant(reputation: Reputation, wanted: (endpoint: E) => number): Grant<E> | undefined {
    const line = lines[reputation]
    if (roomIn(everywhere, reputation, total) < 1) return undefined
    for (const [tenant, endpoints] of line) {
      const free = room(tenant, reputation)
      if (free < 1) continue
      for (const endpoint of endpoints) {
        endpoints.delete(endpoint)
        const count = Math.min(wanted(endpoint), free)
        if (count < 1) continue
        // A tenant that had a turn goes to the end: a Map keeps the order of insertion.
        line.delete(tenant)
        if (endpoints.size > 0) line.set(tenant, endpoints)
        everywhere[reputation] += count
        const held = tenants.get(tenant) ?? { proven: 0, new: 0, suspect: 0 }
        held[reputation] += count
        tenants.set(tenant, held)
        return { endpoint, tenant, reputation, count }
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
    release({ tenant, reputation }, count) {
      everywhere[reputation] -= count
      const held = tenants.get(tenant)
      if (!held) return
      held[reputation] -= count
      if (sum(held) === 0) tenants.delete(tenant)
    },
    held: () => sum(everywhere),
  }
}
