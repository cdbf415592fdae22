// Signatures of inbound webhooks: HMAC-SHA256 over the bytes that came, keyed with the whole text of the secret, in
// hex. Pure.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** A signature that somebody put on a request: over which bytes, and what it should be. */
export interface Claim {
  /** What was signed before the body. */
  prefix: string
  signatures: readonly Buffer[]
}

export type SignatureHeader = 'x-service-signature' | 'x-hub-signature-256' | 'stripe-signature'

/** The claims of a request by header; a header that is malformed makes none. */
export type Claims = Partial<Record<SignatureHeader, Claim>>

const HEX = /^(?:sha256=)?([0-9a-f]{64})$/i
const STRIPE_TOLERANCE_S = 300
/** A provider that rotates sends two; who sends many wants us to work. */
const MAX_SIGNATURES = 4

export function readClaims(headers: IncomingHttpHeaders, now: number): Claims {
  const claims: Claims = {}
  for (const name of ['x-service-signature', 'x-hub-signature-256'] as const) {
    const hex = HEX.exec(String(headers[name] ?? ''))?.[1]
    if (hex !== undefined) claims[name] = { prefix: '', signatures: [Buffer.from(hex, 'hex')] }
  }
  const stripe = stripeClaim(String(headers['stripe-signature'] ?? ''), now)
  if (stripe) claims['stripe-signature'] = stripe
  return claims
}

// `t=1492774577,v1=5257…,v1=…,v0=…`: signed is the time, a full stop and the body; an old time is a replay.
function stripeClaim(header: string, now: number): Claim | null {
  const parts = header.split(',', 16).map((part) => part.trim().split('=', 2) as [string, string | undefined])
  const time = parts.find(([name]) => name === 't')?.[1]
  if (time === undefined || !/^\d{1,12}$/.test(time) || Math.abs(now / 1000 - Number(time)) > STRIPE_TOLERANCE_S)
    return null
  const signatures = parts
    .filter(([name, value]) => name === 'v1' && value !== undefined && /^[0-9a-f]{64}$/i.test(value))
    .slice(0, MAX_SIGNATURES)
    .map(([, value]) => Buffer.from(value!, 'hex'))
  return signatures.length > 0 ? { prefix: `${time}.`, signatures } : null
}

/** One HMAC, compared in constant time. */
export function verifies(secret: string, body: Buffer, { prefix, signatures }: Claim): boolean {
  const digest = createHmac('sha256', secret).update(prefix).update(body).digest()
  let fits = false
  // All are compared, so that the time does not say which one was nearly right.
  for (const signature of signatures) fits = timingSafeEqual(digest, signature) || fits
  return fits
}
