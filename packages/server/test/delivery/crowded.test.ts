// Mailboxes in which many deliveries are held before the first ready one.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import fc from 'fast-check'
import { claimRows, mayBeDue } from '../../src/delivery/claim-sql.ts'
import { makeCrowds } from '../../src/delivery/crowded.ts'
import type { Mailbox } from '../../src/delivery/sql.ts'
import { standingOf, type DeliveryState } from '../../src/delivery/standing.ts'
import type { Store, Value } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { turnsUntil } from '../support/turns-until.ts'
import { watched } from '../support/watched-store.ts'
import { eventIds, poll, publish } from '../events/tools.ts'
import { fillMailbox, type FilledRow } from './fill-mailbox.ts'
import { startService, type Service, type TestAgent, type TestTenant } from '../support/service.ts'

const SLICE = 4
/** The highest priority that the contract allows. */
const HIGHEST = Number.MAX_SAFE_INTEGER

type Row = Omit<FilledRow, 'id' | 'created_at'>

onBothEngines((engine) => {
  let service: Service
  let tenant: TestTenant
  let agent: TestAgent
  let box: Mailbox
  let now: number

  before(async () => {
    service = await startService(engine)
    tenant = await service.tenant()
  })
  beforeEach(async () => {
    agent = await tenant.agent()
    box = { tenantId: tenant.id, recipientId: agent.id }
    now = service.clock.now()
  })
  after(() => service.stop())

  const idOf = (i: number): string => `${box.recipientId}-${String(i).padStart(6, '0')}`

  const fill = (rows: readonly Row[]) =>
    fillMailbox(
      service.store,
      box,
      rows.map((row, i) => ({ ...row, id: idOf(i), created_at: now })),
    )

  const held = (until: number): Row => ({ state: 'leased', priority: 0, due_at: until, wake_at: null })
  const READY: Row = { state: 'ready', priority: 0, due_at: null, wake_at: null }

  /** Returns the ids of what is ready, in the order of delivery. */
  const readyOf = (rows: readonly Row[]): string[] =>
    rows
      .map((row, i) => ({ row, id: idOf(i) }))
      .filter(({ row }) => standingOf(row, now) === 'ready')
      .sort((a, b) => b.row.priority - a.row.priority || (a.id < b.id ? -1 : 1))
      .map(({ id }) => id)

  test('[DLV-3] [LOAD-8] a search in slices finds what a claim would take first, and claims from there', async () => {
    const rows = fc.array(
      fc.record({
        state: fc.constantFrom<DeliveryState>('ready', 'leased', 'leased', 'waiting', 'dead_lettered'),
        priority: fc.constantFrom(0, 0, 5, -3, HIGHEST),
        ahead: fc.constantFrom(-10, 10, 10, 10),
        isLast: fc.boolean(),
      }),
      { maxLength: 30 },
    )
    await fc.assert(
      fc.asyncProperty(rows, async (wanted) => {
        const made = wanted.map(({ state, priority, ahead, isLast }): Row => {
          const due_at = state === 'ready' || state === 'dead_lettered' ? null : now + ahead
          return { state, priority, due_at, wake_at: state === 'waiting' || isLast ? due_at : null }
        })
        await fill(made)
        const ready = readyOf(made)
        const stretch = await makeCrowds(service.store, service.clock, SLICE).firstReady(box, now)
        assert.equal(stretch?.first ?? null, ready[0] ?? null)
        if (!stretch) return
        const claimed = await service.store.tx((tx) => claimRows(tx, box, 100, now + 9, now, 5, stretch))
        const ids = claimed.map(({ id }) => id).sort()
        assert.ok(ids.length > 0)
        assert.deepEqual(ids, ready.slice(0, ids.length).sort())
      }),
      { numRuns: 60 },
    )
  })

  test('[LOAD-8] no step of a search reads more than a slice, and concurrent searches of a mailbox are one', async () => {
    await fill([...Array.from({ length: 5 * SLICE }, () => held(now + 60_000)), READY])
    const sizes: number[] = []
    const store: Store = {
      ...service.store,
      async lookUp<R>(sql: string, values?: readonly Value[]) {
        const row = await service.store.lookUp<R>(sql, values)
        const { n } = row as { n?: number }
        if (n !== undefined) sizes.push(n)
        return row
      },
    }
    const crowds = makeCrowds(store, service.clock, SLICE)
    const found = await Promise.all([crowds.firstReady(box, now), crowds.firstReady(box, now)])
    assert.deepEqual(found[0], { priority: 0, first: idOf(5 * SLICE), last: idOf(5 * SLICE) })
    assert.equal(found[1], found[0])
    assert.deepEqual(sizes, [SLICE, SLICE, SLICE, SLICE, SLICE, 1])
  })

  test('[LOAD-8] a mailbox is crowded by what is held before the ready ones, and not by a backlog', async () => {
    const { store, isBusy } = watched(service.store)
    const size = 200
    const crowds = makeCrowds(store, service.clock, size)
    async function isCrowded(rows: Row[]): Promise<boolean> {
      await fill(rows)
      crowds.looked(box, 1_000_000)
      await turnsUntil(() => !isBusy())
      return crowds.isCrowded(box)
    }
    const leased = Array.from({ length: size }, () => held(now + 60_000))
    const ready = Array.from({ length: size }, () => READY)
    assert.equal(await isCrowded([...ready, ...ready]), false, 'a backlog')
    assert.equal(await isCrowded([...leased, READY]), true)
    assert.equal(await isCrowded(leased), false, 'one slice')
    assert.equal(await isCrowded([...leased.slice(100), ...ready]), false, 'as many as a claim takes are in the slice')
    assert.equal(await isCrowded([...leased.slice(99), ...ready]), true)
  })

  test('[DLV-3] [DLV-14] [LOAD-8] what is ready behind 3,000 held deliveries is polled, and then nothing is', async () => {
    const polled = async () => eventIds(await poll(service, agent.token, 'limit=100'))
    await fill(Array.from({ length: 3_000 }, () => held(now + 3_600_000)))
    assert.deepEqual(await polled(), [])
    const body = { event_type: 'crowded', filter_expression: 'true', priority: 0, enrichment_depth: 'none' }
    await service.call(`POST /v1/agents/${agent.id}/interests`, { token: agent.token, body })
    for (const id of ['one', 'two', 'three']) await publish(service, agent.token, { id, type: 'crowded' })
    assert.deepEqual(await polled(), ['one', 'two', 'three'])
    assert.deepEqual(await polled(), [])
  })

  test('[PUSH-1] [LOAD-8] a scan of many mailboxes reads the first ten deliveries of each', async () => {
    const due = async (rows: Row[]): Promise<number> => {
      await fill(rows)
      const [row] = await service.store.rows<{ due: number | null }>(`select ${mayBeDue('?', '?')} as due`, [
        box.tenantId,
        box.recipientId,
        now,
        box.tenantId,
        box.recipientId,
      ])
      return row!.due ?? 0
    }
    const leased = Array.from({ length: 10 }, () => held(now + 60_000))
    assert.equal(await due([]), 0)
    assert.equal(await due(leased), 0)
    assert.equal(await due([...leased.slice(1), READY]), 1)
    assert.equal(await due([...leased, held(now + 60_000)]), 1)
  })
})
