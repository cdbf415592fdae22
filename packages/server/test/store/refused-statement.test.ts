// PostgreSQL refuses a statement in the middle of a transaction: its reason decides what becomes of the transaction.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { makeClaimTogether } from '../../src/delivery/claim-together.ts'
import { makeHandover } from '../../src/delivery/handover.ts'
import { insertDeliveries } from '../../src/delivery/insert-deliveries.ts'
import { makePutBack } from '../../src/delivery/put-back.ts'
import { makeWakeups } from '../../src/delivery/wake.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { StoreUnavailable, type Db, type Store, type Trouble } from '../../src/store/db.ts'
import { postgres, POSTGRES_URL } from '../support/engines.ts'
import { emptyStore, makeStore, type OpenedStore } from '../support/store.ts'

const skip = POSTGRES_URL ? false : 'PostgreSQL is missing'
let opened: OpenedStore
let store: Store

/** The server's reasons, and the trouble that each is for a caller. */
const TIMED_OUT = '57014'
const READ_ONLY = '25006'
const DISK_FULL = '53100'
const DEADLOCK = '40P01'
const TROUBLES: readonly (readonly [string, Trouble])[] = [
  [TIMED_OUT, 'busy'],
  [READ_ONLY, 'away'],
  [DISK_FULL, 'away'],
]

before(async () => {
  if (skip) return
  opened = await emptyStore(postgres)
  store = opened.store
  await makeStore(opened.env)
  await store.tx(async (tx) => {
    // Sequences are not rolled back, so they count what was refused.
    await tx.run('create sequence refusals')
    await tx.run('create table reasons (code text not null, times integer not null)')
    await tx.run(
      `create function refuse() returns trigger language plpgsql as $$
         declare reason reasons;
         begin
           select * into reason from reasons;
           if nextval('refusals') <= reason.times then
             raise exception 'refused' using errcode = reason.code;
           end if;
           return new;
         end $$`,
    )
    await tx.run('create table writes (id text primary key)')
    for (const [table, event] of [
      ['writes', 'insert'],
      ['deliveries', 'update'],
    ])
      await tx.run(`create trigger refuses before ${event} on ${table} for each row execute function refuse()`)
  })
})
after(() => opened?.drop())

/** Makes the server refuse the next writes. */
const refuseNext = (code: string, times: number): Promise<void> =>
  store.tx(async (tx) => {
    await tx.run('delete from reasons')
    await tx.run('insert into reasons values (?, ?)', [code, times])
    await tx.rows("select setval('refusals', 1, false)")
  })

/** How many writes were tried since `refuseNext`. */
const tried = async (): Promise<number> =>
  (await store.lookUp<{ n: number }>('select case when is_called then last_value else 0 end as n from refusals'))!.n

const written = async (): Promise<number> => (await store.lookUp<{ n: number }>('select count(*) as n from writes'))!.n

beforeEach(async () => {
  if (!skip) await store.tx((tx) => tx.run('delete from writes'))
})

const write = (tx: Db): Promise<number> => tx.run("insert into writes values ('a')")
const reads = (tx: Db): Promise<unknown> => tx.rows('select 1 as one')

/** What the work of a transaction may make of a statement that was refused. */
const WORKS: Readonly<Record<string, (tx: Db) => Promise<unknown>>> = {
  'waits for it': write,
  'waits for it only after the commit': async (tx) => void write(tx).catch(() => {}),
  'ignores it': (tx) => write(tx).catch(() => {}),
  'ignores it and goes on': async (tx) => {
    await write(tx).catch(() => {})
    await reads(tx)
  },
  'goes on beside it': async (tx) => {
    void write(tx).catch(() => {})
    await reads(tx)
  },
  'never waits for it': async (tx) => tx.runLater("insert into writes values ('a')"),
}

const inTrouble = (trouble: Trouble) => (error: unknown) => {
  assert.ok(error instanceof StoreUnavailable, String(error))
  assert.equal(error.trouble, trouble, error.message)
  return true
}

for (const [name, work] of Object.entries(WORKS)) {
  test(`[STO-19] the reason of a refused statement is that of its transaction, if the work ${name}`, {
    skip,
  }, async () => {
    for (const [code, trouble] of TROUBLES) {
      await refuseNext(code, 1)
      await assert.rejects(store.tx(work), inTrouble(trouble), code)
      assert.equal(await tried(), 1, 'it is not tried again')
    }
    await refuseNext(DEADLOCK, 1)
    await store.tx(work)
    assert.deepEqual([await tried(), await written()], [2, 1], 'what lost a race is tried again')
  })
}

test('[STO-19] a decision of the work stands, whatever became of the statements beside it', { skip }, async () => {
  await refuseNext(DEADLOCK, 1)
  const mine = new Error('mine')
  const failed = store.tx(async (tx) => {
    tx.runLater("insert into writes values ('a')")
    throw mine
  })
  await assert.rejects(failed, (error) => error === mine)
})

test('[STO-19] a write that cannot be sent undoes its transaction', { skip }, async () => {
  await refuseNext(DEADLOCK, 0)
  const failed = store.tx(async (tx) => {
    await write(tx)
    tx.insertLater({ into: 'writes', columns: { id: 'text' } }, [null as never])
  })
  await assert.rejects(failed, TypeError)
  assert.equal(await written(), 0)
})

/** Puts a delivery into each of three mailboxes, and claims them in one group. */
async function claimTogether(round: string): Promise<PromiseSettledResult<string[]>[]> {
  const policy = { visibilityTimeoutMs: 30_000, maxAttempts: 5, pushRetryS: [1] }
  const recipients = ['x', 'y', 'z'].map((name) => `${name}-${round}`)
  await store.tx((tx) =>
    insertDeliveries(
      tx,
      recipients.map((recipient_id) => ({
        tenant_id: 't',
        recipient_id,
        id: `dlv-${recipient_id}`,
        event_id: `dlv-${recipient_id}`,
        priority: 0,
        enrichment: 'none',
        matched: '[]',
        created_at: systemClock.now(),
        envelope: '{}',
      })),
    ),
  )
  const claim = makeClaimTogether(
    store,
    systemClock,
    makeHandover(() => policy),
    makePutBack(store, makeWakeups(store), makeLogger('silent')),
  )
  return Promise.allSettled(
    recipients.map(async (recipientId) => {
      const mailbox = { tenantId: 't', recipientId }
      return (await claim({ mailbox, limit: 10, policy, isNoted: true })).rows.map(({ id }) => id)
    }),
  )
}

test('[STO-19] claims that the server refuses fail as a group, and none of them waits for it again', {
  skip,
}, async () => {
  for (const [code, trouble] of TROUBLES) {
    await refuseNext(code, 100)
    const polls = await claimTogether(code)
    for (const poll of polls) {
      assert.equal(poll.status, 'rejected')
      inTrouble(trouble)(poll.reason)
    }
    assert.equal(await tried(), 1)
  }
})

test('[STO-19] claims that lost a race are tried again, as a group', { skip }, async () => {
  await refuseNext(DEADLOCK, 1)
  const polls = await claimTogether('race')
  assert.deepEqual(
    polls.map((poll) => poll.status === 'fulfilled' && poll.value),
    [['dlv-x-race'], ['dlv-y-race'], ['dlv-z-race']],
  )
  assert.equal(await tried(), 4)
})

test('[STO-12] [STO-19] claims do not make a store that refuses writes ready', { skip }, async () => {
  await refuseNext(DISK_FULL, 100)
  await store.tx((tx) =>
    tx.run('create trigger refuses before insert on settings for each row execute function refuse()'),
  )
  await assert.rejects(store.tx(write), inTrouble('away'))
  await claimTogether('full')
  await assert.rejects(store.ping(), inTrouble('away'))
  await refuseNext(DISK_FULL, 0)
  await store.ping()
})
