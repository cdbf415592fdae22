// Who is calling? A token is verified once and remembered; whether its key still stands is read again every half
// second.
//
// 1. A revoked key or a deactivated agent ends its tokens at once on the node that did it, and on every other within
//    STANDING_MS plus one read. An announcement makes that sooner; nothing depends on its arrival.
// 2. Reads that are due in the same turn of the event loop share one query.
import { makeBatches } from '../kernel/batches.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Announcements } from '../store/announce.ts'
import type { Store } from '../store/db.ts'
import type { Principal } from './principal.ts'
import { readStandings } from './sql.ts'
import { verifyToken, type Claims } from './tokens.ts'

const STANDING_MS = 500
const MAX_TOKENS = 50_000

interface KeyStanding {
  live: boolean
  /** In elapsed time. */
  readAt: number
}

interface Known {
  claims: Claims
  /** Of its key, as of `generation`: nothing was forgotten since. */
  standing: KeyStanding | null
  generation: number
}

export interface Identify {
  (token: string): Promise<Principal | null>
  /** The principal without waiting, when it is known already. */
  cached(token: string): Principal | null
  /** Whether a principal that passed before still may: its key not revoked, its agent active. */
  stands(principal: Principal): Promise<boolean>
}

export function makeIdentify(store: Store, announcements: Announcements, tokenKey: Uint8Array, clock: Clock): Identify {
  const tokens = new Map<string, Known>()
  const standings = new Map<string, KeyStanding>()
  let generation = 0

  // Old entries leave from the front, where a Map keeps what was put in first.
  function bound<V>(map: Map<string, V>): void {
    if (map.size <= MAX_TOKENS) return
    for (const key of map.keys()) {
      map.delete(key)
      if (map.size <= MAX_TOKENS * 0.9) return
    }
  }

  const reads = makeBatches<Principal, boolean>({ run: readStandingsOf })

  async function readStandingsOf(principals: readonly Principal[]): Promise<(boolean | Promise<boolean>)[]> {
    const before = generation
    const tenants = [...new Set(principals.map(({ tenantId }) => tenantId))]
    const keys = [...new Set(principals.map(({ keyId }) => keyId))]
    const readAt = clock.elapsed()
    const rows = await readStandings(store, tenants, keys)
    // Something was revoked while the query ran: its result may be from before.
    if (generation !== before) return principals.map((principal) => reads.add(principal))
    const live = new Set(rows.filter((row) => row.standing === 'live').map((row) => row.id))
    for (const principal of principals) standings.set(nameOf(principal), { live: live.has(principal.keyId), readAt })
    bound(standings)
    return principals.map(({ keyId }) => live.has(keyId))
  }

  const nameOf = (principal: Principal): string => `${principal.tenantId} ${principal.keyId}`

  const isFresh = (standing: KeyStanding | null): standing is KeyStanding =>
    standing !== null && clock.elapsed() - standing.readAt < STANDING_MS

  const identify = (async (token) => {
    let known = tokens.get(token)
    if (!known) {
      const claims = await verifyToken(tokenKey, token, clock.now())
      if (!claims) return null
      tokens.set(token, (known = { claims, standing: null, generation }))
      bound(tokens)
    }
    const { claims } = known
    const now = clock.now()
    if (claims.expiresAt <= now) {
      tokens.delete(token)
      return null
    }
    const at = standings.get(nameOf(claims.principal)) ?? null
    const live = isFresh(at) ? at.live : await reads.add(claims.principal)
    known.standing = standings.get(nameOf(claims.principal)) ?? null
    known.generation = generation
    return live ? claims.principal : null
  }) as Identify

  identify.cached = (token) => {
    const known = tokens.get(token)
    if (!known || known.generation !== generation) return null
    const now = clock.now()
    return known.claims.expiresAt > now && isFresh(known.standing) && known.standing.live
      ? known.claims.principal
      : null
  }

  identify.stands = async (principal) => {
    const at = standings.get(nameOf(principal)) ?? null
    return isFresh(at) ? at.live : reads.add(principal)
  }

  // Something about the tenant's keys changed: what is known of them may be from before.
  announcements.listen('keys', (tenantId) => {
    generation++
    for (const key of standings.keys()) if (key.startsWith(tenantId)) standings.delete(key)
  })
  return identify
}
