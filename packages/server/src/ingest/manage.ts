// What the operator does with webhooks and connectors. Secrets are sealed for the place they are kept in, and shown
// once.
import { X509Certificate } from 'node:crypto'
import {
  DEFAULT_CREDIT,
  isId,
  type Connector,
  type ConnectorState,
  type IngestMapping,
  type PresetName,
  type Webhook,
} from '@sensorium/contract'
import { iso, isoOrNull } from '../kernel/clock.ts'
import { invalid, notFound, ruleBroken, taken } from '../kernel/failure.ts'
import type { MakeId } from '../kernel/ids.ts'
import { randomBase62, type Secrets } from '../kernel/secrets.ts'
import type { Db } from '../store/db.ts'
import { requireTenant } from '../tenants/create.ts'
import { completeMapping, type FullMapping } from './mapping.ts'
import { PRESET_MAPPINGS } from './presets.ts'
import {
  deleteConnectorRow,
  deleteWebhookRow,
  findConnector,
  findWebhook,
  holdingSecrets,
  insertConnector,
  insertWebhook,
  pageConnectors,
  pageWebhooks,
  replaceSecret,
  setPaused,
  webhooksOfSlug,
  type ConnectorWithLease,
  type WebhookRow,
} from './sql.ts'

export interface IngestTools {
  makeId: MakeId
  secrets: Secrets
  now(): number
}

export interface Page {
  tenant?: string
  offset?: number
  limit?: number
}

/** How long a secret holds beside the one that replaced it. */
export const ROTATION_MS = 24 * 3_600_000
/** Secrets from before that are kept at most: each one is tried with every signature that comes. */
const MAX_OLD = 4
/** Every refused request costs an HMAC for each secret of its tenant: their number is bounded. */
export const MAX_WEBHOOKS = 32

/** What sealed texts are bound to: a row cannot be given another row's. */
export const webhookContext = (id: string): string => `webhook ${id}`
export const connectorContext = (id: string): string => `connector ${id}`

const secretOf = (given?: string): string => given ?? `whsec_${randomBase62(32)}`

const shownWebhook = (row: WebhookRow, origin: string): Webhook => ({
  id: row.id,
  tenant: row.slug,
  source: row.source,
  mapping: JSON.parse(row.mapping) as FullMapping,
  ...(row.preset === null ? {} : { preset: row.preset as PresetName }),
  url: `${origin}/ingest/w/${row.slug}`,
  active: row.active === 1,
  created_at: iso(row.created_at),
})

export interface NewWebhook {
  tenant: string
  source?: string
  preset?: PresetName
  mapping?: IngestMapping
  signing_secret?: string
}

export interface MadeWebhook {
  webhook: Webhook
  url: string
  signing_secret: string
}

export async function createWebhook(
  db: Db,
  tools: IngestTools,
  origin: string,
  wanted: NewWebhook,
): Promise<MadeWebhook> {
  const source = wanted.source ?? wanted.preset
  if (source === undefined) {
    const expected = '1 to 63 lower-case letters, digits, hyphens and underscores (required without a preset)'
    throw invalid({ field: 'source', value: undefined, expected, example: 'shop' })
  }
  const mapping = completeMapping(wanted.mapping, wanted.preset && PRESET_MAPPINGS[wanted.preset].mapping)
  const tenant = await requireTenant(db, wanted.tenant)
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
  const webhook = shownWebhook(row, origin)
  return { webhook, url: webhook.url, signing_secret }
}

// With one secret for two webhooks nothing would say which of them a body is for.
function refuseShared(secrets: Secrets, others: readonly WebhookRow[], wanted: string): void {
  const other = others.find((row) => secrets.open(row.secret, webhookContext(row.id)) === wanted)
  if (other) throw taken('This signing secret', other.id)
}

export interface WebhookPage {
  webhooks: Webhook[]
  total: number
}

export async function listWebhooks(
  db: Db,
  origin: string,
  { tenant, offset = 0, limit = 50 }: Page,
): Promise<WebhookPage> {
  const scope = tenant === undefined ? null : (await requireTenant(db, tenant)).tenant_id
  const { rows, total } = await pageWebhooks(db, scope, offset, limit)
  return { webhooks: rows.map((row) => shownWebhook(row, origin)), total }
}

async function requireWebhook(db: Db, id: string): Promise<WebhookRow> {
  const row = isId('webhook', id) ? await findWebhook(db, id) : undefined
  if (!row) throw notFound('webhook', id)
  return row
}

/** The secret before the new one holds for a day. */
export async function rotateWebhook(
  db: Db,
  tools: IngestTools,
  origin: string,
  id: string,
  given?: string,
): Promise<Pick<MadeWebhook, 'webhook' | 'signing_secret'>> {
  const signing_secret = secretOf(given)
  const sealed = tools.secrets.seal(signing_secret, webhookContext(id))
  for (;;) {
    const row = await requireWebhook(db, id)
    if (given !== undefined) refuseShared(tools.secrets, await webhooksOfSlug(db, row.slug), given)
    const old = [{ sealed: row.secret, until: tools.now() + ROTATION_MS }, ...holdingSecrets(row, tools.now())].slice(
      0,
      MAX_OLD,
    )
    // Somebody who rotates at the same moment was told a secret too: read again, and it is one of the old ones.
    if ((await replaceSecret(db, row, sealed, old)) > 0) return { webhook: shownWebhook(row, origin), signing_secret }
  }
}

export async function deleteWebhook(db: Db, id: string): Promise<void> {
  const row = await requireWebhook(db, id)
  if ((await deleteWebhookRow(db, row.tenant_id, id)) === 0) throw notFound('webhook', id)
}

/**
 * What a connector is doing: what the operator asked for, then what the node that holds it says, as long as it says so.
 */
export function stateOf(row: ConnectorWithLease, now: number): ConnectorState {
  if (row.paused === 1) return 'paused'
  return row.state !== null && row.expires_at! > now ? row.state : 'starting'
}

export const shownConnector = (row: ConnectorWithLease, now: number): Connector => ({
  id: row.id,
  tenant: row.slug,
  source: row.source,
  url: row.shown_url,
  address: row.address,
  credit: row.credit,
  mapping: JSON.parse(row.mapping) as FullMapping,
  state: stateOf(row, now),
  last_error: row.last_error,
  counters: {
    received: row.received ?? 0,
    accepted: row.accepted ?? 0,
    duplicates: row.duplicates ?? 0,
    released: row.released ?? 0,
    rejected: row.rejected ?? 0,
  },
  last_message_at: isoOrNull(row.last_message_at),
  created_at: iso(row.created_at),
})

export interface NewConnector {
  tenant: string
  source: string
  url: string
  address: string
  credit?: number
  mapping?: IngestMapping
  tls_ca?: string
}

function isDecodable({ username, password, pathname }: URL): boolean {
  try {
    return ![username, password, pathname].some((part) => decodeURIComponent(part).includes('\0'))
  } catch {
    return false
  }
}

/** The address of a broker that can be connected to; its user and password are never repeated, in an error neither. */
function checkUrl(url: string): URL {
  const parsed = URL.parse(url)
  if (
    parsed &&
    parsed.hostname !== '' &&
    (parsed.protocol === 'amqp:' || parsed.protocol === 'amqps:') &&
    isDecodable(parsed)
  )
    return parsed
  const expected = 'an amqp:// or amqps:// URL with a host'
  throw invalid({
    field: 'url',
    value: '[redacted]',
    expected,
    example: 'amqps://user:password@broker.example.com:5671',
  })
}

function checkCertificates(url: URL, pem: string): void {
  const refuse = (expected: string) =>
    invalid({ field: 'tls_ca', value: pem, expected, example: '-----BEGIN CERTIFICATE-----\n…' })
  if (url.protocol !== 'amqps:') throw refuse('no certificate, because the URL is not amqps://')
  try {
    new X509Certificate(pem)
  } catch {
    throw refuse('certificates in PEM')
  }
}

export async function createConnector(
  db: Db,
  tools: IngestTools,
  wanted: NewConnector,
): Promise<{ connector: Connector }> {
  const url = checkUrl(wanted.url)
  if (wanted.tls_ca !== undefined) checkCertificates(url, wanted.tls_ca)
  const mapping = completeMapping(wanted.mapping)
  const tenant = await requireTenant(db, wanted.tenant)
  const id = tools.makeId('connector')
  const masked = url.username !== '' || url.password !== '' ? '***@' : ''
  await insertConnector(db, {
    tenant_id: tenant.tenant_id,
    slug: tenant.slug,
    id,
    source: wanted.source,
    url: tools.secrets.seal(wanted.url, connectorContext(id)),
    shown_url: `${url.protocol}//${masked}${url.host}${url.pathname === '/' ? '' : url.pathname}`,
    address: wanted.address,
    credit: wanted.credit ?? DEFAULT_CREDIT,
    mapping: JSON.stringify(mapping),
    tls_ca: wanted.tls_ca ?? null,
    paused: 0,
    created_at: tools.now(),
  })
  return { connector: shownConnector(await requireConnector(db, id), tools.now()) }
}

export interface ConnectorPage {
  connectors: Connector[]
  total: number
}

export async function listConnectors(
  db: Db,
  now: number,
  { tenant, offset = 0, limit = 50 }: Page,
): Promise<ConnectorPage> {
  const scope = tenant === undefined ? null : (await requireTenant(db, tenant)).tenant_id
  const { rows, total } = await pageConnectors(db, scope, offset, limit)
  return { connectors: rows.map((row) => shownConnector(row, now)), total }
}

async function requireConnector(db: Db, id: string): Promise<ConnectorWithLease> {
  const row = isId('connector', id) ? await findConnector(db, id) : undefined
  if (!row) throw notFound('connector', id)
  return row
}

/** Pausing what is paused, or resuming what is not, answers the same and changes nothing. */
export async function pauseConnector(
  db: Db,
  now: number,
  id: string,
  paused: boolean,
): Promise<{ connector: Connector }> {
  const row = await requireConnector(db, id)
  await setPaused(db, row.tenant_id, id, paused)
  return { connector: shownConnector({ ...row, paused: paused ? 1 : 0 }, now) }
}

export async function deleteConnector(db: Db, id: string): Promise<void> {
  const row = await requireConnector(db, id)
  if ((await deleteConnectorRow(db, row.tenant_id, id)) === 0) throw notFound('connector', id)
}
