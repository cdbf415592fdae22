// A bulk operation on dead letters that takes several transactions and stops between two of them, or comes twice.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { StoreUnavailable } from '../../src/store/db.ts'
import { assertReplay } from '../operations/idempotency-tools.ts'
import { until } from '../outbound/tools.ts'
import { sleptOut } from '../support/asleep.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { serviceForSuite, type TestAgent } from '../support/service.ts'
import { turnsUntil } from '../support/turns-until.ts'
import { event, ids, interest, poll } from '../events/tools.ts'

const SETTLES = /^(delete from deliveries|update deliveries set state = 'ready')/

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  let agent: TestAgent
  beforeEach(async () => {
    agent = await (await service.tenant()).agent()
    await interest(service, agent, { event_type: '*' })
  })

  /** Polls all that is due, and makes dead letters of it. */
  async function buryAll(): Promise<void> {
    for (let due = await poll(service, agent.token); due.length > 0; due = await poll(service, agent.token))
      await service.call('POST /v1/delivery/nack', {
        token: agent.token,
        body: { delivery_ids: ids(due), reason: 'x', dead_letter: true },
      })
    await service.clock.advance(1_000)
  }

  /** Makes so many hundreds of dead letters; a step takes one hundred. */
  async function bury(hundreds: number): Promise<void> {
    for (let i = 0; i < hundreds; i++) {
      const { status } = await service.call('POST /v1/events', {
        token: agent.token,
        body: Array.from({ length: 100 }, () => event()),
        headers: { 'content-type': 'application/cloudevents-batch+json' },
      })
      assert.equal(status, 200)
      await buryAll()
    }
  }

  const all = () => service.call('GET /v1/delivery/dlq?limit=200', { token: agent.token })
  const total = async (): Promise<number> => (await all()).body.total
  const bulk = (what: 'replay' | 'discard', body: object, node = service) =>
    node.call(`POST /v1/delivery/dlq/${what}`, {
      token: agent.token,
      body,
      headers: { 'idempotency-key': `key of ${agent.id}` },
    })

  /** Calls `between` after the first transaction that settles dead letters, once. */
  function afterFirstStep(between: () => Promise<void>): void {
    const { store } = service
    const { tx } = store
    store.tx = async (work, options) => {
      let isStep = false
      const result = await tx(
        (db) => work({ ...db, run: (sql, values) => ((isStep ||= SETTLES.test(sql)), db.run(sql, values)) }),
        options,
      )
      if (!isStep) return result
      store.tx = tx
      await between()
      return result
    }
  }

  /** Loses the store after the first step, for the next transaction. */
  function failSecondStep(): void {
    const { store } = service
    const { tx } = store
    afterFirstStep(async () => {
      store.tx = async () => {
        store.tx = tx
        throw new StoreUnavailable('lost', {})
      }
    })
  }

  for (const by of ['filter', 'ids'] as const) {
    test(`[CON-11] [IDEM-7] [RACE-10] a call by ${by} that stopped halfway goes on with the same choice`, async () => {
      await bury(4)
      const chosen =
        by === 'filter'
          ? { filter: {}, limit: 200 }
          : { delivery_ids: (await all()).body.dlq_items.map(({ id }: { id: string }) => id) }
      failSecondStep()
      assertError(await bulk('discard', chosen), 'service_unavailable')
      assert.equal(await total(), 300)
      // What died since then was not chosen.
      await bury(1)
      const { body, headers } = await bulk('discard', chosen)
      assert.deepEqual(body, { matched: 200, discarded: 200 })
      assert.equal(headers.get('idempotent-replayed'), null)
      assert.equal(await total(), 300)
      const again = await bulk('discard', chosen)
      assert.deepEqual([again.body, again.headers.get('idempotent-replayed')], [body, 'true'])
      assert.equal(await total(), 300)
    })
  }

  test('[CON-11] [RACE-10] what a call replayed before it stopped is not replayed again when it dies again', async () => {
    await bury(2)
    const delivery_ids = (await all()).body.dlq_items.map(({ id }: { id: string }) => id)
    failSecondStep()
    assertError(await bulk('replay', { delivery_ids }), 'service_unavailable')
    await buryAll()
    assert.equal(await total(), 200)
    assert.deepEqual((await bulk('replay', { delivery_ids })).body, { matched: 200, replayed: 200 })
    assert.equal(await total(), 100)
  })

  // Two nodes need a store that they can share.
  if (engine.name !== 'postgres') return

  /** Makes the call on `other` after the first step here and what comes `meanwhile`: both have the same response. */
  async function sameOnAnother(other: typeof service, meanwhile = async (): Promise<void> => {}): Promise<void> {
    const chosen = { filter: {}, limit: 200 }
    const { clock } = service
    let second!: ReturnType<typeof bulk>
    afterFirstStep(async () => {
      const others = clock.sleepers()
      await meanwhile()
      let isOver = false
      second = bulk('discard', chosen, other).finally(() => (isOver = true))
      await turnsUntil(() => isOver || clock.sleepers() > others)
    })
    const first = await bulk('discard', chosen)
    assert.deepEqual(first.body, { matched: 200, discarded: 200 })
    await clock.advance(1_000)
    assertReplay(first, await second)
  }

  test('[CON-11] [NODE-2] [RACE-10] the same call on another node waits for the response to the first', async () => {
    const other = await service.another()
    try {
      await bury(4)
      await sameOnAnother(other)
      assert.equal(await total(), 200)
    } finally {
      await other.stop()
    }
  })

  const markedAt = async (): Promise<number> => {
    const rows = await service.store.rows<{ created_at: number }>(
      'select created_at from idempotency where idempotency_key = ?',
      [`key of ${agent.id}`],
    )
    return rows[0]!.created_at
  }

  test('[CON-11] [RACE-10] a call of more than half a minute is not taken for one of a lost node', async (t) => {
    const other = await service.another()
    try {
      await bury(2)
      t.mock.timers.enable({ apis: ['setInterval'] })
      const { clock } = service
      await sameOnAnother(other, async () => {
        for (let i = 0; i < 4; i++) {
          clock.moveNow(10_000)
          t.mock.timers.tick(10_000)
          await until(async () => (await markedAt()) === clock.now())
        }
      })
    } finally {
      await other.stop()
    }
  })

  test('[CON-11] [RACE-10] a call that stopped halfway no longer renews its mark: the next goes on at once', async (t) => {
    await bury(2)
    t.mock.timers.enable({ apis: ['setInterval'] })
    const chosen = { filter: {}, limit: 200 }
    failSecondStep()
    assertError(await bulk('discard', chosen), 'service_unavailable')
    t.mock.timers.tick(10_000)
    await service.clock.rest()
    const again = await sleptOut(service.clock, () => bulk('discard', chosen))
    assert.deepEqual(again.body, { matched: 200, discarded: 200 })
  })
})
