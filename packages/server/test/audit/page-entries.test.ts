// A page of a long audit log, which is counted in steps.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageEntries, STEP } from '../../src/audit/page-entries.ts'
import type { AuditQuery } from '../../src/audit/sql.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite } from '../support/service.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  test('[CON-17] a long log is counted and read in steps: every page and total is exact', async () => {
    const { id: tenantId } = await service.tenant()
    const count = STEP * 2 + 700
    const columns = {
      tenant_id: 'text',
      at: 'bigint',
      id: 'text',
      actor: 'text',
      action: 'text',
      details: 'text',
    } as const
    // Several entries share a millisecond, and an action is rare.
    const all = Array.from({ length: count }, (_, i) => {
      const id = `aud_${String(i).padStart(26, '0')}`
      return [tenantId, Math.floor(i / 3), id, `actor${i % 2}`, i % 1_001 === 0 ? 'rare' : 'usual', '{}'] as const
    })
    for (let i = 0; i < count; i += 500)
      await service.store.tx((tx) => tx.insertMany({ into: 'audit_entries', columns }, all.slice(i, i + 500)))
    const newest = all.toReversed()
    for (const query of [
      {},
      { offset: STEP - 10, limit: 30 },
      { offset: count - 5, limit: 100 },
      { offset: count + 5 },
      { actor: 'actor1' },
      { action: 'rare', offset: 2 },
      { actor: 'actor0', action: 'rare' },
      { actor: 'actor0', action: 'rare', offset: 1, limit: 1 },
      { actor: 'actor0', action: 'none' },
      { actor: 'actor1', since: new Date(100).toISOString(), until: new Date(900).toISOString(), limit: 5 },
    ]) {
      const { actor, action, since, until, offset = 0, limit = 50 } = query as AuditQuery
      const matching = newest.filter(
        ([, at, , by, what]) =>
          (actor ?? by) === by &&
          (action ?? what) === what &&
          at >= (since ? Date.parse(since) : 0) &&
          at <= (until ? Date.parse(until) : Infinity),
      )
      let pauses = 0
      const { rows, total } = await pageEntries(service.store, tenantId, query, async () => void pauses++)
      assert.equal(total, matching.length, JSON.stringify(query))
      assert.deepEqual(
        rows.map(({ id }) => id),
        matching.slice(offset, offset + limit).map(([, , id]) => id),
      )
      if (actor === undefined && action === undefined) assert.equal(pauses, 2)
      if (action === 'none') assert.equal(pauses, 1)
    }
  })
})
