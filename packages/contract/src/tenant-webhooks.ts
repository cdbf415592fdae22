// Webhooks that an org-admin registers for its own tenant. The answers are those of the operator's operations.
import { givenSecret, IngestMapping, preset, signingSecret, source, Webhook } from './ingest.ts'
import { operation } from './operation.ts'
import { Type, page } from './shapes.ts'

const access = { scope: 'admin', orgAdmin: true } as const
const base = 'v1' as const
const tag = 'External events'

export const tenantWebhookOperations = {
  createTenantWebhook: operation({
    id: 'createTenantWebhook',
    summary: 'Register a webhook for the tenant',
    tag,
    access,
    base,
    method: 'POST',
    path: '/ingest/webhooks',
    body: Type.Object(
      {
        source: Type.Optional(source),
        preset: Type.Optional(preset),
        mapping: Type.Optional(IngestMapping),
        signing_secret: givenSecret,
      },
      {
        $id: 'TenantWebhookCreate',
        description: '`source` may be left out with a `preset`, whose name it then is.',
        examples: [{ source: 'shop' }],
      },
    ),
    secrets: ['signing_secret'],
    success: {
      201: {
        description: 'The webhook and its secret',
        schema: Type.Object({ webhook: Webhook, url: Type.String(), signing_secret: signingSecret }),
      },
    },
  }),
  listTenantWebhooks: operation({
    id: 'listTenantWebhooks',
    summary: "List the tenant's webhooks, newest first",
    tag,
    access,
    base,
    method: 'GET',
    path: '/ingest/webhooks',
    query: Type.Object({ ...page }),
    success: {
      200: {
        description: 'A page of webhooks',
        schema: Type.Object({ webhooks: Type.Array(Webhook), total: Type.Integer() }),
      },
    },
  }),
  rotateTenantWebhook: operation({
    id: 'rotateTenantWebhook',
    summary: "Replace the secret of one of the tenant's webhooks",
    description: 'The secret before it holds for another 24 hours.',
    tag,
    access,
    base,
    method: 'POST',
    path: '/ingest/webhooks/{id}/rotate',
    body: Type.Object({ signing_secret: givenSecret }, { $id: 'TenantWebhookRotate', examples: [{}] }),
    bodyOptional: true,
    secrets: ['signing_secret'],
    success: {
      200: { description: 'The new secret', schema: Type.Object({ webhook: Webhook, signing_secret: signingSecret }) },
    },
  }),
  deleteTenantWebhook: operation({
    id: 'deleteTenantWebhook',
    summary: "Delete one of the tenant's webhooks; its secret verifies no longer",
    tag,
    access,
    base,
    method: 'DELETE',
    path: '/ingest/webhooks/{id}',
    success: { 204: { description: 'Deleted' } },
  }),
} as const
