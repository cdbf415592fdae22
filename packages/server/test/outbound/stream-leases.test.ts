// A stream looks how its leases stand, and claims meanwhile.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeMetrics } from '../../src/http/metrics.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeParts } from '../../src/parts.ts'
import type { Store, Value } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { startService } from '../support/service.ts'
import { outboundCalls, until } from './tools.ts'

onBothEngines((engine) => {
  test('[RACE-3] a stream forgets nothing that it claims while it looks how its leases stand', async (t) => {
    const service = await startService(engine)
    t.after(() => service.stop())
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const calls = outboundCalls(service)
    await calls.interest(agent)
    const { config, store, secrets, clock } = service
    const [asked, shown] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const slow: Store = {
      ...store,
      async rows<R>(sql: string, values?: readonly Value[]) {
        const rows = await store.rows<R>(sql, values)
        if (!sql.startsWith('select id, leases, due_at')) return rows
        asked.resolve()
        await shown.promise
        return rows
      },
    }
    const parts = makeParts({
      config,
      store: slow,
      secrets,
      clock,
      log: makeLogger('silent'),
      metrics: makeMetrics(),
    })
    const written: string[] = []
    const sink = { write: (text: string) => written.push(text) > 0, end: () => {}, destroy: () => {} }
    await calls.publish(agent)
    const stream = parts.streams.open({ tenantId: tenant.id, recipientId: agent.id }, agent.token, 2, sink)
    await until(async () => written.length === 1)
    parts.wakeups.extended(agent.id)
    await asked.promise
    await calls.publish(agent)
    stream.drained()
    await until(async () => written.length === 2)
    await calls.publish(agent)
    shown.resolve()
    await new Promise(setImmediate)
    await parts.streams.close()
    const rows = await calls.rows(agent)
    assert.deepEqual(
      rows.map(({ state, attempts }) => [state, attempts]),
      [
        ['ready', 1],
        ['ready', 1],
        ['ready', 0],
      ],
      'both leases go back, and a third delivery was never taken',
    )
  })
})
