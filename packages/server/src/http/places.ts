// Counts the requests in hand by caller. A node has a number of places, and no caller gets all of them. A request
// counts against the shares of its client address and of all strangers (strangers.ts) until the caller is identified,
// then against those of the agent and its tenant. Health, readiness and metrics have places of their own, so that they
// are answered whatever else waits.
import type { Principal } from '../auth/principal.ts'
import { tooManyAtOnce, unavailable } from '../kernel/failure.ts'
import { mostOf, OF_STRANGERS, ownersOf, type Share } from './strangers.ts'

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
export type Place = readonly KeptShare[]

interface KeptShare extends Share {
  /** Whether `key` still leads to this share. */
  isKept: boolean
}

interface Places {
  /** Takes a place for a request whose caller is not known yet. Throws if the share is used up. */
  ofAddress(address: string): Place
  /** Takes a place for health, readiness and metrics. Throws as well. */
  ofHealth(address: string): Place
  /** Takes a place for a known caller in exchange for `before`. Throws as well; `before` is given back either way. */
  ofPrincipal(before: Place | null, principal: Principal): Place
  giveBack(place: Place): void
}

export function makePlaces(): Places {
  const ofAll = (limit: number): KeptShare => ({ key: '', limit, pool: null, taken: 0, isKept: true })
  const node = ofAll(OF_THE_NODE)
  const strangers = ofAll(Math.floor(OF_THE_NODE * OF_STRANGERS))
  const health = ofAll(OF_HEALTH)
  const shares = new Map<string, KeptShare>()
  // The place of a recent caller is found without its keys: building and looking them up took 5 µs of every request.
  const ofPrincipals = new WeakMap<Principal, Place>()

  function shareOf(key: string, limit: number, pool: Share | null = null): KeptShare {
    let share = shares.get(key)
    if (!share) {
      if (shares.size >= MOST_SHARES) sweep()
      shares.set(key, (share = { key, limit, pool, taken: 0, isKept: true }))
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
      if (share.taken < mostOf(share)) continue
      if (share.key !== '' && share.taken >= share.limit) throw tooManyAtOnce('requests in hand', share.limit)
      const whose =
        share === node ? '' : share === health || share.pool === health ? ' for health' : ' of unknown callers'
      throw unavailable(`This node has too many requests${whose} in hand`)
    }
    for (const share of place) share.taken++
    return place
  }

  function giveBack(place: Place): void {
    for (const share of place) share.taken--
  }

  const partsOf = (pool: Share, kind: string, address: string, most: number): KeptShare[] =>
    ownersOf(address, kind, most, pool).map(([key, limit]) => shareOf(key, limit, pool))

  return {
    ofAddress: (address) => take([...partsOf(strangers, 'address', address, OF_AN_ADDRESS), strangers, node]),
    ofHealth: (address) => take([...partsOf(health, 'health', address, OF_AN_ADDRESS_FOR_HEALTH), health]),
    ofPrincipal(before, principal) {
      const place = placeOf(principal)
      if (before === place) return place
      if (before) giveBack(before)
      return take(place)
    },
    giveBack,
  }
}
