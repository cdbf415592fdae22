// Access tokens: JWTs signed with HMAC-SHA256. The algorithm is fixed here and never taken from the token.
import { isId } from '@sensorium/contract'
import type { JWTPayload } from 'jose'
import { SignJWT } from 'jose/jwt/sign'
import { jwtVerify } from 'jose/jwt/verify'
import { createHmac, randomUUID, timingSafeEqual, type KeyObject } from 'node:crypto'
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

/**
 * Whether the signature is spelt as base64url writes it. With padding, or with other bits behind its last byte, the
 * same signature would make another token.
 */
function hasOneSpelling(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1)
  return Buffer.from(signature, 'base64url').toString('base64url') === signature
}

/** The claims of a token that this installation signed and that has not expired; null for anything else. */
export async function verifyToken(key: Uint8Array, token: string, now: number): Promise<Claims | null> {
  if (!hasOneSpelling(token)) return null
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      currentDate: new Date(now),
    })
    return claimsOf(payload)
  } catch {
    return null
  }
}

/** The length of a signature of 32 bytes in base64url. */
const SIGNATURE_CHARACTERS = 43

/**
 * Returns the claims of a token in a few microseconds, as far as the signature and the time tell them: enough to choose
 * the share that a request counts against before anything is done for it, and no reason to let it in.
 */
export function peekToken(key: KeyObject, token: string, now: number): Claims | null {
  const end = token.length - SIGNATURE_CHARACTERS - 1
  if (token[end] !== '.') return null
  const signed = token.slice(0, end)
  const signature = createHmac('sha256', key).update(signed).digest()
  const given = Buffer.from(token.slice(end + 1), 'base64url')
  if (given.length !== signature.length || !timingSafeEqual(given, signature)) return null
  try {
    const payload = Buffer.from(signed.slice(signed.indexOf('.') + 1), 'base64url').toString()
    const claims = claimsOf(JSON.parse(payload) as JWTPayload)
    return claims && claims.expiresAt > now ? claims : null
  } catch {
    return null
  }
}

function claimsOf({ sub, exp, tid, key: keyId, scope, team }: JWTPayload): Claims | null {
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
}
