// Which agents are pushed to, as a node learns it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeKnownEndpoints } from '../../src/outbound/known-endpoints.ts'
import type { Store, Value } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite } from '../support/service.ts'
import { turnsUntil } from '../support/turns-until.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  test('[FAIR-1] [PUSH-1] agents that change many times are asked for with one query at a time', async () => {
    const asked: string[] = []
    let underWay = 0
    let most = 0
    const store: Store = {
      ...service.store,
      async rows<R>(sql: string, values?: readonly Value[]) {
        most = Math.max(most, ++underWay)
        asked.push(String(values?.[0]))
        const rows = await service.store.rows<R>(sql, values)
        // The query takes as long as it takes for a hundred more changes.
        if (asked.length === 1) for (let i = 0; i < 100; i++) announce(`agt_${i % 3}`)
        underWay--
        return rows
      },
    }
    let announce!: (agentId: string) => void
    makeKnownEndpoints({
      store,
      clock: service.clock,
      log: makeLogger('silent'),
      stopping: new AbortController().signal,
      wakeups: { watch: () => {} } as never,
      announcements: { listen: (_: string, heard: (id: string) => void) => void (announce = heard) } as never,
      markDue: () => {},
    })
    announce('agt_0')
    await turnsUntil(() => asked.length === 2 && underWay === 0)
    assert.equal(most, 1)
    for (const id of ['agt_0', 'agt_1', 'agt_2']) assert.ok(asked[1]!.includes(id), asked[1])
  })
})
