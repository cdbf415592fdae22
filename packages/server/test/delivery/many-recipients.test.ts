// The deliveries of one event with thousands of recipients.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { insertDeliveries, type NewDeliveryRow } from '../../src/delivery/insert-deliveries.ts'
import { nextTurn } from '../../src/kernel/step-turns.ts'
import type { Db, Insert, Value } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite } from '../support/service.ts'

const RECIPIENTS = 4_500

const rowsOf = (tenantId: string): NewDeliveryRow[] =>
  Array.from({ length: RECIPIENTS }, (_, i) => ({
    tenant_id: tenantId,
    recipient_id: `agt_${i}`,
    id: `dlv_${i}`,
    event_id: 'e',
    priority: 0,
    enrichment: 'none',
    matched: 'int_a',
    created_at: 1,
  }))

onBothEngines((engine) => {
  describe('many recipients', () => {
    const service = serviceForSuite(engine)

    async function stored(db: Db, tenantId: string): Promise<number> {
      const [row] = await db.rows<{ n: number }>('select count(*) as n from deliveries where tenant_id = ?', [tenantId])
      return row!.n
    }

    test('[LOAD-7] their deliveries are inserted 2,000 in a turn, and others see all of them or none', async () => {
      const { id: tenantId } = await service.tenant()
      const inserted: { rows: number; turn: number }[] = []
      const seen: Promise<number>[] = []
      let turn = 0
      let ticking = setImmediate(function next() {
        turn++
        // Once in the middle, a read and a transaction of somebody else.
        if (inserted.length === 1 && seen.length === 0)
          seen.push(
            stored(service.store, tenantId),
            service.store.tx((tx) => stored(tx, tenantId)),
          )
        ticking = setImmediate(next)
      })
      await service.store.tx(async (tx) => {
        const counting: Db = {
          ...tx,
          insertLater(insert: Insert, rows: readonly (readonly Value[])[]) {
            inserted.push({ rows: rows.length, turn })
            tx.insertLater(insert, rows)
          },
        }
        await insertDeliveries(counting, rowsOf(tenantId))
        assert.equal(await stored(tx, tenantId), RECIPIENTS)
      })
      clearImmediate(ticking)
      assert.deepEqual(
        inserted.map(({ rows }) => rows),
        [2_000, 2_000, 500],
      )
      assert.equal(new Set(inserted.map((one) => one.turn)).size, 3, 'each in a turn of its own')
      const [read, transaction] = await Promise.all(seen)
      if (engine.name === 'sqlite') assert.deepEqual([read, transaction], [0, RECIPIENTS], 'it waited for the writer')
      else for (const n of [read, transaction]) assert.ok(n === 0 || n === RECIPIENTS, String(n))
      assert.equal(await stored(service.store, tenantId), RECIPIENTS)
    })

    test('[LOAD-7] if one of them cannot be inserted, none is', async () => {
      const { id: tenantId } = await service.tenant()
      const rows = rowsOf(tenantId)
      rows[4_200] = { ...rows[4_200]!, id: 'dlv_0' }
      // Another transaction that shares the commit on SQLite is not undone with it.
      const both = await Promise.allSettled([
        service.store.tx((tx) => insertDeliveries(tx, rows)),
        nextTurn().then(() => service.store.tx((tx) => insertDeliveries(tx, [{ ...rows[0]!, id: 'dlv_other' }]))),
      ])
      assert.deepEqual(
        both.map(({ status }) => status),
        ['rejected', 'fulfilled'],
      )
      assert.equal(await stored(service.store, tenantId), 1)
    })
  })
})
