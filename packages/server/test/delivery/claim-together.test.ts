// A claim and a publish that share a commit. On SQLite: where there are several writers they do not.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { makeClaimTogether, type ClaimTogether } from '../../src/delivery/claim-together.ts'
import { makeHandover, type NewDelivery } from '../../src/delivery/handover.ts'
import { insertDeliveries, insertLeasedDeliveries } from '../../src/delivery/sql.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/db.ts'
import { sqlite } from '../support/engines.ts'

const policy = { visibilityTimeoutMs: 30_000, maxAttempts: 5, pushRetryS: [1] }
const handover = makeHandover(() => policy)
let store: Store
let drop: () => Promise<void>
let claimTogether: ClaimTogether

before(async () => {
  const fresh = await sqlite.fresh()
  drop = fresh.drop
  store = (await openStore(readConfig(fresh.env), systemClock)).store
  claimTogether = makeClaimTogether(store, systemClock, handover)
})
after(async () => {
  await store.close()
  await drop()
})

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

/** As a publish does it, up to its end. */
async function publish(deliveries: NewDelivery[], fails = false): Promise<string[]> {
  let handing: ReturnType<typeof handover.take> | undefined
  try {
    await store.tx(async (tx) => {
      handing = handover.take(deliveries, systemClock.now())
      insertDeliveries(tx, handing.ready)
      insertLeasedDeliveries(tx, handing.leased)
      if (fails) throw new Error('no')
    })
    handing!.settle(true)
  } catch {
    handing!.settle(false)
  }
  return handing!.leased.map(({ id }) => id)
}

const claim = async (recipientId: string, limit: number): Promise<string[]> => {
  const mailbox = { tenantId: 't', recipientId }
  const { rows, until } = await claimTogether({ mailbox, limit, policy, isNoted: false })
  assert.ok(until > systemClock.now())
  return rows.map(({ id }) => id)
}

test('[HND-8] a claim takes what is due, and what its commit publishes beside it, up to its limit', async () => {
  await publish([delivery('a', 'dlv_1')])
  const [claimed, handed] = await Promise.all([
    claim('a', 2),
    publish([delivery('a', 'dlv_2'), delivery('a', 'dlv_3'), delivery('b', 'dlv_4')]),
  ])
  assert.deepEqual([claimed, handed], [['dlv_1', 'dlv_2'], ['dlv_2']])
  assert.deepEqual(await claim('a', 10), ['dlv_3'])
  assert.deepEqual(await claim('b', 10), ['dlv_4'])
})

test('[HND-8] one that leaves something is handed nothing, nor is one whose neighbour fails', async () => {
  await publish([delivery('c', 'dlv_5'), delivery('c', 'dlv_6')])
  const [claimed, handed] = await Promise.all([claim('c', 1), publish([delivery('c', 'dlv_7')])])
  assert.deepEqual([claimed, handed], [['dlv_5'], []])
  const [rest] = await Promise.all([claim('c', 10), publish([delivery('c', 'dlv_8')], true)])
  assert.deepEqual(rest, ['dlv_6', 'dlv_7'])
  const [none, ready] = await Promise.all([claim('c', 10), publish([delivery('c', 'dlv_9')])])
  assert.deepEqual([none, ready], [[], []], 'what failed is not there, and who finds nothing is handed nothing')
  assert.deepEqual(await claim('c', 10), ['dlv_9'])
})
