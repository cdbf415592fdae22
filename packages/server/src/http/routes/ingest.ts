// /ingest/w/{tenant_slug}, and the operator's webhooks and connectors. The command line calls the same functions.
import { operations } from '@sensorium/contract'
import { createConnector } from '../../ingest/connectors/create.ts'
import { deleteConnector } from '../../ingest/connectors/delete.ts'
import { listConnectors } from '../../ingest/connectors/list.ts'
import { pauseConnector } from '../../ingest/connectors/pause.ts'
import type { IngestTools } from '../../ingest/registration.ts'
import { createWebhook } from '../../ingest/webhooks/create.ts'
import { deleteWebhook } from '../../ingest/webhooks/delete.ts'
import { listWebhooks } from '../../ingest/webhooks/list.ts'
import type { Receive } from '../../ingest/webhooks/receive.ts'
import { rotateWebhook } from '../../ingest/webhooks/rotate.ts'
import { noContent, ok } from '../answer.ts'
import { own, read, write, type Call, type Route } from '../route.ts'
import { answerOf } from './events.ts'

export interface IngestRouteTools extends IngestTools {
  receive: Receive
  publicUrl: string | null
  /** Tells every node that a connector was made, paused, resumed or deleted. */
  connectorsChanged(): void
}

export function ingestRoutes(tools: IngestRouteTools): Route[] {
  const { receive, publicUrl, connectorsChanged, now } = tools
  // Without a configured address: the one the operator just used.
  const originOf = ({ headers }: Pick<Call<unknown>, 'headers'>): string =>
    publicUrl ?? `http://${headers.host ?? 'localhost'}`

  return [
    own(operations.ingestWebhook, async ({ params, headers, raw, address }) =>
      answerOf(await receive({ slug: params.tenant_slug, webhookId: null, headers, raw, address })),
    ),

    own(operations.ingestOwnWebhook, async ({ params, headers, raw, address }) =>
      answerOf(await receive({ slug: params.tenant_slug, webhookId: params.webhook_id, headers, raw, address })),
    ),

    write(operations.createWebhook, async (call, tx) => {
      const json = await createWebhook(tx, tools, originOf(call), call.body)
      return { status: 201, json, resourceId: json.webhook.id, secret: true }
    }),

    read(operations.listWebhooks, async (call, db) => ok(await listWebhooks(db, originOf(call), call.query))),

    write(operations.rotateWebhook, async (call, tx) => ({
      ...ok(await rotateWebhook(tx, tools, originOf(call), call.params.id, call.body.signing_secret)),
      resourceId: call.params.id,
      secret: true,
    })),

    write(operations.deleteWebhook, async ({ params }, tx) => {
      await deleteWebhook(tx, params.id)
      return noContent()
    }),

    write(operations.createConnector, async ({ body, afterCommit }, tx) => {
      const json = await createConnector(tx, tools, body)
      afterCommit(connectorsChanged)
      return { status: 201, json, resourceId: json.connector.id }
    }),

    read(operations.listConnectors, async ({ query }, db) => ok(await listConnectors(db, now(), query))),

    write(operations.pauseConnector, async ({ params, afterCommit }, tx) => {
      afterCommit(connectorsChanged)
      return ok(await pauseConnector(tx, now(), params.id, true))
    }),

    write(operations.resumeConnector, async ({ params, afterCommit }, tx) => {
      afterCommit(connectorsChanged)
      return ok(await pauseConnector(tx, now(), params.id, false))
    }),

    write(operations.deleteConnector, async ({ params, afterCommit }, tx) => {
      await deleteConnector(tx, params.id)
      afterCommit(connectorsChanged)
      return noContent()
    }),
  ]
}
