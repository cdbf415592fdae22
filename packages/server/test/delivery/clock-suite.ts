// A service whose machine clock the suite sets, with a new agent for each test.
import { after, before, beforeEach } from 'node:test'
import type { Engine } from '../support/engines.ts'
import { startService, type Service, type TestAgent } from '../support/service.ts'
import { interest, poll, publish, type DeliveryBody } from '../events/tools.ts'

export interface ClockSuite {
  service: Service
  /** Interested in what `send` publishes. */
  agent: TestAgent
  /** Publishes an event, and returns its id. */
  send(): Promise<string>
  poll(query?: string): Promise<DeliveryBody[]>
}

export function clockSuite(engine: Engine, env: Record<string, string> = {}): ClockSuite {
  const suite = {
    async send() {
      const { service, agent } = suite
      return (await publish(service, agent.token, { type: agent.id })).body.event_id
    },
    poll: (query) => poll(suite.service, suite.agent.token, query),
  } as ClockSuite
  before(async () => {
    suite.service = await startService(engine, { VISIBILITY_TIMEOUT_S: '30', ...env })
  })
  after(() => suite.service.stop())
  beforeEach(async () => {
    suite.agent = await (await suite.service.tenant()).agent()
    await interest(suite.service, suite.agent, { event_type: suite.agent.id })
  })
  return suite
}
