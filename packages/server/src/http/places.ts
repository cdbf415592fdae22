// Who has how many requests in hand. A node has a number of places, and nobody gets all of them: a client address has a
// share until it is known who is calling, then the agent and its tenant have. Health, readiness and metrics have places
// of their own, so that they are answered whatever else waits.
import type { Principal } from '../auth/principal.ts'
import { tooManyAtOnce, unavailable } from '../kernel/failure.ts'

/** Waiting polls count too; streams have a bound of their own. */
const OF_THE_NODE = 10_000
const OF_A_TENANT = 5_000
const OF_AN_AGENT = 1_000
const OF_AN_ADDRESS = 512
const OF_HEALTH = 512
const OF_AN_ADDRESS_FOR_HEALTH = 64

export const HEALTH_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics'])

/** What one request takes: a place of each of these. */
export type Place = readonly Share[]

interface Share {
  readonly key: string
  readonly limit: number
  taken: number
}

export interface Places {
  /** For a request whose caller is not known yet. Throws where the share is used up. */
  ofAddress(network: string): Place
  /** For health, readiness and metrics. */
  ofHealth(network: string): Place
  /** In exchange for that, once it is known who is calling. Throws as well; the place before is given back either way. */
  ofPrincipal(before: Place | null, principal: Principal): Place
  giveBack(place: Place): void
}

export function makePlaces(): Places {
  const node: Share = { key: '', limit: OF_THE_NODE, taken: 0 }
  const health: Share = { key: '', limit: OF_HEALTH, taken: 0 }
  const shares = new Map<string, Share>()

  function shareOf(key: string, limit: number): Share {
    let share = shares.get(key)
    if (!share) shares.set(key, (share = { key, limit, taken: 0 }))
    return share
  }

  function forget(share: Share): void {
    if (share.taken === 0 && share.key !== '') shares.delete(share.key)
  }

  function take(place: Place): Place {
    for (const share of place) {
      if (share.taken < share.limit) continue
      for (const other of place) forget(other)
      throw share.key === ''
        ? unavailable('This node has too many requests in hand')
        : tooManyAtOnce('requests in hand', share.limit)
    }
    for (const share of place) share.taken++
    return place
  }

  function giveBack(place: Place): void {
    for (const share of place) {
      share.taken--
      forget(share)
    }
  }

  return {
    ofAddress: (network) => take([shareOf(`address ${network}`, OF_AN_ADDRESS), node]),
    ofHealth: (network) => take([shareOf(`health ${network}`, OF_AN_ADDRESS_FOR_HEALTH), health]),
    ofPrincipal(before, { tenantId, id }) {
      if (before) giveBack(before)
      return take([shareOf(`agent ${tenantId} ${id}`, OF_AN_AGENT), shareOf(`tenant ${tenantId}`, OF_A_TENANT), node])
    },
    giveBack,
  }
}
