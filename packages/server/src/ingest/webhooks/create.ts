import type { IngestMapping, PresetName } from '@sensorium/contract'
import { invalid, ruleBroken } from '../../kernel/failure.ts'
import { recordRoutingChange } from '../../routing/changes.ts'
import type { Db } from '../../store/db.ts'
import { requireTenant } from '../../tenants/get.ts'
import { completeMapping } from '../mapping.ts'
import type { IngestTools } from '../registration.ts'
import { PRESET_MAPPINGS } from './presets.ts'
import { insertWebhook, lockWebhooks, webhooksOfSlug, type WebhookRow } from './sql.ts'
import { refuseShared, requireKey, secretOf, shownWebhook, webhookContext, type MadeWebhook } from './shown-webhook.ts'

interface NewWebhook {
  tenant: string
  source?: string
  preset?: PresetName
  mapping?: IngestMapping
  signing_secret?: string
}

/** As many as the secrets that a short body is tried with at the tenant's URL. */
const MAX_WEBHOOKS = 32

export async function createWebhook(
  db: Db,
  tools: IngestTools,
  origin: string,
  wanted: NewWebhook,
): Promise<MadeWebhook> {
  const source = wanted.source ?? (wanted.preset && PRESET_MAPPINGS[wanted.preset].source)
  if (source === undefined) {
    const expected =
      '1 to 63 lower-case letters, digits, hyphens and underscores (required without a preset that names a provider)'
    throw invalid({ field: 'source', value: undefined, expected, example: 'shop' })
  }
  const mapping = completeMapping(wanted.mapping, wanted.preset && PRESET_MAPPINGS[wanted.preset].mapping)
  requireKey(wanted.preset, wanted.signing_secret)
  const tenant = await requireTenant(db, wanted.tenant)
  await lockWebhooks(db, tenant.tenant_id)
  const others = await webhooksOfSlug(db, tenant.slug)
  if (others.length >= MAX_WEBHOOKS)
    throw ruleBroken('too_many_webhooks', `A tenant has at most ${MAX_WEBHOOKS} webhooks`, { tenant: tenant.slug })
  if (wanted.signing_secret !== undefined) refuseShared(tools.secrets, others, wanted.signing_secret)
  const id = tools.makeId('webhook')
  const signing_secret = secretOf(wanted.signing_secret)
  const row: WebhookRow = {
    tenant_id: tenant.tenant_id,
    slug: tenant.slug,
    id,
    source,
    preset: wanted.preset ?? null,
    mapping: JSON.stringify(mapping),
    secret: tools.secrets.seal(signing_secret, webhookContext(id)),
    old_secrets: '[]',
    active: 1,
    created_at: tools.now(),
  }
  await insertWebhook(db, row)
  // From now on, event ids with this source's prefix are reserved for it.
  await recordRoutingChange(db, row.tenant_id, 'source', id, row.created_at)
  const webhook = shownWebhook(row, origin)
  return { webhook, url: webhook.url, signing_secret }
}
