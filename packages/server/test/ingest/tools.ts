// Helpers that the ingestion tests share.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { Connector, Delivery, Webhook } from '@sensorium/contract'
import {
  callOf,
  OPERATOR_TOKEN,
  type Reply,
  type Service,
  type TestAgent,
  type TestTenant,
  type Untyped,
} from '../support/service.ts'

export interface MadeWebhook {
  webhook: Webhook
  url: string
  signing_secret: string
}

export const hmac = (secret: string, body: string | Uint8Array): string =>
  createHmac('sha256', secret).update(body).digest('hex')

export function operatorCalls(service: Pick<Service, 'call'>) {
  const call = callOf(service)
  const operator = <T = Untyped>(request: string, body?: unknown): Promise<Reply<T>> =>
    call<T>(request, { token: OPERATOR_TOKEN, body })
  return {
    operator,
    async webhook(body: object): Promise<MadeWebhook> {
      const reply = await operator<MadeWebhook>('POST /operator/webhooks', body)
      assert.equal(reply.status, 201, reply.text)
      return reply.body
    },
    async connector(body: object): Promise<Connector> {
      const reply = await operator<{ connector: Connector }>('POST /operator/connectors', body)
      assert.equal(reply.status, 201, reply.text)
      return reply.body.connector
    },
  }
}

export function poster({ call }: Pick<Service, 'call'>) {
  /** Posts as a provider that signs with our own header. */
  return (slug: string, secret: string, body: unknown, headers: Record<string, string> = {}) => {
    const raw = typeof body === 'string' ? body : JSON.stringify(body)
    return call(`POST /ingest/w/${slug}`, {
      raw,
      headers: { 'content-type': 'application/json', 'x-service-signature': hmac(secret, raw), ...headers },
    })
  }
}

/** Makes an agent with an interest in everything, or in the given events. */
export async function listener(
  { call }: Pick<Service, 'call'>,
  tenant: TestTenant,
  more: object = {},
): Promise<TestAgent & { poll(): Promise<Delivery[]> }> {
  const agent = await tenant.agent()
  const interest = { event_type: '*', priority: 0, enrichment_depth: 'none', ...more }
  assert.equal(
    (await call(`POST /v1/agents/${agent.id}/interests`, { token: agent.token, body: interest })).status,
    201,
  )
  return {
    ...agent,
    async poll() {
      const reply = await call<{ deliveries: Delivery[] }>('GET /v1/delivery/poll?limit=100', { token: agent.token })
      const delivery_ids = reply.body.deliveries.map(({ id }) => id)
      if (delivery_ids.length > 0) await call('POST /v1/delivery/ack', { token: agent.token, body: { delivery_ids } })
      return reply.body.deliveries
    },
  }
}
