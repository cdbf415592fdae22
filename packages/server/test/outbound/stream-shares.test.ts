// How many streams a tenant may have open on a node.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeMetrics } from '../../src/http/metrics.ts'
import { Failure } from '../../src/kernel/failure.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { NO_SIBLINGS } from '../../src/kernel/shared-places.ts'
import { makeStreams } from '../../src/outbound/streams.ts'
import { makeParts } from '../../src/parts.ts'
import type { OpenedStream } from '../../src/streams/reader.ts'
import { onBothEngines } from '../support/engines.ts'
import { startService, type TestTenant } from '../support/service.ts'

onBothEngines((engine) => {
  test('[SSE-9] a tenant gets its share of the streams of a node and no more; others have theirs', async (t) => {
    const service = await startService(engine)
    t.after(() => service.stop())
    const { config, store, secrets, clock } = service
    const log = makeLogger('silent')
    const parts = makeParts({ config, store, secrets, clock, log, metrics: makeMetrics() })
    const streams = makeStreams({ ...parts, store, clock, log, siblings: NO_SIBLINGS }, { ofNode: 5, ofTenant: 2 })
    t.after(() => streams.close())

    async function open(tenant: TestTenant): Promise<OpenedStream> {
      const agent = await tenant.agent()
      const place = await streams.admit({ tenantId: tenant.id, recipientId: agent.id }, 1)
      return place.open({ write: () => true, end() {}, destroy() {} }, agent.token)
    }
    const isRefused = (status: number) => (error: unknown) => error instanceof Failure && error.status === status

    const [one, other, third] = [await service.tenant(), await service.tenant(), await service.tenant()]
    const first = await open(one)
    await open(one)
    await assert.rejects(open(one), isRefused(429))
    await open(other)
    await open(other)
    await open(third)
    await assert.rejects(open(one), isRefused(429))
    await assert.rejects(open(third), isRefused(503))
    first.gone()
    await open(one)
    assert.equal(streams.count(), 5)
  })
})
