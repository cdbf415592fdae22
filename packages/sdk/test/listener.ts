// An agent with a client, for tests of workers.
import { createClient, type Client } from '@sensorium/client'
import type { Service, TestAgent, TestTenant } from '../../server/test/support/service.ts'

export const listenerOf =
  (service: Service, tenant: TestTenant) =>
  async (type: string): Promise<{ agent: TestAgent; client: Client }> => {
    const agent = await tenant.agent()
    const client = createClient({ url: service.url, apiKey: agent.key, events: { source: '/worker' } })
    await client.interests.create(agent.id, { event_type: type })
    return { agent, client }
  }

/** Resolves when `count` calls were made. */
export function counter(count: number): { hit(): void; reached: Promise<void> } {
  const { promise: reached, resolve } = Promise.withResolvers<void>()
  let left = count
  return { hit: () => void (--left === 0 && resolve()), reached }
}
