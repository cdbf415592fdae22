// Events from outside: webhooks that other systems sign, and connectors that receive from an AMQP 1.0 broker. The
// operator registers both. Anyone who holds the secret of a webhook can post to it.
import { Published } from './events.ts'
import { operation } from './operation.ts'
import { SLUG } from './operator.ts'
import { givenSecret, IngestMapping, preset, source, WebhookCreated, WebhookList, WebhookRotated } from './webhooks.ts'
import { Type, type Static, dateTime, id, nullableDateTime, oneOf, page, text } from './shapes.ts'

export const MAX_CREDIT = 1000
export const DEFAULT_CREDIT = 200

const tenant = Type.String({
  pattern: SLUG,
  expected: 'the slug of a tenant: 1 to 63 lower-case letters, digits and hyphens, no hyphen at either end',
  examples: ['acme'],
})

export const CONNECTOR_STATES = ['starting', 'running', 'paused', 'failed', 'reconnecting'] as const
export type ConnectorState = (typeof CONNECTOR_STATES)[number]

/** The protocols between a connector and its broker; the scheme of the URL selects one. */
export const CONNECTOR_KINDS = ['amqp'] as const
export type ConnectorKind = (typeof CONNECTOR_KINDS)[number]

export const Connector = Type.Object(
  {
    id: id('cnr'),
    tenant: Type.String({ examples: ['acme'] }),
    kind: oneOf(CONNECTOR_KINDS, {
      description: 'The protocol between the connector and its broker, selected by the scheme of the URL.',
    }),
    source: Type.String({ examples: ['erp'] }),
    url: Type.String({
      description: 'The URL of the broker, without user and password.',
      examples: ['amqps://***@broker.example.com:5671'],
    }),
    address: Type.String({ examples: ['/queue/orders'] }),
    credit: Type.Integer(),
    mapping: IngestMapping,
    state: oneOf(CONNECTOR_STATES, {
      description:
        '`starting`: not connected yet. `reconnecting`: the connection was lost or refused. `failed`: the broker refused the ' +
        'connector because of its credentials, its address or a certificate; it is still retried, at most every 30 seconds.',
    }),
    last_error: Type.Unsafe<string | null>({ type: ['string', 'null'], examples: [null] }),
    counters: Type.Object({
      received: Type.Integer(),
      accepted: Type.Integer({ description: 'Messages that were stored, including duplicates.' }),
      duplicates: Type.Integer(),
      released: Type.Integer({
        description: 'Messages returned to the broker because the store could not accept them.',
      }),
      rejected: Type.Integer({
        description: 'Messages that were refused, for example because they are neither JSON nor a CloudEvent.',
      }),
    }),
    last_message_at: nullableDateTime(),
    created_at: dateTime(),
  },
  { $id: 'Connector' },
)
export type Connector = Static<typeof Connector>

const ConnectorOnly = Type.Object({ connector: Connector }, { $id: 'ConnectorResponse' })

const ofTenant = Type.Object({ tenant: Type.Optional(tenant), ...page })
const access = { scope: 'operator' } as const
const base = 'root' as const
const tag = 'External events'
/** A request of a provider, with its signature. */
const externalEvent = {
  tag,
  base,
  access: { scope: 'public' },
  method: 'POST',
  body: Type.Unknown({
    description: 'Any JSON.',
    examples: [{ entity: 'order', action: 'created', id: 'o-1', total: 40 }],
  }),
  checksBody: true,
  bodyLimit: 'event',
  success: {
    202: { description: 'Accepted: the event is on disk', schema: Published },
    200: { description: 'Duplicate: the event was accepted before', schema: Published },
  },
} as const

export const ingestOperations = {
  createWebhook: operation({
    id: 'createWebhook',
    audit: ['tenant', 'source', 'preset'],
    summary: 'Register a webhook',
    tag,
    access,
    base,
    method: 'POST',
    path: '/operator/webhooks',
    body: Type.Object(
      {
        tenant,
        source: Type.Optional(source),
        preset: Type.Optional(preset),
        mapping: Type.Optional(IngestMapping),
        signing_secret: givenSecret,
      },
      {
        $id: 'WebhookCreate',
        description: '`source` is required unless `preset` names a provider, which is the source then.',
        examples: [{ tenant: 'acme', source: 'shop' }],
      },
    ),
    secrets: ['signing_secret'],
    success: {
      201: {
        description: 'The webhook and its secret',
        schema: WebhookCreated,
      },
    },
  }),
  listWebhooks: operation({
    id: 'listWebhooks',
    summary: 'List the webhooks, newest first',
    tag,
    access,
    base,
    method: 'GET',
    path: '/operator/webhooks',
    query: ofTenant,
    success: {
      200: {
        description: 'A page of webhooks',
        schema: WebhookList,
      },
    },
  }),
  rotateWebhook: operation({
    id: 'rotateWebhook',
    audit: [],
    summary: "Replace a webhook's secret",
    description: 'The previous secret stays valid for another 24 hours.',
    tag,
    access,
    base,
    method: 'POST',
    path: '/operator/webhooks/{id}/rotate',
    body: Type.Object({ signing_secret: givenSecret }, { $id: 'WebhookRotate', examples: [{}] }),
    bodyOptional: true,
    secrets: ['signing_secret'],
    success: {
      200: { description: 'The new secret', schema: WebhookRotated },
    },
  }),
  deleteWebhook: operation({
    id: 'deleteWebhook',
    audit: [],
    summary: 'Delete a webhook; its secret is no longer accepted',
    tag,
    access,
    base,
    method: 'DELETE',
    path: '/operator/webhooks/{id}',
    success: { 204: { description: 'Deleted' } },
  }),
  createConnector: operation({
    id: 'createConnector',
    audit: ['tenant', 'source', 'address'],
    summary: 'Register an AMQP 1.0 connector',
    tag,
    access,
    base,
    method: 'POST',
    path: '/operator/connectors',
    body: Type.Object(
      {
        tenant,
        source,
        url: Type.String({
          maxLength: 2048,
          pattern: '^[a-z][a-z0-9+.-]*://',
          description:
            'The URL of the broker, with user and password. A path names the virtual host. Stored encrypted.',
          expected: 'an amqp:// or amqps:// URL with a host',
          examples: ['amqps://user:password@broker.example.com:5671'],
        }),
        address: text(1024, {
          minLength: 1,
          description:
            'The address to receive from, in the notation of the broker. For RabbitMQ 3, `/amq/queue/<name>` is an existing queue.',
          expected: 'the address of a queue, of 1 to 1024 characters',
          examples: ['/amq/queue/orders'],
        }),
        credit: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: MAX_CREDIT,
            default: DEFAULT_CREDIT,
            examples: [DEFAULT_CREDIT],
            description: 'How many messages may be in flight to the store at once.',
          }),
        ),
        mapping: Type.Optional(IngestMapping),
        tls_ca: Type.Optional(
          text(65_536, {
            description: 'For amqps: certificates to trust instead of the system’s certificate authorities.',
            expected: 'certificates in PEM',
            examples: ['-----BEGIN CERTIFICATE-----\n…'],
          }),
        ),
      },
      { $id: 'ConnectorCreate' },
    ),
    secrets: ['url'],
    success: { 201: { description: 'The connector', schema: ConnectorOnly } },
  }),
  listConnectors: operation({
    id: 'listConnectors',
    summary: 'List the connectors, newest first',
    tag,
    access,
    base,
    method: 'GET',
    path: '/operator/connectors',
    query: ofTenant,
    success: {
      200: {
        description: 'A page of connectors',
        schema: Type.Object({ connectors: Type.Array(Connector), total: Type.Integer() }, { $id: 'ConnectorList' }),
      },
    },
  }),
  pauseConnector: operation({
    id: 'pauseConnector',
    audit: [],
    summary: 'Pause a connector',
    description:
      'The connector stops receiving until it is resumed. Messages in progress are finished. Takes effect within two seconds.',
    tag,
    access,
    base,
    method: 'POST',
    path: '/operator/connectors/{id}/pause',
    success: { 200: { description: 'The connector', schema: ConnectorOnly } },
  }),
  resumeConnector: operation({
    id: 'resumeConnector',
    audit: [],
    summary: 'Resume a paused connector',
    tag,
    access,
    base,
    method: 'POST',
    path: '/operator/connectors/{id}/resume',
    success: { 200: { description: 'The connector', schema: ConnectorOnly } },
  }),
  deleteConnector: operation({
    id: 'deleteConnector',
    audit: [],
    summary: 'Delete a connector',
    tag,
    access,
    base,
    method: 'DELETE',
    path: '/operator/connectors/{id}',
    success: { 204: { description: 'Deleted' } },
  }),
  ingestWebhook: operation({
    id: 'ingestWebhook',
    summary: 'Send an external event',
    description:
      'Authenticated by a signature instead of a token: `X-Service-Signature` is the HMAC-SHA256 of the exact bytes of the body, ' +
      'keyed with the whole signing secret, in hex, with or without the prefix `sha256=`. ' +
      'A webhook with a preset also accepts its provider’s own signature header. The body is JSON of any shape; the response is the same as for a publish. ' +
      'A wrong signature and an unknown tenant return the same 401. ' +
      'For large bodies fewer secrets are tried, four from 32 KiB on: a tenant with more webhooks should use the `own_url` of each.',
    ...externalEvent,
    path: '/ingest/w/{tenant_slug}',
  }),
  ingestOwnWebhook: operation({
    id: 'ingestOwnWebhook',
    summary: 'Send an external event to one webhook',
    description:
      'Like the URL of the tenant, but for one webhook: only its own secrets are tried, including previous secrets that are still valid after a rotation. ' +
      'An unknown webhook and a wrong signature return the same 401.',
    ...externalEvent,
    path: '/ingest/w/{tenant_slug}/{webhook_id}',
  }),
} as const
