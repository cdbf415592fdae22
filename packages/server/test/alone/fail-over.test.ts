// Two real servers in DATABASE_URL: work goes to the one that takes writes, and to the other when that changes. In most
// tests a setting makes the second server read-only; at the end it is a standby that is promoted, and a replica that is
// read from.
import assert from 'node:assert/strict'
import { createServer, type AddressInfo } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import pg from 'pg'
import { systemClock } from '../../src/kernel/clock.ts'
import { StoreUnavailable, type Reads, type Store, type Value } from '../../src/store/db.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { followReplica, type RowsFor } from '../../src/store/replica.ts'
import { layWire, type Wire } from '../support/cut-wire.ts'
import { startPostgres, type PostgresServer } from '../support/postgres-server.ts'
import { turnsUntil } from '../support/turns-until.ts'

const skip = process.env['TEST_POSTGRES_URL'] ? false : 'PostgreSQL is missing'
const servers: PostgresServer[] = []
before(async () => {
  if (skip) return
  servers.push(...(await Promise.all([startPostgres(), startPostgres()])))
  for (const [i, { url }] of servers.entries()) await admin(url, `create table here as select ${i} as server`)
})
after(() => Promise.all(servers.map((server) => server.stop())))
beforeEach(() => (skip ? undefined : promote(0)))

/** Connects to a server that may stop at any moment. The client then emits an error, which throws if unhandled. */
async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client(url)
  client.on('error', () => {}) // the query under way rejects, and so does the next
  await client.connect()
  return client
}

async function admin(url: string, ...statements: string[]): Promise<void> {
  const client = await connect(url)
  try {
    for (const sql of ['set default_transaction_read_only = off', ...statements]) await client.query(sql)
  } finally {
    await client.end()
  }
}

async function ask(url: string, sql: string, values: unknown[] = []): Promise<unknown[]> {
  const client = await connect(url)
  try {
    return (await client.query(sql, values)).rows
  } finally {
    await client.end()
  }
}

/** Resolves when the standby has replayed everything that the primary has written so far. */
async function untilFollowed(primary: string, standby: string): Promise<void> {
  const [written] = (await ask(primary, 'select cast(pg_current_wal_lsn() as text) as place')) as { place: string }[]
  for (;;) {
    const [row] = (await ask(standby, 'select pg_last_wal_replay_lsn() >= cast($1 as pg_lsn) as done', [
      written!.place,
    ])) as { done: boolean }[]
    if (row!.done) return
  }
}

/** Makes this server the only one that takes writes. */
async function promote(primary: number): Promise<void> {
  for (const [i, { url }] of servers.entries()) {
    await admin(
      url,
      `alter system set default_transaction_read_only = ${i === primary ? 'off' : 'on'}`,
      'select pg_reload_conf()',
    )
    // The server reloads its configuration a moment later.
    for (const wanted = i === primary ? 'off' : 'on'; ; ) {
      const client = await connect(url)
      const { rows } = await client.query<{ now: string }>("select current_setting('transaction_read_only') as now")
      await client.end()
      if (rows[0]!.now === wanted) break
    }
  }
}

const portOf = (index: number): number => Number(new URL(servers[index]!.url).port)

function open(...ports: number[]): Store {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',')
  return openPostgres({
    url: `postgres://postgres@${hosts}/postgres?target_session_attrs=read-write`,
    clock: systemClock,
  })
}

/** Returns the server that a write goes to. */
async function writesTo(store: Store): Promise<number> {
  const rows = await store.tx((tx) => tx.rows<{ server: number }>('update here set server = server returning server'))
  return rows[0]!.server
}

/** Writes until the store has noticed the change; until then it is unavailable. */
async function onceItNoticed(store: Store): Promise<number> {
  for (;;) {
    try {
      return await writesTo(store)
    } catch (error) {
      assert.ok(error instanceof StoreUnavailable, String(error))
      await new Promise(setImmediate)
    }
  }
}

test('[STO-9] the server that takes writes is found, wherever it is in the list', { skip }, async (t) => {
  const nobody = await layWire(portOf(0))
  await nobody.cut() // a port where nothing listens
  const store = open(nobody.port, portOf(1), portOf(0))
  t.after(() => store.close())
  assert.equal(await writesTo(store), 0)
  await store.ping()
  const found = await store.lookUp<{ server: number }>('select server from here')
  assert.equal(found?.server, 0)
})

test('[STO-9] after a demotion the other server is found, and no read goes to the old one', { skip }, async (t) => {
  const store = open(portOf(0), portOf(1))
  t.after(() => store.close())
  assert.equal(await writesTo(store), 0)
  await promote(1)
  assert.equal(await onceItNoticed(store), 1)
  const reads = await Promise.all(
    Array.from({ length: 20 }, () => store.rows<{ server: number }>('select server from here')),
  )
  assert.deepEqual(new Set(reads.map(([row]) => row!.server)), new Set([1]))
  assert.equal((await store.lookUp<{ server: number }>('select server from here'))?.server, 1)
})

test('[STO-9] a ping that finds a demoted server is enough: the next read goes to the other one', {
  skip,
}, async (t) => {
  const store = open(portOf(0), portOf(1))
  t.after(() => store.close())
  assert.equal(await writesTo(store), 0)
  await promote(1)
  // The session that the ping asks hears of the change a moment later.
  while (
    await store.ping().then(
      () => true,
      () => false,
    )
  );
  assert.deepEqual(await store.rows('select server from here'), [{ server: 1 }])
})

test('[STO-9] when one address leads to another server, no look-up stays at the one that was demoted', {
  skip,
}, async (t) => {
  const wire = await layWire(portOf(0))
  t.after(() => wire.cut())
  const store = open(wire.port)
  t.after(() => store.close())
  const lookUp = async (): Promise<number> =>
    (await store.lookUp<{ server: number }>('select server from here'))!.server
  assert.deepEqual([await writesTo(store), await lookUp()], [0, 0])
  await promote(1)
  wire.lead(portOf(1)) // the connections that are open stay where they are
  assert.equal(await onceItNoticed(store), 1)
  assert.equal(await lookUp(), 1)
})

test('[STO-20] a single server that is read-only is not ready, and can be read', { skip }, async (t) => {
  const store = openPostgres({ url: servers[1]!.url, clock: systemClock })
  t.after(() => store.close())
  await assert.rejects(writesTo(store), StoreUnavailable)
  await assert.rejects(store.ping(), StoreUnavailable)
  assert.deepEqual(await store.rows('select server from here'), [{ server: 1 }])
  assert.deepEqual(await store.lookUp('select server from here'), { server: 1 })
})

test('[STO-9] while no server takes writes the store is unavailable and names the servers', { skip }, async (t) => {
  const store = open(portOf(1))
  t.after(() => store.close())
  await assert.rejects(writesTo(store), (error) => {
    assert.ok(error instanceof StoreUnavailable)
    assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${portOf(1)}: it takes no writes`))
    return true
  })
  await assert.rejects(store.ping(), StoreUnavailable)
  await promote(1)
  assert.equal(await onceItNoticed(store), 1)
})

test('[STO-9] a server that refuses for want of connections keeps the work: it may be the primary', {
  skip,
}, async (t) => {
  const told = Buffer.from('SFATAL\0C53300\0Msorry, too many clients already\0\0')
  const length = Buffer.alloc(4)
  length.writeInt32BE(told.length + 4)
  const full = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => void socket.end(Buffer.concat([Buffer.from('E'), length, told])))
  })
  await new Promise<void>((resolve) => full.listen(0, '127.0.0.1', resolve))
  t.after(() => full.close())
  const store = open((full.address() as AddressInfo).port, portOf(0))
  t.after(() => store.close())
  await assert.rejects(writesTo(store), (error) => {
    assert.ok(error instanceof StoreUnavailable)
    assert.match(error.message, /too many clients/)
    return true
  })
})

test('[STO-10] a primary that vanishes silently is given up before the timeout of a statement', {
  skip,
}, async (t) => {
  const wire: Wire = await layWire(portOf(0))
  t.after(() => wire.cut())
  const store = open(wire.port, portOf(1))
  t.after(() => store.close())
  assert.equal(await writesTo(store), 0)
  const begun = Promise.withResolvers<void>()
  const underWay = store.tx(async (tx) => {
    await tx.rows('select server from here')
    begun.resolve()
    await tx.rows('select pg_sleep(60)')
  })
  await begun.promise
  wire.vanish()
  await promote(1)
  await assert.rejects(underWay, (error) => {
    assert.ok(error instanceof StoreUnavailable)
    assert.doesNotMatch(error.message, /timeout/i, 'cut, rather than left to its time limit')
    return true
  })
  assert.equal(await onceItNoticed(store), 1)
})

test('[STO-10] a statement on a server that is only slow is not aborted', { skip }, async (t) => {
  const store = open(portOf(0), portOf(1))
  t.after(() => store.close())
  // Longer than the silence after which the servers are checked.
  const [row] = await store.tx((tx) => tx.rows<{ done: string }>("select 'yes' as done from pg_sleep(6)"))
  assert.equal(row!.done, 'yes')
})

test('[STO-9] [SCL-7] a promoted standby has everything that was confirmed, and work goes on there', {
  skip,
}, async (t) => {
  const primary = await startPostgres()
  const standby = await primary.standby()
  t.after(() => standby.stop())
  const ports = [primary, standby].map(({ url }) => Number(new URL(url).port))
  const store = open(...ports)
  t.after(() => store.close())
  await store.tx((tx) => tx.run('create table answered (id text primary key)'))
  for (let i = 0; i < 20; i++) await store.tx((tx) => tx.run('insert into answered (id) values (?)', [`before-${i}`]))
  await untilFollowed(primary.url, standby.url)
  await primary.stop()
  await assert.rejects(
    store.tx((tx) => tx.run("insert into answered (id) values ('nowhere')")),
    StoreUnavailable,
  )
  await ask(standby.url, 'select pg_promote()')
  for (;;) {
    const done = await store
      .tx((tx) => tx.run("insert into answered (id) values ('after')"))
      .catch((error) => {
        assert.ok(error instanceof StoreUnavailable, String(error))
      })
    if (done === 1) break
    await new Promise(setImmediate) // for a moment the store repeats its last error, without asking a server
  }
  assert.equal((await store.rows('select id from answered')).length, 21)
})

const quiet = { tenantId: 'quiet', id: 'a' }

test('[SCL-7] a replica is read while it lags at most two seconds, otherwise the primary', {
  skip,
}, async (t) => {
  const primary = await startPostgres()
  t.after(() => primary.stop())
  const standby = await primary.standby()
  await ask(primary.url, 'create table seen (id integer)')
  await ask(primary.url, 'create table settings (name text primary key, value text)')
  const asked: string[] = []
  const underWay = new Set<Promise<unknown>>()
  let now = 0
  const from =
    (name: string, url: string): RowsFor =>
    () =>
    async <R>(sql: string, values: readonly Value[] = []) => {
      if (sql.includes('seen')) asked.push(name)
      const answer = ask(url, sql.replace('?', '$1'), [...values])
      underWay.add(answer)
      return (await answer.finally(() => underWay.delete(answer))) as R[]
    }
  const rows = followReplica(
    from('database', primary.url),
    (mark) =>
      ask(
        primary.url,
        `insert into settings values ('replica_mark', $1) on conflict (name) do update set value = excluded.value`,
        [mark],
      ),
    from('replica', standby.url),
    () => {},
    () => now,
  )(quiet)
  const read = async (): Promise<[string, number]> => {
    const found = await rows('select id from seen')
    return [asked.at(-1)!, found.length]
  }
  await untilFollowed(primary.url, standby.url)
  const store = openPostgres({ url: primary.url, readUrl: standby.url, clock: systemClock })
  t.after(() => store.close())
  const isStandby = async (db: Reads): Promise<boolean> =>
    (await db.rows<{ it: boolean }>('select pg_is_in_recovery() as it'))[0]!.it
  // The database is read until the replica has shown that it is in step.
  await turnsUntil(() => isStandby(store.readFor(quiet, { mayBeStale: true })))
  assert.equal(await isStandby(store.readFor(quiet)), false)
  while ((await read())[0] !== 'replica') now += 500
  await ask(standby.url, 'select pg_wal_replay_pause()')
  const paused = now
  await ask(primary.url, 'insert into seen values (1)')
  assert.deepEqual(await read(), ['replica', 0], 'what it shows may be a little old')
  // The replica can no longer prove that it has what is committed.
  for (; now <= paused + 2_000; now += 500) await rows('select id from seen')
  now = paused + 2_600
  await rows('select id from seen')
  assert.deepEqual(await read(), ['database', 1])
  await ask(standby.url, 'select pg_wal_replay_resume()')
  await untilFollowed(primary.url, standby.url)
  now = paused + 4_000
  await read()
  await new Promise((resolve) => setImmediate(resolve))
  while ((await read())[0] !== 'replica') now += 500
  assert.deepEqual(await read(), ['replica', 1])
  await standby.stop()
  assert.deepEqual(await read(), ['database', 1], 'a replica that is gone is no outage')
  // The replica is checked while reads go on.
  while (underWay.size > 0) await Promise.allSettled(underWay)
})
