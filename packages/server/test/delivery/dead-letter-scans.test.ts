// Searches of many dead letters: what they read in a turn of the event loop, what they keep, and how many run at once.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { DEAD_PAGE, findDeadLetters, type ScannedDeadLetter } from '../../src/delivery/find-dead-letters.ts'
import { nextTurn } from '../../src/kernel/step-turns.ts'
import type { Db, Value } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { serviceForSuite, type Reply, type TestAgent, type TestTenant } from '../support/service.ts'
import { turnsUntil } from '../support/turns-until.ts'
import { fillMailbox } from './fill-mailbox.ts'

const IS_PAGE = /\(d\.dead_lettered_at, d\.id\) < /
const ROWS = 2 * DEAD_PAGE + 10

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  let tenant: TestTenant
  let agent: TestAgent
  beforeEach(async () => {
    tenant = await service.tenant()
    agent = await tenant.agent()
  })

  /** Puts dead letters into the mailbox of the agent, the newest first. */
  async function bury(reasons: readonly string[]): Promise<void> {
    await service.store.tx(async (tx) => {
      await tx.insertMany(
        {
          into: 'events',
          columns: {
            tenant_id: 'text',
            id: 'text',
            type: 'text',
            source: 'text',
            sender_id: 'text',
            envelope: 'text',
            received_at: 'bigint',
          },
        },
        reasons.map((_, i): Value[] => [tenant.id, `e${i}`, 'dl', '/', agent.id, '{}', 1]),
      )
    })
    const dead = { state: 'dead_lettered', priority: 0, due_at: null, wake_at: null } as const
    await fillMailbox(
      service.store,
      { tenantId: tenant.id, recipientId: agent.id },
      reasons.map((dlq_reason, i) => ({ ...dead, id: `${agent.id}-${i}`, created_at: 1_000_000 - i, dlq_reason })),
    )
  }

  /** Calls `onPage` before each page of dead letters that is read, until the returned function is called. */
  function watchPages(onPage: (values: readonly Value[]) => void | Promise<void>): () => void {
    const { store } = service
    const { rows, readFor } = store
    const watched =
      (db: Pick<Db, 'rows'>): Db['rows'] =>
      async <R>(sql: string, values: readonly Value[] = []) => {
        if (IS_PAGE.test(sql)) await onPage(values)
        return db.rows<R>(sql, values)
      }
    store.rows = watched({ rows })
    store.readFor = (caller, options) => {
      const db = readFor(caller, options)
      return { ...db, rows: watched(db === store ? { rows } : db) }
    }
    return () => Object.assign(store, { rows, readFor })
  }

  const list = (query: string) => service.call(`GET /v1/delivery/dlq?${query}`, { token: agent.token })
  const summary = (token = agent.token) => service.call('GET /v1/delivery/dlq/summary', { token })
  const dryRun = () =>
    service.call('POST /v1/delivery/dlq/discard', {
      token: agent.token,
      body: { filter: { event_type: 'd*' }, limit: 10_000, dry_run: true },
    })

  test('[SAFE-66] [CON-10] of all searches together one page of dead letters is read in a turn', async () => {
    await bury(Array.from({ length: ROWS }, (_, i) => `reason ${i}`))
    let turn = 0
    let isOver = false
    const tick = (): void => {
      turn++
      if (!isOver) setImmediate(tick)
    }
    tick()
    const pages: { turn: number; size: Value }[] = []
    const unwatch = watchPages((values) => void pages.push({ turn, size: values.at(-1)! }))
    try {
      const replies = await Promise.all([
        list('event_type=dl&limit=2&offset=199'),
        list('reason=REASON'),
        list('event_type=other'),
        summary(),
        dryRun(),
        dryRun(),
      ])
      assert.deepEqual(
        replies.map(({ body }) => body.total ?? body.matched),
        [ROWS, ROWS, 0, ROWS, ROWS, ROWS],
      )
      assert.deepEqual(
        replies[0]!.body.dlq_items.map(({ id }: { id: string }) => id),
        [`${agent.id}-199`, `${agent.id}-200`],
      )
    } finally {
      isOver = true
      unwatch()
    }
    assert.equal(pages.length, 6 * 3)
    assert.ok(pages.every(({ size }) => size === DEAD_PAGE))
    assert.equal(new Set(pages.map((page) => page.turn)).size, pages.length)
  })

  test('[SAFE-66] reasons are read only if they are searched, and none is kept', async () => {
    await bury(Array.from({ length: 3 }, (_, i) => `${i} ${'😀'.repeat(900)}`))
    const read: string[] = []
    const db: Db = {
      ...service.store,
      async rows<R>(sql: string, values?: readonly Value[]) {
        const rows = await service.store.rows<R>(sql, values)
        read.push(...(rows as ScannedDeadLetter[]).map(({ dlq_reason }) => dlq_reason.slice(0, 1)))
        return rows
      },
    }
    const scope = { tenantId: tenant.id, recipientId: agent.id }
    const scan = { look: 100, pause: nextTurn }
    const byType = await findDeadLetters(db, scope, { event_type: 'dl' }, 100, scan)
    assert.deepEqual(read.splice(0), ['', '', ''])
    const byReason = await findDeadLetters(db, scope, { reason: '1 😀' }, 100, scan)
    assert.deepEqual(read, ['0', '1', '2'])
    assert.deepEqual(byType[1], { id: `${agent.id}-1`, event_id: 'e1', dead_lettered_at: 999_999, bytes: 2 })
    assert.deepEqual(byReason, [byType[1]])
  })

  test('[CON-13] [SAFE-66] long reasons that differ at their ends are counted apart, and shown whole', async () => {
    const long = (end: string): string => 'é'.repeat(900) + end
    await bury([long('a'), long('b'), long('b'), 'short', long('b'), 'short'])
    assert.deepEqual((await summary()).body.by_reason, [
      { reason: long('b'), count: 3 },
      { reason: 'short', count: 2 },
      { reason: long('a'), count: 1 },
    ])
  })

  test('[SAFE-66] a tenant has two summaries and bulk operations running, an agent eight more waiting', async () => {
    await bury(['x'])
    const other = await (await service.tenant()).agent()
    let goOn = (): void => {}
    const gate = new Promise<void>((resolve) => (goOn = resolve))
    let begun = 0
    const unwatch = watchPages(() => (begun++, gate))
    try {
      const refused: Reply[] = []
      const calls = Array.from({ length: 13 }, async (_, i) => {
        const reply = await (i % 2 === 0 ? summary() : dryRun())
        if (reply.status !== 200) refused.push(reply)
        return reply.status
      })
      await turnsUntil(() => begun === 2 && refused.length === 3)
      for (const reply of refused) assertError(reply, 'rate_limited', { limit: 8 })
      const neighbour = summary(other.token)
      await turnsUntil(() => begun === 3)
      goOn()
      assert.equal((await neighbour).status, 200)
      assert.equal((await Promise.all(calls)).filter((status) => status === 200).length, 10)
    } finally {
      goOn()
      unwatch()
    }
  })
})
