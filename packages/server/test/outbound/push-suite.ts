// A service that pushes to an endpoint of the test, for the push suites.
import { after, afterEach, before, beforeEach } from 'node:test'
import type { Engine } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { startService, type Service, type TestTenant } from '../support/service.ts'
import { outboundCalls, startReceiver, type Receiver } from './tools.ts'

export interface PushSuite {
  service: Service
  /** Tenant and receiver are new for each test. */
  tenant: TestTenant
  receiver: Receiver
  calls: ReturnType<typeof outboundCalls>
  /** Milliseconds by which the service's clock is set ahead; sleepers are not woken by it. */
  shift: number
}

export function pushSuite(engine: Engine): PushSuite {
  const suite = { shift: 0 } as PushSuite
  before(async () => {
    // Receivers check timestamps against their own clock, so this one starts at the real time.
    const clock = fakeClock(Date.now())
    const shifted = { ...clock, now: () => clock.now() + suite.shift }
    suite.service = await startService(engine, { PUSH_ALLOW_PRIVATE: 'on' }, shifted)
    suite.calls = outboundCalls(suite.service)
  })
  after(() => suite.service.stop())
  beforeEach(async () => {
    suite.tenant = await suite.service.tenant()
    suite.receiver = await startReceiver()
  })
  afterEach(async () => {
    // Deliveries that a test leaves waiting must not be pushed during the next one.
    await suite.receiver.stop()
    await suite.service.store.tx((tx) =>
      tx.run("update agents set delivery_mode = 'poll' where tenant_id = ?", [suite.tenant.id]),
    )
  })
  return suite
}
