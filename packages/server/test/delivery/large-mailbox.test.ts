// A mailbox with a large backlog is never read whole in one turn of the event loop.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { nextTurn } from '../../src/kernel/step-turns.ts'
import { OPEN_PAGE, openPages } from '../../src/delivery/open-deliveries.ts'
import { queueHealth } from '../../src/delivery/queue-health.ts'
import { claimRows, isSomethingDue, readNextDue } from '../../src/delivery/claim-sql.ts'
import type { Mailbox } from '../../src/delivery/sql.ts'
import { databaseFile } from '../../src/store/data-directory.ts'
import type { Db, Value } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite } from '../support/service.ts'
import { fillMailbox } from './fill-mailbox.ts'

/** Three pages and a bit, of three priorities: one page ends within a priority, one where a priority ends. */
const ROWS = 3 * OPEN_PAGE + 10
const priorityOf = (i: number): number => (i < 500 ? 9 : i < 2 * OPEN_PAGE ? 5 : 0)
const NOW = 1_000_000
const STATES = [
  { state: 'ready', due_at: null },
  { state: 'leased', due_at: NOW + 500 },
  { state: 'waiting', due_at: NOW + 700 },
] as const

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  let box: Mailbox
  before(async () => {
    const tenant = await service.tenant()
    box = { tenantId: tenant.id, recipientId: (await tenant.agent()).id }
  })

  /** Fills the mailbox anew. The ids rise, but not in the order in which the rows are written. */
  const fill = (stateOf: (i: number) => (typeof STATES)[number]) =>
    fillMailbox(
      service.store,
      box,
      Array.from({ length: ROWS }, (_, i) => {
        const { state, due_at } = stateOf(i)
        const id = `d${String((i * 11) % ROWS).padStart(5, '0')}`
        return {
          id,
          state,
          priority: priorityOf(i),
          due_at,
          wake_at: state === 'waiting' ? due_at : null,
          created_at: i,
        }
      }),
    )

  const setPaused = (paused: number) =>
    service.store.tx((tx) =>
      tx.run('update agents set paused = ? where tenant_id = ? and id = ?', [paused, box.tenantId, box.recipientId]),
    )

  test('[REC-8] [SAFE-60] a long queue is counted a page at a time, each delivery once and in the order of delivery', async () => {
    await fill((i) => STATES[i % 3]!)
    const sizes: number[] = []
    const db: Db = {
      ...service.store,
      async rows<R>(sql: string, values?: readonly Value[]) {
        const rows = await service.store.rows<R>(sql, values)
        sizes.push(rows.length)
        return rows
      },
    }
    let pauses = 0
    const health = await queueHealth(db, box, NOW, null, async () => void pauses++)
    assert.deepEqual(
      [health.pending, health.leased, health.dead_lettered],
      [ROWS - Math.floor((ROWS + 1) / 3), Math.floor((ROWS + 1) / 3), 0],
    )
    assert.equal(health.oldest_pending_at, new Date(0).toISOString())
    assert.equal(pauses, 3)
    assert.equal(Math.max(...sizes), OPEN_PAGE)

    const seen: string[] = []
    for await (const page of openPages(service.store, box, nextTurn))
      for (const { priority, id } of page) seen.push(`${9 - priority} ${id}`)
    assert.equal(new Set(seen).size, ROWS)
    assert.deepEqual(seen, seen.toSorted())
  })

  test('[CON-15] [DLV-7] nothing becomes due for a paused agent; for others the first lease or wait that ends', async () => {
    await fill((i) => STATES[1 + (i % 2)]!)
    assert.equal(await readNextDue(service.store, box, NOW), NOW + 500)
    assert.equal(await readNextDue(service.store, box, NOW + 500), NOW + 700)
    assert.equal(await readNextDue(service.store, box, NOW + 700), null)
    await setPaused(1)
    assert.equal(await readNextDue(service.store, box, NOW), null)
    await setPaused(0)
  })

  if (engine.name === 'sqlite')
    test('[CON-15] [SAFE-60] a look and a claim read no delivery of a paused agent, and a wait reads a page', async () => {
      await fill(() => STATES[0])
      const own = new DatabaseSync(databaseFile(service.env['DATA_DIR']!))
      let read = 0
      own.function('seen', (value) => (read++, value))
      /** Counts the deliveries that a statement reads: each is asked for its tenant. */
      async function readsOf(run: (db: Db) => Promise<unknown>): Promise<number> {
        read = 0
        const execute = (sql: string, values: readonly Value[] = []): unknown[] =>
          own
            .prepare(sql.replace(/(from deliveries [\w ]*where) tenant_id/, '$1 seen(tenant_id)'))
            .all(...(values as SQLInputValue[]))
        own.exec('begin')
        await run({
          ...service.store,
          rows: async <R>(sql: string, values?: readonly Value[]) => execute(sql, values) as R[],
          lookUp: async <R>(sql: string, values?: readonly Value[]) => execute(sql, values)[0] as R | undefined,
        })
        own.exec('rollback')
        return read
      }
      const looks = [
        (db: Db) => isSomethingDue(db, box, NOW),
        (db: Db) => claimRows(db, box, 10, NOW, NOW, 5),
        (db: Db) => readNextDue(db, box, NOW),
      ]
      try {
        assert.deepEqual(
          [await readsOf(looks[0]!), await readsOf(looks[1]!), await readsOf(looks[2]!)],
          [1, 10, OPEN_PAGE],
        )
        await setPaused(1)
        assert.deepEqual([await readsOf(looks[0]!), await readsOf(looks[1]!), await readsOf(looks[2]!)], [0, 0, 0])
      } finally {
        own.close()
        await setPaused(0)
      }
    })
})
