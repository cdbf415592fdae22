// /operator/webhooks
import { operations } from '@sensorium/contract'
import type { IngestTools } from '../ingest/registration.ts'
import { createWebhook } from '../ingest/webhooks/create.ts'
import { deleteWebhook } from '../ingest/webhooks/delete.ts'
import { listWebhooks } from '../ingest/webhooks/list.ts'
import { rotateWebhook } from '../ingest/webhooks/rotate.ts'
import { read, write, type Binding } from './binding.ts'
import type { CallOptions } from './call.ts'
import { noContent, ok } from './response.ts'

export function webhookOperations(tools: IngestTools & { publicUrl: string | null }): Binding[] {
  // Without a configured URL, uses the one at which the operator made this call.
  const originOf = ({ origin }: CallOptions): string => tools.publicUrl ?? origin ?? 'http://localhost'

  return [
    write(operations.createWebhook, async ({ body, options }, tx) => {
      const json = await createWebhook(tx, tools, originOf(options), body)
      return { status: 201, json, resourceId: json.webhook.id, secret: true }
    }),

    read(operations.listWebhooks, async ({ query, options }, db) =>
      ok(await listWebhooks(db, originOf(options), query)),
    ),

    write(operations.rotateWebhook, async ({ params, body, options }, tx) => ({
      ...ok(await rotateWebhook(tx, tools, originOf(options), params.id, body.signing_secret)),
      resourceId: params.id,
      secret: true,
    })),

    write(operations.deleteWebhook, async ({ params }, tx) => {
      await deleteWebhook(tx, tools, params.id)
      return noContent()
    }),
  ]
}
