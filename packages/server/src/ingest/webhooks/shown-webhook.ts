// How a webhook is shown and found.
import { isId, type PresetName, type Webhook } from '@sensorium/contract'
import { iso } from '../../kernel/clock.ts'
import { invalid, notFound, taken } from '../../kernel/failure.ts'
import { randomBase62, type Secrets } from '../../kernel/secrets.ts'
import type { Db } from '../../store/db.ts'
import type { FullMapping } from '../mapping.ts'
import { standardKey } from './signature.ts'
import { findWebhook, type WebhookRow } from './sql.ts'

export interface MadeWebhook {
  webhook: Webhook
  url: string
  signing_secret: string
}

/** The context that a sealed secret is bound to: the secret of one row cannot be opened in another. */
export const webhookContext = (id: string): string => `webhook ${id}`

export const secretOf = (given?: string): string => given ?? `whsec_${randomBase62(32)}`

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/
const LEAST_KEY_BYTES = 16

/** Throws if what a secret of Standard Webhooks encodes is no key: with an empty one, anybody could sign. */
export function requireKey(preset: string | null | undefined, given: string | undefined): void {
  if (preset !== 'standard' || given === undefined) return
  if (BASE64.test(given.replace(/^whsec_/, '')) && standardKey(given).length >= LEAST_KEY_BYTES) return
  throw invalid({
    field: 'signing_secret',
    value: undefined,
    expected: 'whsec_ and at least 16 bytes in base64, as the provider shows it',
    example: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
  })
}

export const shownWebhook = (row: WebhookRow, origin: string): Webhook => ({
  id: row.id,
  tenant: row.slug,
  source: row.source,
  mapping: JSON.parse(row.mapping) as FullMapping,
  ...(row.preset === null ? {} : { preset: row.preset as PresetName }),
  url: `${origin}/ingest/w/${row.slug}`,
  own_url: `${origin}/ingest/w/${row.slug}/${row.id}`,
  active: row.active === 1,
  created_at: iso(row.created_at),
})

export async function requireWebhook(db: Db, id: string): Promise<WebhookRow> {
  const row = isId('webhook', id) ? await findWebhook(db, id) : undefined
  if (!row) throw notFound('webhook', id)
  return row
}

// If two webhooks had the same secret, nothing would tell which of them a body is for.
export function refuseShared(secrets: Secrets, others: readonly WebhookRow[], wanted: string): void {
  const other = others.find((row) => secrets.open(row.secret, webhookContext(row.id)) === wanted)
  if (other) throw taken('This signing secret', other.id)
}
