// SQLite: transactions that arrive together share one commit, and nothing else.
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { databaseFile } from '../../src/store/data-directory.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { StoreUnavailable, type Db, type Store, type TxOptions } from '../../src/store/db.ts'
import { sqlite } from '../support/engines.ts'

let store: Store
let commits = 0
/** The clock that groups are measured by, in milliseconds. It stands still unless a transaction adds to it. */
let passed = 0
let file: string
let drop: () => Promise<void>
before(async () => {
  const fresh = await sqlite.fresh()
  drop = fresh.drop
  file = databaseFile(fresh.env['DATA_DIR']!)
  store = openSqlite(
    file,
    (kind) => void (kind === 'tx' && commits++),
    () => passed,
  )
  await store.tx((tx) => tx.run('create table t (n integer primary key)'))
})
after(async () => {
  await store.close()
  await drop()
})

const insert = (n: number) => store.tx((tx) => tx.run('insert into t values (?)', [n]))
const count = async () => (await store.rows<{ c: number }>('select count(*) as c from t'))[0]!.c

test('[STO-1] many transactions of one turn share a commit', async () => {
  commits = 0
  await Promise.all(Array.from({ length: 200 }, (_, n) => insert(n)))
  assert.equal(commits, 1)
  assert.equal(await count(), 200)
})

test('[STO-1] a lone transaction waits for nobody', async () => {
  commits = 0
  await insert(1000)
  assert.equal(commits, 1)
})

test('[STO-2] no transaction of a group resolves before the commit they share', async () => {
  const other = openSqlite(file)
  commits = 0
  const seen = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      await insert(2000 + i)
      return (await other.rows<{ c: number }>('select count(*) as c from t where n between 2000 and 2019'))[0]!.c
    }),
  )
  await other.close()
  assert.equal(commits, 1)
  assert.deepEqual(new Set(seen), new Set([20]))
})

test('[STO-1] a transaction from beforeNextGroup shares the commit of those requested before it', async () => {
  commits = 0
  let late: Promise<number> | undefined
  const early = insert(2900)
  store.beforeNextGroup(() => {
    late = insert(2901)
  })
  await early
  await late
  assert.equal(commits, 1)
  await new Promise<void>((resolve) => store.beforeNextGroup(resolve))
  assert.equal(commits, 1, 'nothing was asked for, and nothing committed')
})

test('[STO-1] a transaction from withNextGroup begins by itself where no other group comes', async () => {
  const join = (n: number) =>
    new Promise<number>((resolve, reject) => store.withNextGroup(() => void insert(n).then(resolve, reject)))
  commits = 0
  await join(2910)
  assert.equal(commits, 1, 'nobody else writes')
  const [joined] = await store.tx(async (tx) => {
    await tx.run('insert into t values (2911)')
    return [join(2912)]
  })
  await joined
  assert.equal(commits, 3, 'the group that was under way is the last one')
})

test('[STO-2] a failed transaction leaves the others of its group committed, before it and after it', async () => {
  commits = 0
  const results = await Promise.allSettled([
    insert(3000),
    insert(3000),
    insert(3001),
    store.tx(async () => Promise.reject(new Error('no'))),
    insert(3002),
  ])
  assert.equal(commits, 1)
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(
    (await store.rows<{ n: number }>('select n from t where n >= 3000 order by n')).map(({ n }) => n),
    [3000, 3001, 3002],
  )
})

test('[STO-2] a last write that fails fails the group: nothing is stored, and all are rejected', async () => {
  const failing = store.tx(async (tx) => tx.runLast('insert into t values (?)', [3000]))
  const results = await Promise.allSettled([insert(3100), failing, insert(3101)])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  )
  assert.deepEqual(await store.rows('select n from t where n >= 3100'), [])
})

test('[OPS-13] [STO-2] in a group that fails, the rollback effects of each transaction run once', async () => {
  await insert(3200)
  const undone: string[] = []
  const job = (name: string, work: (tx: Db) => unknown) =>
    store.tx(async (tx) => {
      tx.afterRollback(() => undone.push(name))
      await work(tx)
    })
  const results = await Promise.allSettled([
    job('refused', (tx) => tx.run('insert into t values (?)', [3200])),
    job('fine', (tx) => tx.run('insert into t values (?)', [3201])),
    job('last', (tx) => tx.runLast('insert into t values (?)', [3200])),
  ])
  assert.ok(results.every(({ status }) => status === 'rejected'))
  assert.deepEqual(undone.toSorted(), ['fine', 'last', 'refused'])
})

test('[STO-1] a flood is committed in bounded groups, so that the first are answered before the last', async () => {
  commits = 0
  await Promise.all(Array.from({ length: 1000 }, (_, n) => insert(10_000 + n)))
  assert.equal(commits, 4, 'of 256 each')
  assert.equal(store.stats().waiting, 0)
})

test('[STO-11] with 20,000 transactions waiting, the next is refused: the store is busy', async () => {
  const all = await Promise.allSettled(Array.from({ length: 20_001 }, () => store.tx(async () => {})))
  const refused = all.flatMap((one, i) => (one.status === 'rejected' ? [{ i, error: one.reason as unknown }] : []))
  assert.deepEqual(
    refused.map(({ i, error }) => [i, error instanceof StoreUnavailable && error.trouble]),
    [[20_000, 'busy']],
  )
})

test('[STO-1] slow transactions do not share one commit with all that wait: the first are answered first', async () => {
  commits = 0
  const answered: number[] = []
  const slow = (n: number) =>
    store.tx(async (tx) => {
      passed += 6
      await tx.run('insert into t values (?)', [n])
    })
  await Promise.all([20_000, 20_001, 20_002, 20_003, 20_004, 20_005].map((n) => slow(n).then(() => answered.push(n))))
  assert.equal(commits, 3)
  assert.deepEqual(answered, [20_000, 20_001, 20_002, 20_003, 20_004, 20_005])
})

test('[STO-1] a transaction that leaves much for the end of its group is the last of it', async () => {
  const leave = (n: number, bytes: number) =>
    store.tx(async (tx) => tx.runLast('insert into t select ? where ? is not null', [n, Buffer.alloc(bytes)]))
  commits = 0
  await Promise.all([30_000, 30_001, 30_002].map((n) => leave(n, 400_000)))
  assert.equal(commits, 3)
  commits = 0
  await Promise.all([30_003, 30_004, 30_005].map((n) => leave(n, 4_000)))
  assert.equal(commits, 1)
  assert.equal((await store.rows('select n from t where n between 30000 and 30005')).length, 6)
})

test('[HTTP-28] when the commit itself fails, the whole group is rejected and nothing is stored', async () => {
  const impatient = openSqlite(file)
  await impatient.tx((tx) => tx.rows('pragma busy_timeout = 20'))
  const blocker = new DatabaseSync(file)
  blocker.exec('begin immediate')
  const results = await Promise.allSettled(
    [1, 2, 3].map((n) => impatient.tx((tx) => tx.run('insert into t values (?)', [-n]))),
  )
  blocker.exec('rollback')
  blocker.close()
  assert.ok(results.every((result) => result.status === 'rejected' && result.reason instanceof StoreUnavailable))
  assert.equal((await store.rows('select n from t where n < 0')).length, 0)
  await impatient.tx((tx) => tx.run('insert into t values (-4)'))
  await impatient.close()
  assert.equal((await store.rows('select n from t where n < 0')).length, 1)
})

test('[STO-2] after a commit that failed, reads see what another process has written since', async () => {
  await store.tx(async (tx) => {
    await tx.run('create table parents (id integer primary key)')
    await tx.run('create table children (parent integer references parents deferrable initially deferred)')
  })
  await assert.rejects(
    store.tx((tx) => tx.run('insert into children values (1)')),
    /FOREIGN KEY/,
  )
  const other = openSqlite(file)
  await other.tx((tx) => tx.run('insert into parents values (2)'))
  await other.close()
  assert.deepEqual(await store.rows('select id from parents'), [{ id: 2 }])
})

test('[SAFE-52] when two tenants write, a group of one ends after 3 ms, and the other is next', async () => {
  const begun: string[] = []
  const ask = (tenantId: string, work: () => void = () => {}) =>
    store.tx(
      async (tx) => {
        begun.push(tenantId)
        await tx.rows('select 1')
        work()
      },
      { caller: { tenantId, id: 'a' } },
    )
  await ask('quiet')
  await ask('loud')
  begun.length = 0
  let neighbour: Promise<void> | undefined
  const loud = Array.from({ length: 8 }, () =>
    ask('loud', () => {
      if (!neighbour) setImmediate(() => (neighbour = ask('quiet')))
      // Longer than the limit of a group when tenants share the writer, shorter than the limit when they do not.
      passed += 3.5
    }),
  )
  await Promise.all(loud)
  await neighbour
  // Before it come the one that was under way and the one whose turn it was when the neighbour came.
  assert.ok(begun.indexOf('quiet') <= 2, `the neighbour was number ${begun.indexOf('quiet')}`)
})

test('[SAFE-52] of a group of two hundred transactions, at most 12 resolve in one turn', async () => {
  let turn = 0
  let isOver = false
  const count = (): void => {
    turn++
    if (!isOver) setImmediate(count)
  }
  count()
  const heard = new Map<number, number>()
  await Promise.all(
    Array.from({ length: 200 }, async (_, i) => {
      await insert(5_000 + i)
      heard.set(turn, (heard.get(turn) ?? 0) + 1)
    }),
  )
  isOver = true
  assert.ok(Math.max(...heard.values()) <= 12, `${Math.max(...heard.values())} heard in one turn`)
})

test('[SAFE-52] the next group does not wait until all of the group before it have resolved', async () => {
  let heard = 0
  let heardBefore: number | undefined
  let neighbour: Promise<void> | undefined
  const ask = (tenantId: string, work: () => void) =>
    store.tx(
      async (tx) => {
        await tx.rows('select 1')
        work()
      },
      { caller: { tenantId, id: 'a' } },
    )
  const loud = Array.from({ length: 200 }, async () => {
    await ask('loud', () => {})
    heard++
    neighbour ??= ask('quiet', () => (heardBefore = heard))
  })
  await Promise.all(loud)
  await neighbour
  assert.ok(heardBefore! < 200, `${heardBefore} had heard when it began`)
})

test('[SAFE-52] tenants that publish count as tenants that write', async () => {
  // A store that has not seen any tenant yet.
  const fresh = openSqlite(file, undefined, () => passed)
  const begun: string[] = []
  const ask = (name: string, options: TxOptions, work: () => void = () => {}) =>
    fresh.tx(async (tx) => {
      begun.push(name)
      await tx.rows('select 1')
      work()
    }, options)
  const ofOne = { caller: { tenantId: 'another', id: 'a' } }
  await ask('quiet', { tenantIds: ['publisher'] })
  await ask('loud', ofOne)
  begun.length = 0
  let neighbour: Promise<void> | undefined
  await Promise.all(
    Array.from({ length: 8 }, () =>
      ask('loud', ofOne, () => {
        if (!neighbour) setImmediate(() => (neighbour = ask('quiet', { tenantIds: ['publisher'] })))
        passed += 3.5
      }),
    ),
  )
  await neighbour
  await fresh.close()
  assert.ok(begun.indexOf('quiet') <= 2, `the neighbour was number ${begun.indexOf('quiet')}`)
})
