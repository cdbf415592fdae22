// POST /ingest/w/{tenant_slug} and …/{webhook_id}: requests signed by a provider. The operator manages the webhooks
// themselves: see webhooks.ts.
import { operations } from '@sensorium/contract'
import type { Arrived, Receive } from '../ingest/webhooks/receive.ts'
import { networkOf } from '../kernel/addresses.ts'
import { own, type Binding } from './binding.ts'
import type { CallOptions } from './call.ts'
import { responseTo } from './events.ts'

/** The request as it was signed. Its body is not parsed before the signature is verified. */
type SignedRequest = Pick<Arrived, 'headers' | 'raw'>

const networkOfCaller = ({ clientAddress = '' }: CallOptions): string => networkOf(clientAddress)

export const ingestOperations = (receive: Receive): Binding[] => [
  own(operations.ingestWebhook, async ({ params, body, options }) =>
    responseTo(
      await receive({
        slug: params.tenant_slug,
        webhookId: null,
        address: networkOfCaller(options),
        ...(body as SignedRequest),
      }),
    ),
  ),

  own(operations.ingestOwnWebhook, async ({ params, body, options }) =>
    responseTo(
      await receive({
        slug: params.tenant_slug,
        webhookId: params.webhook_id,
        address: networkOfCaller(options),
        ...(body as SignedRequest),
      }),
    ),
  ),
]
