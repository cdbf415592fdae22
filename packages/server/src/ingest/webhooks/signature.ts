// Signatures of inbound webhooks: HMAC-SHA256 in hex over the bytes received, keyed with the whole text of the secret.
// Pure.
import { timingSafeEqual } from 'node:crypto'

export type SignatureHeader = 'x-service-signature' | 'x-hub-signature-256' | 'stripe-signature'

/** The header that every webhook accepts. */
export const OWN_HEADER: SignatureHeader = 'x-service-signature'

/** The headers of a request, by their names in lower case. */
export interface SentHeaders {
  readonly [name: string]: string | readonly string[] | undefined
  readonly 'content-type'?: string | undefined
}

/** The signature that a request carries, not yet verified. */
export interface SignatureClaim {
  header: SignatureHeader
  /** The text that was signed before the body. */
  prefix: string
  signatures: readonly Buffer[]
}

const HEX = /^(?:sha256=)?([0-9a-f]{64})$/i
const STRIPE_TOLERANCE_S = 300
/** A provider that rotates its secret sends two; a client that sends many wants to cost us work. */
const MAX_SIGNATURES = 4

/**
 * Returns the claim in the first well-formed signature header of a request, or null if there is none, and then there is
 * nothing to compute. One claim is checked, not three: nobody signs twice, and each would cost an HMAC per secret.
 */
export function readClaim(headers: SentHeaders, now: number): SignatureClaim | null {
  for (const header of ['x-service-signature', 'x-hub-signature-256'] as const) {
    const hex = HEX.exec(String(headers[header] ?? ''))?.[1]
    if (hex !== undefined) return { header, prefix: '', signatures: [Buffer.from(hex, 'hex')] }
  }
  return stripeClaim(String(headers['stripe-signature'] ?? ''), now)
}

// `t=1492774577,v1=5257…,v1=…,v0=…`: the time, a full stop and the body are signed; an old time is a replay.
function stripeClaim(header: string, now: number): SignatureClaim | null {
  const parts = header.split(',', 16).map((part) => part.trim().split('=', 2) as [string, string | undefined])
  const time = parts.find(([name]) => name === 't')?.[1]
  if (time === undefined || !/^\d{1,12}$/.test(time) || Math.abs(now / 1000 - Number(time)) > STRIPE_TOLERANCE_S)
    return null
  const signatures = parts
    .filter(([name, value]) => name === 'v1' && value !== undefined && /^[0-9a-f]{64}$/i.test(value))
    .slice(0, MAX_SIGNATURES)
    .map(([, value]) => Buffer.from(value!, 'hex'))
  return signatures.length > 0 ? { header: 'stripe-signature', prefix: `${time}.`, signatures } : null
}

/** Returns whether the claim has this HMAC, in constant time. */
export function matchesClaim(digest: Buffer, { signatures }: SignatureClaim): boolean {
  let fits = false
  // All signatures are compared, so that the time does not reveal which one matched.
  for (const signature of signatures) fits = timingSafeEqual(digest, signature) || fits
  return fits
}
