// Finds the webhook whose secret signed a body.
//
// Nouns: a candidate is a secret that may have signed it. A decoy is a secret that signed nothing.
//
// 1. A refusal costs at most hashing four times the bytes that were sent, or 128 KiB if that is more: as many secrets
//    are tried as fit into that. The candidates of a single webhook's URL always fit; those of the URL of a tenant with
//    many webhooks may not, for long bodies.
// 2. A refusal costs the same whatever exists behind the URL: decoys fill up the tries to the highest number of
//    candidates that this node has met at a URL of that kind.
import { randomBytes } from 'node:crypto'
import { badSignature } from '../../kernel/failure.ts'
import type { Secrets } from '../../kernel/secrets.ts'
import type { Hmac } from './hmac.ts'
import { PRESETS } from './presets.ts'
import { keyOf, matchesClaim, OWN_HEADER, type SignatureClaim, type SignatureHeader } from './signature.ts'
import { webhookContext } from './shown-webhook.ts'
import { validOldSecrets, type WebhookRow } from './sql.ts'

/** Whether the URL names a tenant alone, or one of its webhooks. */
export type UrlKind = 'tenant' | 'webhook'

/** Tries the webhooks that may have signed and returns the one that did. Throws a refusal that does not say why. */
type Verify = (
  urlKind: UrlKind,
  rows: readonly WebhookRow[],
  claim: SignatureClaim,
  raw: Buffer,
  now: number,
) => Promise<WebhookRow>

interface Candidate {
  sealed: string
  context: string
  webhook: WebhookRow | null
}

const TIMES_THE_BODY = 4
const LEAST_BYTES = 131_072
/** The cost of opening a secret and keying an HMAC, in bytes hashed. */
const BYTES_OF_A_TRY = 4_096

/** Returns how many secrets a body of this size is tried with: 32 up to 4 KiB, 8 at 16 KiB, 4 from 32 KiB on. */
const triesFor = (bytes: number): number =>
  Math.floor(Math.max(LEAST_BYTES, TIMES_THE_BODY * bytes) / Math.max(BYTES_OF_A_TRY, bytes))

const takes = ({ preset }: WebhookRow, header: SignatureHeader): boolean =>
  header === OWN_HEADER || (preset !== null && PRESETS[preset]?.header === header)

/** Returns current secrets first, then rotated ones: a body too long to be tried with all is tried with the first. */
function candidatesOf(rows: readonly WebhookRow[], { header }: SignatureClaim, now: number): Candidate[] {
  const present: Candidate[] = []
  const old: Candidate[] = []
  for (const webhook of rows) {
    const sealed = validOldSecrets(webhook, now)
    if (!takes(webhook, header)) continue
    const context = webhookContext(webhook.id)
    present.push({ sealed: webhook.secret, context, webhook })
    old.push(...sealed.map((secret) => ({ sealed: secret.sealed, context, webhook })))
  }
  return [...present, ...old]
}

export function makeVerify(secrets: Secrets, hmac: Hmac): Verify {
  const sealed = secrets.seal(`whsec_${randomBytes(24).toString('base64url')}`, 'decoy')
  const decoy: Candidate = { sealed, context: 'decoy', webhook: null }
  // So a tenant with two webhooks that were each rotated once, or one such webhook at its own URL, costs the same as a
  // URL with no webhook at all.
  const widest: Record<UrlKind, number> = { tenant: 4, webhook: 2 }

  return async (urlKind, rows, claim, raw, now) => {
    const candidates = candidatesOf(rows, claim, now)
    widest[urlKind] = Math.max(widest[urlKind], candidates.length)
    const tries = Math.min(widest[urlKind], triesFor(raw.length))
    for (let i = 0; i < tries; i++) {
      const { sealed: secret, context, webhook } = candidates[i] ?? decoy
      const fits = matchesClaim(await hmac(keyOf(secrets.open(secret, context), claim), claim.prefix, raw), claim)
      if (fits && webhook !== null) return webhook
    }
    throw badSignature()
  }
}
