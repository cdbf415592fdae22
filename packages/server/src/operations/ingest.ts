// POST /ingest/w/{tenant_slug} and …/{webhook_id}: what a provider signed. Webhooks themselves are the operator's: see
// webhooks.ts.
import { operations } from '@sensorium/contract'
import type { Arrived, Receive } from '../ingest/webhooks/receive.ts'
import { networkOf } from '../kernel/addresses.ts'
import { own, type Binding } from './binding.ts'
import type { CallOptions } from './call.ts'
import { responseTo } from './events.ts'

/** What came, as it was signed: nothing of it is read before its signature was verified. */
export type SignedRequest = Pick<Arrived, 'headers' | 'raw'>

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
