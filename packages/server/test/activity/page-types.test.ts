// The types of a tenant that has very many, which are added up in steps.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TypeRow } from '../../src/activity/event-types-sql.ts'
import { pageTypes, STEP } from '../../src/activity/page-types.ts'
import type { Db, Value } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite } from '../support/service.ts'

const INTO = {
  into: 'event_types',
  columns: { tenant_id: 'text', type: 'text', day: 'bigint', count: 'bigint', last_at: 'bigint' },
} as const
const SINCE = 3

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  test('[CON-16] [SAFE-72] many types are added up in steps: every page, count and total is exact', async () => {
    const { id: tenantId } = await service.tenant()
    // Many have a day or two, some many days; some only days that are too old. Several are equally late.
    const days = (i: number): number => (i % 100 === 0 ? 40 : (i % 2) + 1)
    const rows = Array.from({ length: STEP }, (_, i) =>
      Array.from({ length: days(i) }, (_, n): Value[] => {
        const day = (i % 5) + n
        return [tenantId, `${i % 3 === 0 ? '\u{1f600}' : '\uff5e'}.${i}`, day, i + n, day * 10 + (i % 4)]
      }),
    ).flat()
    await service.store.tx((tx) => tx.insertMany(INTO, rows))
    const byType = new Map<string, TypeRow>()
    for (const [, type, day, count, last_at] of rows as [string, string, number, number, number][]) {
      if (day < SINCE) continue
      const known = byType.get(type) ?? { type, count: 0, last_at: 0 }
      byType.set(type, { type, count: known.count + count, last_at: Math.max(known.last_at, last_at) })
    }
    const sorted = [...byType.values()].sort(
      (a, b) => b.last_at - a.last_at || Buffer.compare(Buffer.from(a.type), Buffer.from(b.type)),
    )
    const steps = Math.ceil(rows.length / STEP)
    assert.ok(steps > 1)
    let most = 0
    const db: Db = {
      ...service.store,
      async rows<R>(sql: string, values?: readonly Value[]) {
        const found = await service.store.rows<R>(sql, values)
        most = Math.max(most, found.length)
        return found
      },
    }
    for (const [offset, limit] of [
      [0, 50],
      [700, 100],
      [sorted.length - 5, 50],
      [sorted.length + 5, 50],
    ] as const) {
      let pauses = 0
      const page = await pageTypes(db, tenantId, SINCE, offset, limit, async () => void pauses++)
      assert.deepEqual(
        [page.rows.map((row) => ({ ...row })), page.total],
        [sorted.slice(offset, offset + limit), sorted.length],
      )
      assert.ok(service.store.isShared ? pauses === 0 : pauses >= steps - 1, `${pauses} pauses`)
    }
    assert.ok(most <= STEP)
  })
})
