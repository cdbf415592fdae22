// Two real servers in DATABASE_URL: the work goes to the one that takes writes, and to the other when that changes. The
// second one is kept from writing by its own setting, as a standby is; that data is copied between them is PostgreSQL's
// affair and not looked at here.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import pg from 'pg'
import { systemClock } from '../../src/kernel/clock.ts'
import { StoreUnavailable, type Store } from '../../src/store/db.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { layWire, type Wire } from '../support/cut-wire.ts'
import { startPostgres, type PostgresServer } from '../support/postgres-server.ts'

const skip = process.env['TEST_POSTGRES_URL'] ? false : 'PostgreSQL is missing'
const servers: PostgresServer[] = []
before(async () => {
  if (skip) return
  servers.push(...(await Promise.all([startPostgres(), startPostgres()])))
  for (const [i, { url }] of servers.entries()) await admin(url, `create table here as select ${i} as server`)
})
after(() => Promise.all(servers.map((server) => server.stop())))
beforeEach(() => (skip ? undefined : promote(0)))

async function admin(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    for (const sql of ['set default_transaction_read_only = off', ...statements]) await client.query(sql)
  } finally {
    await client.end()
  }
}

/** Only this one takes writes from now on. */
async function promote(primary: number): Promise<void> {
  for (const [i, { url }] of servers.entries()) {
    await admin(
      url,
      `alter system set default_transaction_read_only = ${i === primary ? 'off' : 'on'}`,
      'select pg_reload_conf()',
    )
    // The server reads its configuration a moment later.
    for (const wanted = i === primary ? 'off' : 'on'; ; ) {
      const client = new pg.Client(url)
      await client.connect()
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

/** The server that a write goes to. */
async function writesTo(store: Store): Promise<number> {
  const rows = await store.tx((tx) => tx.rows<{ server: number }>('update here set server = server returning server'))
  return rows[0]!.server
}

/** What the store does once it has noticed; until then it says that it is away. */
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

test('[STO-9] the server that takes writes is found, wherever it stands', { skip }, async (t) => {
  const nobody = await layWire(portOf(0))
  await nobody.cut() // a port where nobody listens
  const store = open(nobody.port, portOf(1), portOf(0))
  t.after(() => store.close())
  assert.equal(await writesTo(store), 0)
  await store.ping()
  const found = await store.lookUp<{ server: number }>('select server from here')
  assert.equal(found?.server, 0)
})

test('[STO-9] after a demotion the other one is found, and no read goes to the old one', { skip }, async (t) => {
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

test('[STO-9] no server takes writes: the store is away and names them, until one does', { skip }, async (t) => {
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

test('[STO-10] a primary that vanishes without a word is given up before the time limit of a statement', {
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

test('[STO-10] nobody is cut off who waits for a server that is only slow', { skip }, async (t) => {
  const store = open(portOf(0), portOf(1))
  t.after(() => store.close())
  // Longer than the silence after which the servers are asked.
  const [row] = await store.tx((tx) => tx.rows<{ done: string }>("select 'yes' as done from pg_sleep(6)"))
  assert.equal(row!.done, 'yes')
})
