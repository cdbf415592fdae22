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
    kind: oneOf(CONNECTOR_KINDS, { description: 'What it speaks with its broker, as the scheme of the URL says.' }),
    source: Type.String({ examples: ['erp'] }),
    url: Type.String({
      description: 'The broker, its user and password left out.',
      examples: ['amqps://***@broker.example.com:5671'],
    }),
    address: Type.String({ examples: ['/queue/orders'] }),
    credit: Type.Integer(),
    mapping: IngestMapping,
    state: oneOf(CONNECTOR_STATES, {
      description:
        '`starting`: not connected yet. `reconnecting`: the connection was lost or refused. `failed`: the broker turned the ' +
        'connector away, for its credentials, its address or a certificate; it is still tried again, at most every 30 seconds.',
    }),
    last_error: Type.Unsafe<string | null>({ type: ['string', 'null'], examples: [null] }),
    counters: Type.Object({
      received: Type.Integer(),
      accepted: Type.Integer({ description: 'Stored, duplicates included.' }),
      duplicates: Type.Integer(),
      released: Type.Integer({ description: 'Given back to the broker, because the store could not take them.' }),
      rejected: Type.Integer({ description: 'Refused: neither JSON nor a CloudEvent.' }),
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
        description: '`source` may be left out with a `preset`, whose name it then is.',
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
    description: 'The secret before it holds for another 24 hours.',
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
    summary: 'Delete a webhook; its secret verifies no longer',
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
          description: 'The broker with user and password; a path names the virtual host. Kept encrypted.',
          expected: 'an amqp:// or amqps:// URL with a host',
          examples: ['amqps://user:password@broker.example.com:5671'],
        }),
        address: text(1024, {
          minLength: 1,
          description:
            'What to receive from, as the broker spells it; for RabbitMQ 3 `/amq/queue/<name>` is a queue that exists.',
          expected: 'the address of a queue, of 1 to 1024 characters',
          examples: ['/amq/queue/orders'],
        }),
        credit: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: MAX_CREDIT,
            default: DEFAULT_CREDIT,
            examples: [DEFAULT_CREDIT],
            description: 'How many messages may be on their way to the store at once.',
          }),
        ),
        mapping: Type.Optional(IngestMapping),
        tls_ca: Type.Optional(
          text(65_536, {
            description: 'Trusted instead of the system’s authorities, for amqps.',
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
    summary: 'Stop receiving, until resumed',
    description: 'Messages under way are finished. Takes effect within two seconds.',
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
    summary: 'Receive again',
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
    summary: 'Send an event from outside',
    description:
      'Signed instead of authenticated: `X-Service-Signature` is the HMAC-SHA256 of the body as it is sent, keyed with the whole ' +
      'signing secret, in hex, with or without `sha256=` in front. ' +
      'A webhook with a preset takes its provider’s own signature header too. The body is JSON of any shape; the response is that of a publish. ' +
      'A wrong signature and an unknown tenant are told apart by nothing: 401. ' +
      'Long bodies are tried with few secrets, four from 32 KiB on: a tenant with more webhooks uses `own_url` of each.',
    tag,
    base,
    access: { scope: 'public' },
    method: 'POST',
    path: '/ingest/w/{tenant_slug}',
    body: Type.Unknown({
      description: 'Any JSON.',
      examples: [{ entity: 'order', action: 'created', id: 'o-1', total: 40 }],
    }),
    checksBody: true,
    bodyLimit: 'event',
    success: {
      202: { description: 'Accepted: the event is on disk', schema: Published },
      200: { description: 'Duplicate: it was accepted before', schema: Published },
    },
  }),
  ingestOwnWebhook: operation({
    id: 'ingestOwnWebhook',
    summary: 'Send an event from outside to one webhook',
    description:
      'As the address of the tenant, for one webhook: only its secret is tried, and the one before during a rotation. ' +
      'A webhook that does not exist is refused like a wrong signature: 401.',
    tag,
    base,
    access: { scope: 'public' },
    method: 'POST',
    path: '/ingest/w/{tenant_slug}/{webhook_id}',
    body: Type.Unknown({
      description: 'Any JSON.',
      examples: [{ entity: 'order', action: 'created', id: 'o-1', total: 40 }],
    }),
    checksBody: true,
    bodyLimit: 'event',
    success: {
      202: { description: 'Accepted: the event is on disk', schema: Published },
      200: { description: 'Duplicate: it was accepted before', schema: Published },
    },
  }),
} as const
