// Who is calling? A token is verified once and cached; the standing of its key is read again every half second.
//
// 1. A revoked key or a deactivated agent ends its tokens at once on the node that did it, and on every other within
//    STANDING_MS plus one read. An announcement makes that sooner; nothing depends on its arrival.
// 2. Reads that are due in the same turn of the event loop share one query.
// 3. A change of keys concerns the tenant it is in. However often they change there, callers of other tenants are
//    neither read again nor looked through.
// 4. The team of an agent is its present one, not the one at the time when the token was made. It is read with the
//    standing, so a move takes effect as fast.
import { createSecretKey } from 'node:crypto'
import { makeBatches } from '../kernel/batches.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Announcements } from '../store/announce.ts'
import type { Store } from '../store/db.ts'
import type { Principal } from './principal.ts'
import { readStandings } from './sql.ts'
import { peekToken, verifyToken, type Claims } from './tokens.ts'

const STANDING_MS = 500
const MAX_TOKENS = 50_000

interface KeyStanding {
  live: boolean
  /** The team that the key's agent is in. */
  teamId: string | null
  /** In elapsed time. */
  readAt: number
  /** How often the keys of its tenant had changed before it was read. It is valid until they change again. */
  changes: number
}

interface Known {
  claims: Claims
  standing: KeyStanding | null
}

export interface Identify {
  (token: string): Promise<Principal | null>
  /** Returns the principal without waiting, or null if its standing is not cached. */
  cached(token: string): Principal | null
  /** Returns whose token it is without waiting, unless it was bad when it last came. It may have been revoked since. */
  claimed(token: string): Principal | null
  /**
   * Whether a principal that was identified before still stands: its key is neither revoked nor expired, its agent
   * active.
   */
  stands(principal: Principal): Promise<boolean>
}

export function makeIdentify(store: Store, announcements: Announcements, tokenKey: Uint8Array, clock: Clock): Identify {
  const tokens = new Map<string, Known>()
  // Bytes would be made into a key for each token, which takes ten times as long as the hash.
  const peekKey = createSecretKey(tokenKey)
  const standings = new Map<string, KeyStanding>()
  /** How often the keys of each tenant have changed, as this node has heard. */
  const changes = new Map<string, number>()
  const changesOf = (tenantId: string): number => changes.get(tenantId) ?? 0

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
    const before = new Map(principals.map(({ tenantId }) => [tenantId, changesOf(tenantId)]))
    const keys = [...new Set(principals.map(({ keyId }) => keyId))]
    const readAt = clock.elapsed()
    // Not through the pool, in which every request would wait behind the service's own work.
    const rows = await readStandings(store.outsideTx, store.isSharded, [...before.keys()], keys)
    const hasExpired = (at: number | null): boolean => at !== null && at <= clock.now()
    const found = new Map(rows.map((row) => [row.id, row]))
    const read = principals.map(({ tenantId, keyId }): KeyStanding => {
      const row = found.get(keyId)
      const live = row?.standing === 'live' && !hasExpired(row.expires_at)
      return { live, teamId: row?.team_id ?? null, readAt, changes: before.get(tenantId)! }
    })
    for (const [i, principal] of principals.entries()) standings.set(nameOf(principal), read[i]!)
    bound(standings)
    // Keys of the tenant changed while the query ran, so its result may be stale.
    return principals.map((principal, i) =>
      read[i]!.changes === changesOf(principal.tenantId) ? read[i]! : reads.add(principal),
    )
  }

  const nameOf = (principal: Principal): string => `${principal.tenantId} ${principal.keyId}`

  const isFresh = (standing: KeyStanding | null, { tenantId }: Principal): standing is KeyStanding =>
    standing !== null && standing.changes === changesOf(tenantId) && clock.elapsed() - standing.readAt < STANDING_MS

  function standingOf(principal: Principal): KeyStanding | Promise<KeyStanding> {
    const at = standings.get(nameOf(principal)) ?? null
    return isFresh(at, principal) ? at : reads.add(principal)
  }

  async function identify(token: string): Promise<Principal | null> {
    let known = tokens.get(token)
    if (!known) {
      const claims = await verifyToken(tokenKey, token, clock.now())
      if (!claims) return null
      tokens.set(token, (known = { claims, standing: null }))
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
    known.standing = standing
    return standing.live ? known.claims.principal : null
  }

  function cached(token: string): Principal | null {
    const known = tokens.get(token)
    if (!known) return null
    const { principal, expiresAt } = known.claims
    return expiresAt > clock.now() && isFresh(known.standing, principal) && known.standing.live ? principal : null
  }

  function claimed(token: string): Principal | null {
    const known = tokens.get(token)
    if (!known) return peekToken(peekKey, token, clock.now())?.principal ?? null
    const isBad = known.standing?.live === false || known.claims.expiresAt <= clock.now()
    return isBad ? null : known.claims.principal
  }

  const stands = async (principal: Principal): Promise<boolean> => (await standingOf(principal)).live

  announcements.listen('keys', (tenantId) => changes.set(tenantId, changesOf(tenantId) + 1))
  return Object.assign(identify, { cached, claimed, stands })
}
