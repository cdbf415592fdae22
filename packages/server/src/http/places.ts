// Counts the requests in hand by caller. A node has a number of places, and no caller gets all of them. A request
// counts against the share of its client address until the caller is identified, then against those of the agent and
// its tenant. Health, readiness and metrics have places of their own, so that they are answered whatever else waits.
import type { Principal } from '../auth/principal.ts'
import { tooManyAtOnce, unavailable } from '../kernel/failure.ts'

/** Waiting polls count too; streams have a bound of their own. */
const OF_THE_NODE = 10_000
const OF_A_TENANT = 5_000
const OF_AN_AGENT = 1_000
const OF_AN_ADDRESS = 512
const OF_HEALTH = 512
const OF_AN_ADDRESS_FOR_HEALTH = 64
/** From this many on, unused shares are forgotten: with 10,000 places in the node most are unused. */
const MOST_SHARES = 50_000

export const HEALTH_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics'])

/** The shares that a request counts against; it takes a place of each. */
export type Place = readonly Share[]

export interface Share {
  /** The owner of the share; empty for a share of the whole node. */
  readonly key: string
  readonly limit: number
  taken: number
  /** Whether `key` still leads to this share. */
  isKept: boolean
}

export interface Places {
  /** Takes a place for a request whose caller is not known yet. Throws if the share is used up. */
  ofAddress(network: string): Place
  /** Takes a place for health, readiness and metrics. Throws as well. */
  ofHealth(network: string): Place
  /** Takes a place for a known caller in exchange for `before`. Throws as well; `before` is given back either way. */
  ofPrincipal(before: Place | null, principal: Principal): Place
  giveBack(place: Place): void
}

export function makePlaces(): Places {
  const node: Share = { key: '', limit: OF_THE_NODE, taken: 0, isKept: true }
  const health: Share = { key: '', limit: OF_HEALTH, taken: 0, isKept: true }
  const shares = new Map<string, Share>()
  // The place of a recent caller is found without its keys: building and looking them up took 5 µs of every request.
  const ofPrincipals = new WeakMap<Principal, Place>()

  function shareOf(key: string, limit: number): Share {
    let share = shares.get(key)
    if (!share) {
      if (shares.size >= MOST_SHARES) sweep()
      shares.set(key, (share = { key, limit, taken: 0, isKept: true }))
    }
    return share
  }

  function sweep(): void {
    for (const share of shares.values()) {
      if (share.taken > 0) continue
      share.isKept = false
      shares.delete(share.key)
    }
  }

  function placeOf(principal: Principal): Place {
    const known = ofPrincipals.get(principal)
    if (known?.every(({ isKept }) => isKept)) return known
    const { tenantId, id } = principal
    const place = [shareOf(`agent ${tenantId} ${id}`, OF_AN_AGENT), shareOf(`tenant ${tenantId}`, OF_A_TENANT), node]
    ofPrincipals.set(principal, place)
    return place
  }

  function take(place: Place): Place {
    for (const share of place) {
      if (share.taken < share.limit) continue
      throw share.key === ''
        ? unavailable('This node has too many requests in hand')
        : tooManyAtOnce('requests in hand', share.limit)
    }
    for (const share of place) share.taken++
    return place
  }

  function giveBack(place: Place): void {
    for (const share of place) share.taken--
  }

  return {
    ofAddress: (network) => take([shareOf(`address ${network}`, OF_AN_ADDRESS), node]),
    ofHealth: (network) => take([shareOf(`health ${network}`, OF_AN_ADDRESS_FOR_HEALTH), health]),
    ofPrincipal(before, principal) {
      const place = placeOf(principal)
      if (before === place) return place
      if (before) giveBack(before)
      return take(place)
    },
    giveBack,
  }
}
