// A push is signed according to Standard Webhooks: HMAC-SHA256 over id, time and body, with the agent's push secret.
import type { Delivery } from './contract.ts'

/** A push whose timestamp is further from now than this may be a recorded one, sent again. */
const TOLERANCE_S = 300

export class InvalidPush extends Error {
  override readonly name = 'InvalidPush'
}

type HeaderSource = Pick<Headers, 'get'> | Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Returns a header from any object with `get`, a framework's own included, or from a record. The names in a record may
 * have any case: some functions-as-a-service keep it as sent.
 */
function header(headers: HeaderSource, name: string): string {
  const found =
    typeof headers.get === 'function'
      ? (headers as Pick<Headers, 'get'>).get(name)
      : Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1]
  if (typeof found !== 'string' || found === '') throw new InvalidPush(`the header ${name} is missing`)
  return found
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))

/**
 * Returns the delivery if the push is genuine and recent; throws `InvalidPush` otherwise. `body` must be the request
 * body as it arrived: parsed and serialised again, it would no longer match its signature. A missing secret or a
 * parsed body is a mistake of the receiver, and a `TypeError`.
 */
export async function verifyPush(
  headers: HeaderSource,
  body: string | Uint8Array,
  secret: string,
  now: () => number = Date.now,
): Promise<Delivery> {
  if (!secret) throw new TypeError('the secret is missing')
  body ??= ''
  if (typeof body !== 'string' && body.byteLength === undefined) throw new TypeError('the body must be raw')
  const id = header(headers, 'webhook-id')
  const timestamp = header(headers, 'webhook-timestamp')
  const age = Math.abs(now() / 1000 - Number(timestamp))
  if (!(age <= TOLERANCE_S)) throw new InvalidPush('it was not sent within the last five minutes')
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const key = await crypto.subtle.importKey(
    'raw',
    bytesOf(secret.replace(/^whsec_/, '')),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['verify'],
  )
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`)
  for (const signature of header(headers, 'webhook-signature').split(' ')) {
    if (!signature.startsWith('v1,')) continue
    let given: Uint8Array<ArrayBuffer>
    try {
      given = bytesOf(signature.slice(3))
    } catch {
      continue
    }
    // `verify` compares in constant time.
    if (await crypto.subtle.verify('HMAC', key, given, signed)) return JSON.parse(text) as Delivery
  }
  throw new InvalidPush('the signature does not fit')
}
