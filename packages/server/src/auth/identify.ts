// Who is calling? A token is verified once and cached; the standing of its key is read again every half second.
//
// 1. A revoked key or a deactivated agent ends its tokens at once on the node that did it, and on every other within
//    STANDING_MS plus one read. An announcement makes that sooner; nothing depends on its arrival.
// 2. Reads that are due in the same turn of the event loop share one query.
// 3. The team of an agent is its present one, not the one at the time when the token was made. It is read with the
//    standing, so a move takes effect as fast.
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
  /** The team that the key's agent is in. */
  teamId: string | null
  /** In elapsed time. */
  readAt: number
}

interface Known {
  claims: Claims
  /** The standing of its key, valid while `generation` is the current one: no standing was dropped since. */
  standing: KeyStanding | null
  generation: number
}

export interface Identify {
  (token: string): Promise<Principal | null>
  /** Returns the principal without waiting, or null if its standing is not cached. */
  cached(token: string): Principal | null
  /**
   * Whether a principal that was identified before still stands: its key is neither revoked nor expired, its agent
   * active.
   */
  stands(principal: Principal): Promise<boolean>
}

export function makeIdentify(store: Store, announcements: Announcements, tokenKey: Uint8Array, clock: Clock): Identify {
  const tokens = new Map<string, Known>()
  const standings = new Map<string, KeyStanding>()
  let generation = 0

  // Evicts the oldest entries, which a Map keeps at the front.
  function bound<V>(map: Map<string, V>): void {
    if (map.size <= MAX_TOKENS) return
    for (const key of map.keys()) {
      map.delete(key)
      if (map.size <= MAX_TOKENS * 0.9) return
    }
  }

  const reads = makeBatches<Principal, KeyStanding>({ run: readStandingsOf })

  async function readStandingsOf(principals: readonly Principal[]): Promise<(KeyStanding | Promise<KeyStanding>)[]> {
    const before = generation
    const tenants = [...new Set(principals.map(({ tenantId }) => tenantId))]
    const keys = [...new Set(principals.map(({ keyId }) => keyId))]
    const readAt = clock.elapsed()
    // Not through the pool, in which every request would wait behind the service's own work.
    const rows = await readStandings(store.outsideTx, store.isSharded, tenants, keys)
    // Keys changed while the query ran, so its result may be stale.
    if (generation !== before) return principals.map((principal) => reads.add(principal))
    const hasExpired = (at: number | null): boolean => at !== null && at <= clock.now()
    const found = new Map(
      rows.map(({ id, standing, team_id, expires_at }) => [
        id,
        { live: standing === 'live' && !hasExpired(expires_at), teamId: team_id, readAt },
      ]),
    )
    const unknown = { live: false, teamId: null, readAt }
    const read = principals.map(({ keyId }): KeyStanding => found.get(keyId) ?? unknown)
    for (const [i, principal] of principals.entries()) standings.set(nameOf(principal), read[i]!)
    bound(standings)
    return read
  }

  const nameOf = (principal: Principal): string => `${principal.tenantId} ${principal.keyId}`

  const isFresh = (standing: KeyStanding | null): standing is KeyStanding =>
    standing !== null && clock.elapsed() - standing.readAt < STANDING_MS

  function standingOf(principal: Principal): KeyStanding | Promise<KeyStanding> {
    const at = standings.get(nameOf(principal)) ?? null
    return isFresh(at) ? at : reads.add(principal)
  }

  async function identify(token: string): Promise<Principal | null> {
    let known = tokens.get(token)
    if (!known) {
      const claims = await verifyToken(tokenKey, token, clock.now())
      if (!claims) return null
      tokens.set(token, (known = { claims, standing: null, generation }))
      bound(tokens)
    }
    if (known.claims.expiresAt <= clock.now()) {
      tokens.delete(token)
      return null
    }
    const standing = await standingOf(known.claims.principal)
    const { claims } = known
    // The principal, and what is cached with it, stays the same object as long as its agent stays in its team.
    if (standing.live && standing.teamId !== claims.principal.teamId)
      known.claims = { ...claims, principal: { ...claims.principal, teamId: standing.teamId } }
    known.standing = standings.get(nameOf(claims.principal)) === standing ? standing : null
    known.generation = generation
    return standing.live ? known.claims.principal : null
  }

  function cached(token: string): Principal | null {
    const known = tokens.get(token)
    if (!known || known.generation !== generation) return null
    const now = clock.now()
    return known.claims.expiresAt > now && isFresh(known.standing) && known.standing.live
      ? known.claims.principal
      : null
  }

  const stands = async (principal: Principal): Promise<boolean> => (await standingOf(principal)).live

  // The tenant's keys changed, so what is cached of them may be stale.
  announcements.listen('keys', (tenantId) => {
    generation++
    for (const key of standings.keys()) if (key.startsWith(tenantId)) standings.delete(key)
  })
  return Object.assign(identify, { cached, stands })
}
