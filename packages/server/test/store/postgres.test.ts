// What only PostgreSQL has: writers that wait for each other, connections that break, NOTIFY between nodes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { systemClock } from '../../src/kernel/clock.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { isUniqueViolation } from '../../src/store/postgres-wire.ts'
import { StoreUnavailable, type Store, type Trouble } from '../../src/store/db.ts'
import { gatherStatistics } from '../../src/store/statistics.ts'
import { postgres, POSTGRES_URL } from '../support/engines.ts'
import { layWireTo } from '../support/cut-wire.ts'
import { emptyStore, makeStore, type OpenedStore } from '../support/store.ts'

const skip = POSTGRES_URL ? false : 'PostgreSQL is missing'
let opened: OpenedStore
let store: Store
before(async () => {
  if (skip) return
  opened = await emptyStore(postgres)
  store = opened.store
  // `ping` checks whether writes are accepted again, which needs a table.
  await makeStore(opened.env)
  await store.tx(async (tx) => {
    await tx.run('create table rows_ (id text primary key, n bigint not null)')
    await tx.run("insert into rows_ values ('a', 0), ('b', 0), ('c', 0)")
  })
})
after(() => opened?.drop())

test('[STO-2] two transactions in a deadlock both succeed: the one that was rolled back is retried', {
  skip,
}, async () => {
  const met = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
  const runs = [0, 0]
  const cross = (me: 0 | 1, first: string, second: string) =>
    store.tx(async (tx) => {
      runs[me]!++
      await tx.run('update rows_ set n = n + 1 where id = ?', [first])
      met[me].resolve()
      await met[me === 0 ? 1 : 0].promise // both hold their first row before either asks for its second
      await tx.run('update rows_ set n = n + 1 where id = ?', [second])
    })
  await Promise.all([cross(0, 'a', 'b'), cross(1, 'b', 'a')])
  // One of them ran twice; more often if its retry took the row before the other, which had waited for it, woke up.
  assert.ok(runs[0]! + runs[1]! >= 3)
  const rows = await store.rows<{ id: string; n: number }>("select id, n from rows_ where id in ('a', 'b') order by id")
  assert.deepEqual(rows, [
    { id: 'a', n: 2 },
    { id: 'b', n: 2 },
  ])
})

test('[HTTP-28] a connection that breaks in the middle of a transaction is an outage, and the next one works', {
  skip,
}, async () => {
  const cut = store.tx(async (tx) => {
    const [me] = await tx.rows<{ pid: number }>('select pg_backend_pid() as pid')
    await tx.run("update rows_ set n = 99 where id = 'c'")
    await store.rows('select pg_terminate_backend(?)', [me!.pid])
    await tx.run("update rows_ set n = 100 where id = 'c'")
  })
  await assert.rejects(cut, StoreUnavailable)
  assert.deepEqual(await store.rows("select n from rows_ where id = 'c'"), [{ n: 0 }])
  await store.ping()
})

test('[HTTP-28] a connection that breaks between two statements of a transaction affects no others', {
  skip,
}, async () => {
  const lost = Promise.withResolvers<void>()
  const watched = openPostgres({ url: opened.env['DATABASE_URL']!, clock: systemClock, warn: () => lost.resolve() })
  const cut = watched.tx(async (tx) => {
    const [me] = await tx.rows<{ pid: number }>('select pg_backend_pid() as pid')
    await store.rows('select pg_terminate_backend(?)', [me!.pid])
    await lost.promise
    await tx.run("update rows_ set n = 100 where id = 'c'")
  })
  await assert.rejects(cut, StoreUnavailable)
  await watched.ping()
  await watched.close()
})

test('[STO-2] a worker takes rows that no other worker holds', { skip }, async () => {
  const held = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const take = (tx: { rows: Store['rows'] }) =>
    tx.rows<{ id: string }>(`select id from rows_ order by id limit 1 ${store.dialect.skipLocked}`)
  const first = store.tx(async (tx) => {
    const taken = await take(tx)
    held.resolve()
    await release.promise
    return taken[0]!.id
  })
  await held.promise
  const second = await store.tx(async (tx) => (await take(tx))[0]!.id)
  release.resolve()
  assert.deepEqual([await first, second], ['a', 'b'])
})

test('[STO-3] the pool is bounded, and every caller that waits for a connection gets one', { skip }, async () => {
  const results = await Promise.all(
    Array.from({ length: 100 }, (_, i) =>
      store.tx(async (tx) => (await tx.rows<{ i: number }>('select ?::integer as i', [i]))[0]!.i),
    ),
  )
  assert.deepEqual(
    results,
    Array.from({ length: 100 }, (_, i) => i),
  )
  const { connections, idle, waiting } = store.stats()
  assert.ok(connections <= 10, `${connections} connections`)
  assert.deepEqual([idle, waiting], [connections, 0])
})

const inTrouble = (trouble: Trouble) => (error: unknown) => {
  assert.ok(error instanceof StoreUnavailable, String(error))
  assert.equal(error.trouble, trouble, error.message)
  return true
}

test('[HTTP-28] [STO-11] a statement that times out is no outage; a server that no longer takes writes is', {
  skip,
}, async () => {
  const tooLong = store.tx(async (tx) => {
    await tx.rows("select set_config('statement_timeout', '20', true)")
    await tx.rows('select pg_sleep(5)')
  })
  await assert.rejects(tooLong, inTrouble('busy'))
  const demoted = store.tx(async (tx) => {
    await tx.run('set transaction read only')
    await tx.run("update rows_ set n = 1 where id = 'c'")
  })
  await assert.rejects(demoted, inTrouble('away'))
  await store.ping()
})

test('[STO-11] a transaction that loses a race for a lock is retried, then the store is busy', { skip }, async () => {
  const held = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const holder = store.tx(async (tx) => {
    await tx.run("update rows_ set n = n where id = 'c'")
    held.resolve()
    await release.promise
  })
  await held.promise
  let tries = 0
  const loser = store.tx(async (tx) => {
    tries++
    await tx.rows("select set_config('lock_timeout', '5', true)")
    await tx.run("update rows_ set n = n where id = 'c'")
  })
  await assert.rejects(loser, inTrouble('busy'))
  release.resolve()
  await holder
  assert.equal(tries, 5)
})

test('[STO-11] a value that is taken on each of five tries is refused with the error of its statement', {
  skip,
}, async () => {
  let tries = 0
  const taken = store.tx(async (tx) => {
    tries++
    await tx.run("insert into rows_ values ('a', 0)")
  })
  await assert.rejects(taken, isUniqueViolation)
  assert.equal(tries, 5)
})

test('[STO-11] a caller that finds all connections in use is told that the store is busy', { skip }, async () => {
  const small = openPostgres({ url: opened.env['DATABASE_URL']!, clock: systemClock, poolSize: 1 })
  const held = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const holder = small.tx(async (tx) => {
    await tx.rows('select 1 as one')
    held.resolve()
    await release.promise
  })
  await held.promise
  await assert.rejects(small.rows('select 1 as one'), inTrouble('busy'))
  release.resolve()
  await holder
  await small.close()
})

test('[STO-11] a connection lost during the commit leaves its outcome unknown, one lost before does not', {
  skip,
}, async () => {
  await store.tx(async (tx) => {
    await tx.run('create table ends (n integer)')
    await tx.run(
      `create function end_me() returns trigger language plpgsql as 'begin perform pg_terminate_backend(pg_backend_pid()); return null; end'`,
    )
    await tx.run(
      'create constraint trigger ends_at_commit after insert on ends deferrable initially deferred for each row execute function end_me()',
    )
  })
  const atCommit = store.tx((tx) => tx.run('insert into ends values (1)'))
  await assert.rejects(atCommit, (error) => {
    inTrouble('unsure')(error)
    assert.match((error as StoreUnavailable).callerMessage, /may have been done or not.*Idempotency-Key/)
    return true
  })
  const before = store.tx(async (tx) => {
    await tx.run('insert into ends values (1)')
    await tx.run('set constraints all immediate')
  })
  await assert.rejects(before, inTrouble('away'))
  await store.ping()
})

test('[STO-2] a failed write that was not awaited fails its transaction, with its own error', {
  skip,
}, async () => {
  const failed = store.tx(async (tx) => {
    tx.runLater("insert into rows_ values ('a', 1)")
    await tx.run("update rows_ set n = 7 where id = 'c'")
  })
  await assert.rejects(failed, /duplicate key/)
  assert.notEqual((await store.lookUp<{ n: number }>("select n from rows_ where id = 'c'"))!.n, 7)
})

test('[STO-3] the planner knows a table that grew before the server analyses it by itself', { skip }, async () => {
  await store.tx((tx) => tx.run('create table grown (id text primary key)'))
  await store.tx((tx) => tx.run("insert into grown select 'g' || n from generate_series(1, 5000) as g(n)"))
  // The server counts written rows with a delay.
  await store.tx((tx) => tx.rows('select pg_stat_force_next_flush()'))
  while (!(await gatherStatistics(store)).includes('grown'));
  assert.equal(
    (await store.lookUp<{ n: number }>("select reltuples::bigint as n from pg_class where relname = 'grown'"))!.n,
    5000,
  )
})

test('[STO-3] a statement is planned once for a connection, whatever its values', { skip }, async () => {
  const sql = 'select n from rows_ where id = any(?::text[])'
  const plans = await store.tx(async (tx) => {
    for (let i = 0; i < 10; i++) await tx.rows(sql, [['a']])
    return tx.lookUp<{ custom: number; generic: number }>(
      `select custom_plans as custom, generic_plans as generic from pg_prepared_statements
        where statement = 'select n from rows_ where id = any($1::text[])'`,
    )
  })
  assert.deepEqual(plans, { custom: 0, generic: 10 })
})

test('[SCL-4] with Citus, PostgreSQL chooses how it plans: a shard is found by the values', { skip }, async (t) => {
  const withCitus = await emptyStore(postgres)
  t.after(() => withCitus.drop())
  await withCitus.store.tx((tx) =>
    tx.run(
      `insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
       select 4000000000, 'citus', extowner, extnamespace, false, '13' from pg_extension where extname = 'plpgsql'`,
    ),
  )
  const mode = await (await withCitus.another()).tx((tx) =>
    tx.lookUp("select current_setting('plan_cache_mode') as mode"),
  )
  assert.deepEqual(mode, { mode: 'auto' })
})

test('[HTTP-24] [HTTP-28] a server that hangs is an outage: calls to it time out', { skip }, async () => {
  const { wire, url } = await layWireTo(POSTGRES_URL!)
  const hanging = openPostgres({ url, clock: systemClock })
  await hanging.ping()
  await hanging.lookUp('select 1 as n')
  wire.freeze()
  await Promise.all([
    assert.rejects(hanging.ping(), StoreUnavailable),
    assert.rejects(hanging.lookUp('select 1 as n'), StoreUnavailable),
  ])
  await wire.cut()
  await hanging.close()
})

test('[SAFE-51] reads of one tenant take at most three of ten connections; others read and write meanwhile', {
  skip,
}, async () => {
  const [loud, quiet] = [
    { tenantId: 'loud', id: 'a' },
    { tenantId: 'quiet', id: 'a' },
  ]
  const held = Promise.withResolvers<void>()
  const letGo = Promise.withResolvers<void>()
  const holding = store.tx(async (tx) => {
    await tx.rows('select pg_advisory_xact_lock(51)')
    held.resolve()
    await letGo.promise
  })
  await held.promise
  const reads = Array.from({ length: 100 }, () =>
    store.readFor(loud).rows('select pg_advisory_xact_lock_shared(51) is null as it'),
  )
  // If the loud tenant had all connections, these would wait until the lock is released.
  assert.deepEqual(await store.readFor(quiet).rows('select 1 as one'), [{ one: 1 }])
  await store.tx((tx) => tx.rows('select 1'), { caller: loud })
  const [waiting] = await store
    .readFor(quiet)
    .rows<{ n: number }>(
      "select count(*) as n from pg_locks where locktype = 'advisory' and objid = 51 and not granted",
    )
  assert.ok(waiting!.n <= 3, `${waiting!.n} reads were at the database`)
  letGo.resolve()
  await holding
  assert.equal((await Promise.all(reads)).length, 100)
})

test('[STO-11] a connection whose plan is for columns of before a migration is replaced', { skip }, async () => {
  const sql = "select id from rows_ where id = 'a'"
  const looks = { query: () => store.rows(sql), 'look-up': () => store.lookUp(sql) }
  for (const look of Object.values(looks)) await look()
  await store.tx((tx) => tx.run('alter table rows_ alter column id type text collate "C"'))
  for (const [what, look] of Object.entries(looks)) {
    let failures = 0
    // At most once for each connection.
    for (let i = 0; i < 20; i++)
      await look().catch((error: unknown) => {
        assert.ok(error instanceof StoreUnavailable, String(error))
        failures++
      })
    assert.ok(failures > 0 && failures <= 10, `${failures} times, by ${what}`)
    await look()
  }
})
