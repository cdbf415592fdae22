// Who may push next. A push holds a slot for as long as the endpoint takes, up to 15 s, so slots are what a dead
// endpoint could take from others. Three things keep it from doing so:
//
// 1. Endpoints have a standing. One that answers is proven; one never tried is new; one whose last push failed is
//    suspect. New ones together get at most half of the slots, suspects a quarter: the proven always have room.
// 2. A tenant gets at most half of the slots, with the same shares inside it.
// 3. Tenants take turns, and inside a tenant its endpoints take turns.

export const STANDINGS = ['proven', 'new', 'suspect'] as const
export type Standing = (typeof STANDINGS)[number]

const SHARE: Record<Standing, number> = { proven: 1, new: 1 / 2, suspect: 1 / 4 }
const TENANT_SHARE = 1 / 2

type Held = Record<Standing, number>

const sum = (held: Held): number => held.proven + held.new + held.suspect

const roomIn = (held: Held, standing: Standing, total: number): number =>
  Math.min(total - sum(held), total * SHARE[standing] - held[standing])

export interface Slots<E> {
  /** Puts an endpoint in line; one that is in line already stays where it is. */
  line(tenant: string, standing: Standing, endpoint: E): void
  /**
   * Takes the endpoint of that standing whose turn it is and up to as many slots as it wants; undefined when none can
   * have one.
   */
  grant(standing: Standing, wanted: (endpoint: E) => number): Grant<E> | undefined
  release(grant: Grant<E>, count: number): void
  held(): number
}

export interface Grant<E> {
  endpoint: E
  tenant: string
  standing: Standing
  count: number
}

export function makeSlots<E>(total: number): Slots<E> {
  const everywhere: Held = { proven: 0, new: 0, suspect: 0 }
  const tenants = new Map<string, Held>()
  const lines: Record<Standing, Map<string, Set<E>>> = { proven: new Map(), new: new Map(), suspect: new Map() }

  const room = (tenant: string, standing: Standing): number => {
    const held = tenants.get(tenant)
    const here = held ? roomIn(held, standing, total * TENANT_SHARE) : total * TENANT_SHARE * SHARE[standing]
    return Math.floor(Math.min(here, roomIn(everywhere, standing, total)))
  }

  function grant(standing: Standing, wanted: (endpoint: E) => number): Grant<E> | undefined {
    const line = lines[standing]
    if (roomIn(everywhere, standing, total) < 1) return undefined
    for (const [tenant, endpoints] of line) {
      const free = room(tenant, standing)
      if (free < 1) continue
      for (const endpoint of endpoints) {
        endpoints.delete(endpoint)
        const count = Math.min(wanted(endpoint), free)
        if (count < 1) continue
        // Whoever had a turn goes to the end: a Map keeps the order of insertion.
        line.delete(tenant)
        if (endpoints.size > 0) line.set(tenant, endpoints)
        everywhere[standing] += count
        const held = tenants.get(tenant) ?? { proven: 0, new: 0, suspect: 0 }
        held[standing] += count
        tenants.set(tenant, held)
        return { endpoint, tenant, standing, count }
      }
      line.delete(tenant)
    }
    return undefined
  }

  return {
    line(tenant, standing, endpoint) {
      const line = lines[standing]
      const endpoints = line.get(tenant)
      if (endpoints) endpoints.add(endpoint)
      else line.set(tenant, new Set([endpoint]))
    },
    grant,
    release({ tenant, standing }, count) {
      everywhere[standing] -= count
      const held = tenants.get(tenant)
      if (!held) return
      held[standing] -= count
      if (sum(held) === 0) tenants.delete(tenant)
    },
    held: () => sum(everywhere),
  }
}
