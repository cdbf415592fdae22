// Signatures of inbound webhooks: HMAC-SHA256 over the bytes received, in hex and keyed with the whole text of the
// secret; or as Standard Webhooks has it, in base64 and keyed with the bytes that the secret encodes. Pure.
import { timingSafeEqual } from 'node:crypto'

export type SignatureHeader = 'x-service-signature' | 'x-hub-signature-256' | 'stripe-signature' | 'webhook-signature'

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
/** A signed time that is further off is a replay. */
const TOLERANCE_S = 300
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
  return stripeClaim(String(headers['stripe-signature'] ?? ''), now) ?? standardClaim(headers, now)
}

const isRecent = (time: string, now: number): boolean =>
  /^\d{1,12}$/.test(time) && Math.abs(now / 1000 - Number(time)) <= TOLERANCE_S

// `t=1492774577,v1=5257…,v1=…,v0=…`: the time, a full stop and the body are signed; an old time is a replay.
function stripeClaim(header: string, now: number): SignatureClaim | null {
  const parts = header.split(',', 16).map((part) => part.trim().split('=', 2) as [string, string | undefined])
  const time = parts.find(([name]) => name === 't')?.[1]
  if (time === undefined || !isRecent(time, now)) return null
  const signatures = parts
    .filter(([name, value]) => name === 'v1' && value !== undefined && /^[0-9a-f]{64}$/i.test(value))
    .slice(0, MAX_SIGNATURES)
    .map(([, value]) => Buffer.from(value!, 'hex'))
  return signatures.length > 0 ? { header: 'stripe-signature', prefix: `${time}.`, signatures } : null
}

const MAX_STANDARD_ID = 255
const STANDARD = /^v1,([A-Za-z0-9+/]{43}=)$/

// `webhook-signature: v1,K5oZ… v1,…`: id, time and body are signed, with a full stop between them.
function standardClaim(headers: SentHeaders, now: number): SignatureClaim | null {
  // Svix, which many providers send through, has names of its own. The id that the mapping of the preset takes must be
  // the one that is signed: otherwise a copied request would be another event with another `webhook-id`.
  const name = headers['webhook-id'] === undefined ? 'svix' : 'webhook'
  const [id = '', time = '', header = ''] = ['id', 'timestamp', 'signature'].map((part) =>
    String(headers[`${name}-${part}`] ?? ''),
  )
  if (id === '' || id.length > MAX_STANDARD_ID || !isRecent(time, now)) return null
  const signatures = header
    .split(' ', 16)
    .flatMap((part) => STANDARD.exec(part)?.[1] ?? [])
    .slice(0, MAX_SIGNATURES)
    .map((text) => Buffer.from(text, 'base64'))
  return signatures.length > 0 ? { header: 'webhook-signature', prefix: `${id}.${time}.`, signatures } : null
}

/** The bytes behind `whsec_`. */
export const standardKey = (secret: string): Buffer => Buffer.from(secret.replace(/^whsec_/, ''), 'base64')

/** Returns the key of the HMAC that a claim is about. */
export const keyOf = (secret: string, { header }: SignatureClaim): string | Buffer =>
  header === 'webhook-signature' ? standardKey(secret) : secret

/** Returns whether the claim has this HMAC, in constant time. */
export function matchesClaim(digest: Buffer, { signatures }: SignatureClaim): boolean {
  let fits = false
  // All signatures are compared, so that the time does not reveal which one matched.
  for (const signature of signatures) fits = timingSafeEqual(digest, signature) || fits
  return fits
}
