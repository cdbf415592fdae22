// A page of many dead letters, which are counted in steps.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { countDeadLetters, DEAD_STEP } from '../../src/delivery/count-dead-letters.ts'
import type { DeadLetterScope } from '../../src/delivery/find-dead-letters.ts'
import { listDeadLetters } from '../../src/delivery/list-dead-letters.ts'
import { queueHealth } from '../../src/delivery/queue-health.ts'
import { nextTurn } from '../../src/kernel/step-turns.ts'
import { databaseFile } from '../../src/store/data-directory.ts'
import type { Db, Value } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite } from '../support/service.ts'
import { fillMailbox } from './fill-mailbox.ts'

const ROWS = 2 * DEAD_STEP.alone + 700

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  let box: { tenantId: string; recipientId: string }
  /** The newest first. Several died in one millisecond. */
  const ids = Array.from({ length: ROWS }, (_, i) => `d${String(ROWS - i).padStart(5, '0')}`)
  before(async () => {
    const tenant = await service.tenant()
    box = { tenantId: tenant.id, recipientId: (await tenant.agent()).id }
    const text = { tenant_id: 'text', id: 'text', type: 'text', source: 'text', sender_id: 'text' } as const
    const columns = { ...text, envelope: 'text', received_at: 'bigint' } as const
    const events = ids.map((_, i): Value[] => [box.tenantId, `e${i}`, 'dl', '/', box.recipientId, '{}', 1])
    await service.store.tx((tx) => tx.insertMany({ into: 'events', columns }, events))
    const dead = { state: 'dead_lettered', priority: 0, due_at: null, wake_at: null } as const
    const rows = ids.map((id, i) => ({ ...dead, id, created_at: 1_000_000 - Math.floor(i / 3), dlq_reason: 'no' }))
    await fillMailbox(service.store, box, rows)
  })

  async function page(db: Db, scope: DeadLetterScope, offset: number, limit: number) {
    let pauses = 0
    const list = await listDeadLetters(db, scope, {}, offset, limit, async () => void pauses++)
    const { dlq_items: items, total } = JSON.parse((list as { text: string }).text)
    return { ids: items.map(({ id }: { id: string }) => id), total, pauses }
  }

  test('[SAFE-60] [DLQ-1] dead letters are counted in steps: every page and total is exact', async () => {
    const pauses = service.store.isShared ? 0 : 2
    for (const recipientId of [box.recipientId, null])
      for (const [offset, limit] of [
        [0, 50],
        [DEAD_STEP.alone - 10, 30],
        [ROWS - 5, 50],
        [ROWS + 5, 50],
      ] as const)
        assert.deepEqual(await page(service.store, { tenantId: box.tenantId, recipientId }, offset, limit), {
          ids: ids.slice(offset, offset + limit),
          total: ROWS,
          pauses,
        })
    let paused = 0
    const pause = async () => void paused++
    assert.equal(await countDeadLetters(service.store, box, pause), ROWS)
    assert.equal((await queueHealth(service.store, box, 5, null, pause)).dead_lettered, ROWS)
    assert.equal(paused, 2 * pauses)
  })

  test('[SAFE-60] [DLQ-1] a page shows no dead letter twice that a newer one has moved meanwhile', async () => {
    const oldest = ids.at(-1)!
    const die = (at: number) =>
      service.store.tx((tx) =>
        tx.run('update deliveries set dead_lettered_at = ? where tenant_id = ? and id = ?', [at, box.tenantId, oldest]),
      )
    const [before] = await service.store.rows<{ at: number }>(
      'select dead_lettered_at as at from deliveries where tenant_id = ? and id = ?',
      [box.tenantId, oldest],
    )
    let statements = 0
    const db: Db = {
      ...service.store,
      isShared: false,
      async rows<R>(sql: string, values?: readonly Value[]) {
        // The first step was counted and read.
        if (++statements === 3) await die(2_000_000)
        return service.store.rows<R>(sql, values)
      },
    }
    const offset = DEAD_STEP.alone - 5
    assert.deepEqual((await page(db, box, offset, 10)).ids, ids.slice(offset, offset + 10))
    await die(before!.at)
  })

  if (engine.name === 'sqlite')
    test('[SAFE-60] no event is looked up for a dead letter that is skipped', async () => {
      const own = new DatabaseSync(databaseFile(service.env['DATA_DIR']!))
      let lookedUp = 0
      own.function('looked_up', (value) => (lookedUp++, value))
      const db: Db = {
        ...service.store,
        async rows<R>(sql: string, values: readonly Value[] = []) {
          const counted = sql.replace('e.id = d.event_id', 'e.id = looked_up(d.event_id)')
          return own.prepare(counted).all(...(values as SQLInputValue[])) as R[]
        },
      }
      try {
        assert.deepEqual((await page(db, box, ROWS - 7, 2)).ids, ids.slice(ROWS - 7, ROWS - 5))
        assert.equal(lookedUp, 2)
      } finally {
        own.close()
      }
    })

  test('[SAFE-60] on a database server a page takes two statements', async () => {
    let statements = 0
    const rows: Db['rows'] = (...asked) => (statements++, service.store.rows(...asked))
    await listDeadLetters({ ...service.store, rows, isShared: true }, box, {}, 10, 50, nextTurn)
    assert.equal(statements, 2)
  })
})
