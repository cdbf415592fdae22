// Who is calling? A token is verified once and remembered; whether its key still stands is read again every half second.
//
// 1. A revoked key or a deactivated agent ends its tokens at once on the node that did it (`forget`), and on every other within
//    STANDING_MS plus one read: nothing has to be sent between nodes, so nothing can get lost.
// 2. Reads that are due in the same turn of the event loop share one query.
import type { Clock } from '../kernel/clock.ts'
import type { Store } from '../store/db.ts'
import type { Principal } from './principal.ts'
import { readStandings } from './sql.ts'
import { verifyToken, type Claims } from './tokens.ts'

const STANDING_MS = 500
const MAX_TOKENS = 50_000

interface Standing {
  live: boolean
  readAt: number
}

export interface Identify {
  (token: string): Promise<Principal | null>
  /** The answer without waiting, when it is at hand. */
  cached(token: string): Principal | null
  /** Forgets what is known of the tenant's keys: something about them changed here. */
  forget(tenantId: string): void
}

export function makeIdentify(store: Store, tokenKey: Uint8Array, clock: Clock): Identify {
  const tokens = new Map<string, Claims>()
  const standings = new Map<string, Standing>()
  let asked: { principal: Principal; resolve: (live: boolean) => void; reject: (error: unknown) => void }[] = []
  let generation = 0

  // Old entries leave from the front, where a Map keeps what was put in first.
  function bound<V>(map: Map<string, V>): void {
    if (map.size <= MAX_TOKENS) return
    for (const key of map.keys()) {
      map.delete(key)
      if (map.size <= MAX_TOKENS * 0.9) return
    }
  }

  async function readAsked(): Promise<void> {
    const batch = asked
    asked = []
    const before = generation
    try {
      const tenants = [...new Set(batch.map(({ principal }) => principal.tenantId))]
      const keys = [...new Set(batch.map(({ principal }) => principal.keyId))]
      const readAt = clock.now()
      const rows = await readStandings(store, tenants, keys)
      const live = new Set(rows.filter((row) => row.standing === 'live').map((row) => row.id))
      for (const { principal, resolve, reject } of batch) {
        // Something was revoked while the query ran: its answer may be from before.
        if (generation !== before) {
          ask(principal).then(resolve, reject)
          continue
        }
        standings.set(`${principal.tenantId} ${principal.keyId}`, { live: live.has(principal.keyId), readAt })
        resolve(live.has(principal.keyId))
      }
      bound(standings)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  function ask(principal: Principal): Promise<boolean> {
    return new Promise((resolve, reject) => {
      asked.push({ principal, resolve, reject })
      if (asked.length === 1) setImmediate(readAsked)
    })
  }

  function standing(principal: Principal): boolean | undefined {
    const known = standings.get(`${principal.tenantId} ${principal.keyId}`)
    return known && clock.now() - known.readAt < STANDING_MS && clock.now() >= known.readAt ? known.live : undefined
  }

  const identify = (async (token) => {
    let claims = tokens.get(token) ?? null
    if (!claims) {
      claims = await verifyToken(tokenKey, token, clock.now())
      if (!claims) return null
      tokens.set(token, claims)
      bound(tokens)
    }
    if (claims.expiresAt <= clock.now()) {
      tokens.delete(token)
      return null
    }
    return (standing(claims.principal) ?? (await ask(claims.principal))) ? claims.principal : null
  }) as Identify

  identify.cached = (token) => {
    const claims = tokens.get(token)
    return claims && claims.expiresAt > clock.now() && standing(claims.principal) ? claims.principal : null
  }

  identify.forget = (tenantId) => {
    generation++
    for (const key of standings.keys()) if (key.startsWith(tenantId)) standings.delete(key)
  }
  return identify
}
