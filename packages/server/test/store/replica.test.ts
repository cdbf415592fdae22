// Reads that may be a little stale. That a real standby is read is in alone/fail-over.test.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../src/kernel/clock.ts'
import { StoreUnavailable, type Caller } from '../../src/store/db.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { followReplica, type RowsFor } from '../../src/store/replica.ts'
import { postgres, POSTGRES_URL } from '../support/engines.ts'

const skip = POSTGRES_URL ? false : 'PostgreSQL is missing'
const loud = { tenantId: 'loud', id: 'a' }
const quiet = { tenantId: 'quiet', id: 'a' }

/** A server that notes on whose behalf it is asked. Queries for the position in the log are answered as in step. */
function server(name: string, asked: string[], rows: () => Promise<unknown[]> = async () => []): RowsFor {
  return (caller?: Caller) =>
    async <R>(sql: string) => {
      if (sql.includes('wal')) return [{ place: '0/1', done: true }] as R[]
      asked.push(`${name} for ${caller?.tenantId}`)
      return (await rows()) as R[]
    }
}

test('[SAFE-51] with a replica that is gone, a tenant still reads on at most three of ten connections', {
  skip,
}, async (t) => {
  const { env, drop } = await postgres.fresh()
  t.after(drop)
  const readUrl = 'postgres://nobody@127.0.0.1:1/none'
  const store = openPostgres({ url: env['DATABASE_URL']!, readUrl, clock: systemClock })
  t.after(() => store.close())
  const held = Promise.withResolvers<void>()
  const letGo = Promise.withResolvers<void>()
  const holding = store.tx(async (tx) => {
    await tx.rows('select pg_advisory_xact_lock(52)')
    held.resolve()
    await letGo.promise
  })
  await held.promise
  const ofLoud = store.readFor(loud, { mayBeStale: true })
  const reads = Array.from({ length: 100 }, () => ofLoud.rows('select pg_advisory_xact_lock_shared(52) is null as it'))
  // If the loud tenant had all connections, these would wait until the lock is released.
  const ofQuiet = store.readFor(quiet, { mayBeStale: true })
  assert.deepEqual(await ofQuiet.rows('select 1 as one'), [{ one: 1 }])
  await store.tx((tx) => tx.rows('select 1'), { caller: quiet })
  letGo.resolve()
  await holding
  assert.equal((await Promise.all(reads)).length, 100)
})

test('[SAFE-51] [SCL-7] a replica that is too busy for one tenant is read by the others', async () => {
  const asked: string[] = []
  let isBusy = false
  const replica = server('replica', asked, async () => {
    if (isBusy) throw new StoreUnavailable('all connections are in use', { trouble: 'busy' })
    return []
  })
  const rowsFor = followReplica(server('database', asked), replica)
  while (!asked.at(-1)?.startsWith('replica')) await rowsFor(loud)('select 1')
  isBusy = true
  asked.length = 0
  await rowsFor(loud)('select 1')
  isBusy = false
  await rowsFor(quiet)('select 1')
  assert.deepEqual(asked, ['replica for loud', 'database for loud', 'replica for quiet'])
})

test('[SCL-7] no read waits for a replica that does not respond, neither at the start nor later', async () => {
  const asked: string[] = []
  let now = 0
  const never: RowsFor = () => () => new Promise(() => {})
  const rowsFor = followReplica(
    server('database', asked),
    never,
    () => {},
    () => now,
  )
  for (; now < 5_000; now += 250) {
    rowsFor(quiet)('select 1').catch(assert.fail)
    await new Promise(setImmediate)
  }
  assert.equal(asked.length, 20)
  assert.deepEqual(new Set(asked), new Set(['database for quiet']))
})

test('[SCL-7] after the replica failed, reads go to the database until it responds again', async () => {
  const asked: string[] = []
  const warned: string[] = []
  let now = 0
  let isGone = false
  const replica = server('replica', asked)
  const gone: RowsFor = () => async () => {
    throw new StoreUnavailable('it is gone')
  }
  const rowsFor = followReplica(
    server('database', asked),
    (caller) => (isGone ? gone : replica)(caller),
    (what) => void warned.push(what),
    () => now,
  )
  const read = async (): Promise<string | undefined> => {
    now += 500
    await rowsFor(quiet)('select 1')
    return asked.at(-1)
  }
  while ((await read()) !== 'replica for quiet');
  isGone = true
  for (let i = 0; i < 3; i++) assert.equal(await read(), 'database for quiet')
  isGone = false
  while ((await read()) !== 'replica for quiet');
  assert.deepEqual(warned, ['the replica is not read', 'the replica is read again'])
})
