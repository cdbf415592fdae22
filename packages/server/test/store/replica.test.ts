// Reads that may be a little stale. That a real standby is read is in alone/fail-over.test.ts.
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { StoreUnavailable, type Caller } from '../../src/store/db.ts'
import { openStore } from '../../src/store/open.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { followReplica, type RowsFor } from '../../src/store/replica.ts'
import { postgres, POSTGRES_URL } from '../support/engines.ts'
import { turnsUntil } from '../support/turns-until.ts'

const skip = POSTGRES_URL ? false : 'PostgreSQL is missing'
const loud = { tenantId: 'loud', id: 'a' }
const quiet = { tenantId: 'quiet', id: 'a' }

/** The mark of the database, which the replica below always shows. */
let written: string | null = null
const write = async (mark: string): Promise<void> => {
  written = mark
}

/** A server that notes on whose behalf it is asked. */
function server(name: string, asked: string[], rows: () => Promise<unknown[]> = async () => []): RowsFor {
  return (caller?: Caller) =>
    async <R>(sql: string) => {
      if (sql.includes('replica_mark')) return [{ mark: written, now: Date.now() }] as R[]
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

test('[SCL-7] the service reads the replica of its configuration', { skip }, async (t) => {
  const { env, drop } = await postgres.fresh()
  t.after(drop)
  const warned = Promise.withResolvers<string>()
  const config = readConfig({ ...env, DATABASE_READ_URL: 'postgres://nobody@127.0.0.1:1/none' })
  const { store } = await openStore(config, systemClock, { warn: warned.resolve })
  t.after(() => store.close())
  await store.readFor(quiet, { mayBeStale: true }).rows('select 1')
  assert.equal(await warned.promise, 'the replica is not read')
})

test('[SCL-7] only the lists of events and of the audit log, and usage, may be stale', async () => {
  const folder = new URL('../../src/operations/', import.meta.url)
  const named: string[] = []
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.ts')))
    for (const [, operation] of (await readFile(new URL(file, folder), 'utf8')).matchAll(
      /\bbrowse\(operations\.(\w+)/g,
    ))
      named.push(operation!)
  assert.deepEqual(named.sort(), ['getUsage', 'listAudit', 'listEvents'])
})

test('[SAFE-51] [SCL-7] a replica that is too busy for one tenant is read by the others', async () => {
  const asked: string[] = []
  let isBusy = false
  const replica = server('replica', asked, async () => {
    if (isBusy) throw new StoreUnavailable('all connections are in use', { trouble: 'busy' })
    return []
  })
  const rowsFor = followReplica(server('database', asked), write, replica)
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
    write,
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
    write,
    (caller) => (isGone ? gone : replica)(caller),
    (what) => void warned.push(what),
    () => now,
  )
  const read = async (): Promise<string | undefined> => {
    now += 500
    await rowsFor(quiet)('select 1')
    return asked.at(-1)
  }
  await turnsUntil(async () => (await read()) === 'replica for quiet')
  isGone = true
  for (let i = 0; i < 3; i++) assert.equal(await read(), 'database for quiet')
  isGone = false
  await turnsUntil(async () => (await read()) === 'replica for quiet')
  assert.deepEqual(warned, ['the replica is not read', 'the replica is read again'])
})

test('[SCL-7] a replica that shows marks of another history is not read, and nodes share the marks', async () => {
  const asked: string[] = []
  const warned: string[] = []
  let now = 0
  const clock = { now: 1_000_000 }
  const marks: string[] = []
  const database: RowsFor =
    () =>
    async <R>(sql: string) => {
      if (sql.includes('replica_mark')) return [{ mark: marks.at(-1) ?? null, now: clock.now }] as R[]
      asked.push('database')
      return []
    }
  // Another history: its mark is younger than any of the database, and it is not one of them.
  let shown = (): string | undefined => `${clock.now} elsewhere`
  const replica: RowsFor =
    () =>
    async <R>(sql: string) => {
      if (sql.includes('replica_mark')) return [{ mark: shown() ?? null, now: clock.now }] as R[]
      asked.push('replica')
      return []
    }
  const node = (): ReturnType<typeof followReplica> =>
    followReplica(
      database,
      async (mark) => void marks.push(mark),
      replica,
      (what) => void warned.push(what),
      () => now,
    )
  const nodes = [node(), node()]
  const readForSeconds = async (seconds: number): Promise<void> => {
    asked.length = 0
    for (let i = 0; i < seconds * 2; i++, now += 500, clock.now += 500)
      for (const rowsFor of nodes) {
        await rowsFor(quiet)('select 1')
        await new Promise(setImmediate) // a look ends in the background
      }
  }
  await readForSeconds(5)
  assert.deepEqual(new Set(asked), new Set(['database']))
  assert.deepEqual(warned, ['the replica is not read', 'the replica is not read'], 'each node says so once')
  assert.equal(marks.length, 10, 'one in half a second, whatever the number of nodes')
  shown = () => marks.at(-3) // it follows the database, a second behind
  await readForSeconds(5)
  assert.deepEqual(new Set(asked.slice(-10)), new Set(['replica']))
  shown = () => marks[0] // it has stopped
  await readForSeconds(5)
  assert.deepEqual(new Set(asked.slice(-10)), new Set(['database']))
})

test('[SCL-7] a mark of a time to come is replaced: the clock of the database was set back', async () => {
  const marks = ['2000000 elsewhere']
  const either: RowsFor =
    () =>
    async <R>() =>
      [{ mark: marks.at(-1), now: 1_000_000 }] as R[]
  await followReplica(either, async (mark) => void marks.push(mark), either)(quiet)('select 1')
  await new Promise(setImmediate) // a look ends in the background
  assert.deepEqual([marks.length, marks[1]?.split(' ')[0]], [2, '1000000'])
})

test('[SCL-7] that a replica lags is told when it has missed two looks, and that it has caught up once', async () => {
  const marks: string[] = []
  const told: string[] = []
  let now = 0
  let shown = (): string | undefined => marks[0]
  const showing = (mark: () => string | undefined): RowsFor => {
    return () =>
      async <R>() =>
        [{ mark: mark() ?? null, now: 1_000_000 + now }] as R[]
  }
  const rowsFor = followReplica(
    showing(() => marks.at(-1)),
    async (mark) => void marks.push(mark),
    showing(() => shown()),
    (what, error) => void told.push(`${now} ms: ${what}${error ? `: ${(error as Error).message}` : ''}`),
    () => now,
  )
  for (; now <= 8_000; now += 500) {
    if (now === 6_000) shown = () => marks.at(-1)
    await rowsFor(quiet)('select 1')
    await new Promise(setImmediate) // a look ends in the background
  }
  assert.deepEqual(told, [
    '3500 ms: the replica is not read: it does not show what was written two seconds ago',
    '6000 ms: the replica is read again',
  ])
})
