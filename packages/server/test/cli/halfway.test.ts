// Commands that take several steps, and what happens between two of them.
import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { command } from '../support/process.ts'
import { startService, type Service, type TestTenant } from '../support/service.ts'
import { startGateway, type Passing } from './gateway.ts'
import { newHome } from './home.ts'

onBothEngines((engine) => {
  let service: Service
  let tenant: TestTenant
  const home = newHome()
  before(async () => {
    service = await startService(engine, {}, fakeClock(Date.now()))
    tenant = await service.tenant()
  })
  after(async () => {
    await service.stop()
    home.drop()
  })

  /** Runs commands with this key through a gateway. */
  async function through(t: TestContext, key: string, meddle: (passing: Passing) => Promise<Response | null>) {
    const gateway = await startGateway(service.url, meddle)
    t.after(() => gateway.close())
    const env: Record<string, string> = { ...home.env, SENSORIUM_KEY: key, SENSORIUM_URL: gateway.url }
    const run = (...args: string[]) => command(args, env)
    return { env, run }
  }

  test('[CLI-10] dlq replay puts back what had failed when it began, whatever fails again meanwhile', async (t) => {
    const agent = await tenant.agent()
    const { token } = agent
    const post = (path: string, body: unknown) => service.call(`POST ${path}`, { token, body })
    await post(`/v1/agents/${agent.id}/interests`, { event_type: '*', priority: 0, enrichment_depth: 'none' })
    let refused: string[] = []
    async function refuseAll(): Promise<void> {
      for (;;) {
        const { deliveries } = (await service.call('GET /v1/delivery/poll?limit=100', { token })).body
        if (deliveries.length === 0) return
        const ids: string[] = deliveries.map(({ id }: { id: string }) => id)
        refused.push(...ids)
        await post('/v1/delivery/nack', { delivery_ids: ids, dead_letter: true })
      }
    }
    const { run } = await through(t, agent.key, async ({ line, ask }) => {
      const answer = await ask()
      if (line !== 'POST /v1/delivery/dlq/replay') return answer
      await service.clock.advance(1_000)
      await refuseAll()
      return answer
    })
    for (let batch = 0; batch < 11; batch++) {
      const event = { specversion: '1.0', source: '/test', type: 'com.example.read' }
      const events = Array.from({ length: 100 }, (_, i) => ({ ...event, id: `failing-${batch}-${i}` }))
      const headers = { 'content-type': 'application/cloudevents-batch+json' }
      assert.equal((await service.call('POST /v1/events', { token, body: events, headers })).status, 200)
    }
    await refuseAll()
    for (const which of [['--all'], ['--until', '2099-01-01T00:00:00Z']]) {
      refused = []
      const { code, stdout } = await run('dlq', 'replay', ...which, '--json')
      assert.deepEqual([code, JSON.parse(stdout)], [0, { matched: 1_100, replayed: 1_100 }], which.join(' '))
      assert.deepEqual([refused.length, new Set(refused).size], [1_100, 1_100], 'each came back once')
    }
  })
})
