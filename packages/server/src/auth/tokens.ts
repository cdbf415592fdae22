// Access tokens: JWTs signed with HMAC-SHA256. The algorithm is fixed here and never taken from the token.
import { isId } from '@sensorium/contract'
import { SignJWT } from 'jose/jwt/sign'
import { jwtVerify } from 'jose/jwt/verify'
import { randomUUID } from 'node:crypto'
import type { Principal } from './principal.ts'

const ISSUER = 'sensorium'
const ALGORITHM = 'HS256'
const TOKEN_LIFETIME_S = 3600

export interface Claims {
  principal: Principal
  /** Milliseconds since the epoch. */
  expiresAt: number
}

export async function signToken(
  key: Uint8Array,
  principal: Principal,
  now: number,
  keyExpiresAt: number | null,
): Promise<{ token: string; expiresAt: number }> {
  const issued = Math.floor(now / 1000)
  // A token never outlives its key.
  const expires = Math.min(
    issued + TOKEN_LIFETIME_S,
    keyExpiresAt === null ? Infinity : Math.floor(keyExpiresAt / 1000),
  )
  const token = await new SignJWT({
    tid: principal.tenantId,
    key: principal.keyId,
    scope: [...principal.scopes].join(' '),
    ...(principal.teamId === null ? {} : { team: principal.teamId }),
  })
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
    .setIssuer(ISSUER)
    .setSubject(principal.id)
    .setIssuedAt(issued)
    .setExpirationTime(expires)
    .setJti(randomUUID())
    .sign(key)
  return { token, expiresAt: expires * 1000 }
}

/** The claims of a token that this installation signed and that has not expired; null for anything else. */
export async function verifyToken(key: Uint8Array, token: string, now: number): Promise<Claims | null> {
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      currentDate: new Date(now),
    })
    const { sub, exp, tid, key: keyId, scope, team } = payload
    if (!sub || !exp || typeof tid !== 'string' || typeof keyId !== 'string' || typeof scope !== 'string') return null
    return {
      principal: {
        kind: isId('org_admin', sub) ? 'org_admin' : 'agent',
        id: sub,
        tenantId: tid,
        keyId,
        scopes: new Set(scope.split(' ')),
        teamId: typeof team === 'string' ? team : null,
      },
      expiresAt: exp * 1000,
    }
  } catch {
    return null
  }
}
