// Helpers that the tests of events share.
import type { Reply, Service, TestAgent } from '../support/service.ts'

export interface DeliveryBody {
  id: string
  event_id: string
  payload: Record<string, unknown>
  attempt_count: number
  created_at: string
}

let n = 0

export const event = (fields: Record<string, unknown> = {}): Record<string, unknown> => ({
  specversion: '1.0',
  type: 'com.test.thing.happened',
  source: '/test',
  id: `event-${++n}`,
  ...fields,
})

export const publish = (
  service: Service,
  token: string,
  fields: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<Reply> => service.call('POST /v1/events', { token, body: event(fields), headers })

export const interest = (service: Service, agent: TestAgent, fields: Record<string, unknown> = {}): Promise<Reply> =>
  service.call(`POST /v1/agents/${agent.id}/interests`, {
    token: agent.token,
    body: { event_type: 'com.test.*', priority: 0, enrichment_depth: 'none', ...fields },
  })

export async function poll(service: Service, token: string, query = 'limit=100'): Promise<DeliveryBody[]> {
  const reply = await service.call<{ deliveries: DeliveryBody[]; count: number }>(`GET /v1/delivery/poll?${query}`, {
    token,
  })
  if (reply.status !== 200 || reply.body.count !== reply.body.deliveries.length)
    throw new Error(`poll answered ${reply.status} ${reply.text}`)
  return reply.body.deliveries
}

export async function ack(service: Service, token: string, delivery_ids: string[]): Promise<number> {
  const reply = await service.call<{ acknowledged: number }>('POST /v1/delivery/ack', { token, body: { delivery_ids } })
  if (reply.status !== 200) throw new Error(`ack answered ${reply.status} ${reply.text}`)
  return reply.body.acknowledged
}

export const ids = (deliveries: DeliveryBody[]): string[] => deliveries.map((delivery) => delivery.id)
export const eventIds = (deliveries: DeliveryBody[]): string[] => deliveries.map((delivery) => delivery.event_id)

/** The calls of mailbox tests, made as the current agent, which is interested in the event type that names it. */
export function mailboxCalls(now: () => { service: Service; agent: TestAgent }) {
  const call = (request: string, token = now().agent.token, body?: unknown) =>
    now().service.call(request, { token, ...(body === undefined ? {} : { body }) })
  return {
    async send(fields: Record<string, unknown> = {}): Promise<string> {
      const { service, agent } = now()
      return (await publish(service, agent.token, { type: `com.test.${agent.id}`, ...fields })).body.event_id
    },
    post: (path: string, body: unknown) => call(`POST /v1/delivery/${path}`, undefined, body),
    dead: async (token?: string) => (await call('GET /v1/delivery/dlq', token)).body,
    first: async (): Promise<DeliveryBody> => (await poll(now().service, now().agent.token, 'limit=1'))[0]!,
  }
}
