// A claim and a publish at the same time: on SQLite they share a commit, on PostgreSQL they run concurrently.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { makeClaimTogether, type ClaimTogether } from '../../src/delivery/claim-together.ts'
import { makeHandover, type NewDelivery } from '../../src/delivery/handover.ts'
import { insertDeliveries, insertLeasedDeliveries } from '../../src/delivery/insert-deliveries.ts'
import { makePutBack } from '../../src/delivery/put-back.ts'
import { makeWakeups } from '../../src/delivery/wake.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/db.ts'
import { postgres, sqlite } from '../support/engines.ts'

const policy = { visibilityTimeoutMs: 30_000, maxAttempts: 5, pushRetryS: [1] }
const handover = makeHandover(() => policy)
let store: Store
let claimTogether: ClaimTogether

function onEngine(engine: typeof sqlite): void {
  let drop: () => Promise<void>
  before(async () => {
    const fresh = await engine.fresh()
    drop = fresh.drop
    store = (await openStore(readConfig(fresh.env), systemClock)).store
    claimTogether = makeClaimTogether(
      store,
      systemClock,
      handover,
      makePutBack(store, makeWakeups(store), makeLogger('silent')),
    )
  })
  after(async () => {
    await store.close()
    await drop()
  })
}

const delivery = (recipient_id: string, id: string): NewDelivery => ({
  tenant_id: 't',
  recipient_id,
  id,
  event_id: id,
  priority: 0,
  enrichment: 'none',
  matched: '[]',
  created_at: systemClock.now(),
  envelope: `{"id":"${id}"}`,
})

/** Stores deliveries as a publish does, from the handover to settling it. */
async function publish(deliveries: NewDelivery[], fails = false): Promise<string[]> {
  let pending: ReturnType<typeof handover.take> | undefined
  try {
    await store.tx(async (tx) => {
      pending = handover.take(deliveries, systemClock.now(), () => false)
      await insertDeliveries(tx, pending.ready)
      await insertLeasedDeliveries(tx, pending.leased)
      if (fails) throw new Error('no')
    })
    pending!.settle(true)
  } catch {
    pending!.settle(false)
  }
  return pending!.leased.map(({ id }) => id)
}

const claim = async (recipientId: string, limit: number): Promise<string[]> => {
  const mailbox = { tenantId: 't', recipientId }
  const { rows, until } = await claimTogether({ mailbox, limit, policy, isNoted: false })
  assert.ok(until > systemClock.now())
  const stored = await store.rows<{ id: string; due_at: number }>(
    'select id, due_at from deliveries where tenant_id = ? and recipient_id = ?',
    [mailbox.tenantId, mailbox.recipientId],
  )
  const ends = new Map(stored.map(({ id, due_at }) => [id, due_at]))
  // A receiver that is gone releases only leases whose ends are those that it was told.
  for (const { id, due_at } of rows) assert.equal(due_at, ends.get(id))
  return rows.map(({ id }) => id)
}

describe('one writer', () => {
  onEngine(sqlite)

  /** Publishes three deliveries during a claim that finds one, in mailboxes used by this round only. */
  async function together(round: number): Promise<{ claimed: string[]; handed: string[] }> {
    const [a, b] = [`a${round}`, `b${round}`]
    await publish([delivery(a, `${a}_1`)])
    const publishes = [delivery(a, `${a}_2`), delivery(a, `${a}_3`), delivery(b, `${b}_1`)]
    const [claimed, handed] = await Promise.all([claim(a, 2), publish(publishes)])
    return { claimed, handed }
  }

  test('[HND-8] a claim takes due deliveries and those published in the same commit, up to its limit', async () => {
    // On a busy machine a claim may take so long that no publish shares its commit.
    let round = 0
    let { claimed, handed } = await together(round)
    while (handed.length === 0 && round < 50) ({ claimed, handed } = await together(++round))
    const [a, b] = [`a${round}`, `b${round}`]
    assert.deepEqual([claimed, handed], [[`${a}_1`, `${a}_2`], [`${a}_2`]])
    assert.deepEqual(await claim(a, 10), [`${a}_3`])
    assert.deepEqual(await claim(b, 10), [`${b}_1`])
  })

  test('[HND-8] a claim that leaves deliveries behind is handed none, nor is one beside a failed publish', async () => {
    await publish([delivery('c', 'dlv_5'), delivery('c', 'dlv_6')])
    const [claimed, handed] = await Promise.all([claim('c', 1), publish([delivery('c', 'dlv_7')])])
    assert.deepEqual([claimed, handed], [['dlv_5'], []])
    const [rest] = await Promise.all([claim('c', 10), publish([delivery('c', 'dlv_8')], true)])
    assert.deepEqual(rest, ['dlv_6', 'dlv_7'])
    assert.deepEqual(await claim('c', 10), [], 'what failed is not there')
  })
})

describe('several writers', () => {
  onEngine(postgres)

  /** Publishes while a claim is under way. */
  async function meanwhile(claiming: Promise<string[]>, deliveries: NewDelivery[]): Promise<[string[], string[]]> {
    const pending = handover.take(deliveries, systemClock.now(), () => false)
    await store.tx(async (tx) => {
      await insertDeliveries(tx, pending.ready)
      if (pending.leased.length > 0) await insertLeasedDeliveries(tx, pending.leased)
    })
    pending.settle(true)
    return [await claiming, pending.leased.map(({ id }) => id)]
  }

  test('[HND-9] a claim takes due deliveries and those published while it is under way', async () => {
    await publish([delivery('a', 'dlv_1')])
    const published = ['dlv_2', 'dlv_3', 'dlv_4'].map((id) => delivery('a', id))
    const [claimed, handed] = await meanwhile(claim('a', 4), [...published, delivery('b', 'dlv_5')])
    assert.deepEqual(handed, ['dlv_2', 'dlv_3'], 'at most half of its limit')
    // Whether the claim saw the deliveries that were not handed to it depends on which of the two came first.
    const rest = await claim('a', 10)
    assert.deepEqual(rest, claimed.includes('dlv_4') ? [] : ['dlv_4'])
    assert.deepEqual([...claimed, ...rest].toSorted(), ['dlv_1', 'dlv_2', 'dlv_3', 'dlv_4'])
    assert.deepEqual(await claim('b', 10), ['dlv_5'])
  })

  test('[HND-9] a claim never gets more than its limit: the rest is left for the next claim', async () => {
    await publish([delivery('c', 'dlv_11'), delivery('c', 'dlv_12')])
    const [claimed, handed] = await meanwhile(claim('c', 2), [delivery('c', 'dlv_13')])
    assert.deepEqual([claimed.toSorted(), handed], [['dlv_11', 'dlv_12'], ['dlv_13']])
    assert.deepEqual(await claim('c', 2), ['dlv_13'])
  })
})
