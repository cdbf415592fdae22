// /v1/ingest/webhooks: what the operator does with webhooks, done by an org-admin for its own tenant.
import { operations } from '@sensorium/contract'
import { createWebhook } from '../ingest/webhooks/create.ts'
import { deleteWebhook } from '../ingest/webhooks/delete.ts'
import { listWebhooks } from '../ingest/webhooks/list.ts'
import { rotateWebhook } from '../ingest/webhooks/rotate.ts'
import { slugOfTenant } from '../tenants/sql.ts'
import { read, write, type Binding } from './binding.ts'
import { noContent, ok } from './response.ts'
import { makeOriginOf, type WebhookTools } from './webhooks.ts'

export function tenantWebhookOperations(tools: WebhookTools): Binding[] {
  const originOf = makeOriginOf(tools)
  return [
    write(operations.createTenantWebhook, async ({ principal, body, options }, tx) => {
      const tenant = await slugOfTenant(tx, principal.tenantId)
      const json = await createWebhook(tx, tools, originOf(options), { ...body, tenant })
      return { status: 201, json, resourceId: json.webhook.id, secret: true }
    }),

    read(operations.listTenantWebhooks, async ({ principal, query, options }, db) => {
      const tenant = await slugOfTenant(db, principal.tenantId)
      return ok(await listWebhooks(db, originOf(options), { ...query, tenant }))
    }),

    write(operations.rotateTenantWebhook, async ({ principal, params, body, options }, tx) => {
      const { tenantId } = principal
      const json = await rotateWebhook(tx, tools, originOf(options), params.id, body.signing_secret, tenantId)
      return { ...ok(json), resourceId: params.id, secret: true }
    }),

    write(operations.deleteTenantWebhook, async ({ principal, params }, tx) => {
      await deleteWebhook(tx, tools, params.id, principal.tenantId)
      return noContent()
    }),
  ]
}
