// Who is calling? A token is verified once and remembered; whether its key still stands is read again every half
// second.
//
// 1. A revoked key or a deactivated agent ends its tokens at once on the node that did it, and on every other within
//    STANDING_MS plus one read. An announcement makes that sooner; nothing depends on its arrival.
// 2. Reads that are due in the same turn of the event loop share one query.
// 3. The team of an agent is the one that it is in, whatever it was in when the token was made: it is read with the
//    standing, and a move counts as fast.
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

  const reads = makeBatches<Principal, KeyStanding>({ run: readStandingsOf })

  async function readStandingsOf(principals: readonly Principal[]): Promise<(KeyStanding | Promise<KeyStanding>)[]> {
    const before = generation
    const tenants = [...new Set(principals.map(({ tenantId }) => tenantId))]
    const keys = [...new Set(principals.map(({ keyId }) => keyId))]
    const readAt = clock.elapsed()
    const rows = await readStandings(store, tenants, keys)
    // Something was revoked while the query ran: its result may be from before.
    if (generation !== before) return principals.map((principal) => reads.add(principal))
    const found = new Map(
      rows.map(({ id, standing, team_id }) => [id, { live: standing === 'live', teamId: team_id, readAt }]),
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

  const identify = (async (token) => {
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
    // What is kept with a principal stays with it as long as its agent stays where it is.
    if (standing.live && standing.teamId !== claims.principal.teamId)
      known.claims = { ...claims, principal: { ...claims.principal, teamId: standing.teamId } }
    known.standing = standings.get(nameOf(claims.principal)) === standing ? standing : null
    known.generation = generation
    return standing.live ? known.claims.principal : null
  }) as Identify

  identify.cached = (token) => {
    const known = tokens.get(token)
    if (!known || known.generation !== generation) return null
    const now = clock.now()
    return known.claims.expiresAt > now && isFresh(known.standing) && known.standing.live
      ? known.claims.principal
      : null
  }

  identify.stands = async (principal) => (await standingOf(principal)).live

  // Something about the tenant's keys changed: what is known of them may be from before.
  announcements.listen('keys', (tenantId) => {
    generation++
    for (const key of standings.keys()) if (key.startsWith(tenantId)) standings.delete(key)
  })
  return identify
}
