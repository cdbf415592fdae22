// What a store must do, whatever its engine. A new driver begins here: it is a `Store` once it passes these tests.
// The other files in this folder test in more depth what one engine might get wrong.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { StoreUnavailable, type Db, type Insert } from '../../src/store/db.ts'
import { migrate, schemaStanding } from '../../src/store/migrate.ts'
import { onBothEngines } from '../support/engines.ts'
import { emptyStore, type OpenedStore } from '../support/store.ts'

const ITEMS: Insert = {
  into: 'items',
  columns: { tenant_id: 'text', id: 'text', n: 'bigint' },
  conflict: 'on conflict (tenant_id, id) do nothing',
  returning: 'tenant_id, id',
}

onBothEngines((engine) => {
  let opened: OpenedStore
  before(async () => {
    opened = await emptyStore(engine)
    await opened.store.tx(async (tx) => {
      await tx.run(
        'create table items (tenant_id text not null, id text not null, n bigint, primary key (tenant_id, id))',
      )
      await tx.run('create table moved (tenant_id text not null, id text not null, n bigint)')
    })
  })
  after(() => opened.drop())
  beforeEach(() => opened.store.tx((tx) => tx.run('delete from items')))

  const put = (tx: Db, ...ids: string[]) =>
    tx.insertMany(
      ITEMS,
      ids.map((id, n) => ['t', id, n]),
    )
  const ids = async (db: Db) => (await db.rows<{ id: string }>('select id from items order by id')).map(({ id }) => id)

  test('[STO-7] a store states its capabilities: whether nodes share it, and how many writers are worthwhile', () => {
    const { store } = opened
    assert.equal(typeof store.isShared, 'boolean')
    assert.ok(Number.isInteger(store.writers) && store.writers >= 1)
    assert.ok(store.writers > 1 || !store.isShared, 'what nodes share has more than one writer')
    assert.ok(store.name.length > 0)
  })

  test('[STO-7] a transaction has the capabilities of its store', async () => {
    const { store } = opened
    await store.tx(async (tx) => {
      assert.deepEqual([tx.isShared, tx.writers, tx.dialect], [store.isShared, store.writers, store.dialect])
    })
  })

  test('[STO-7] writes and locks need a transaction', async () => {
    const { store } = opened
    const needsTx = { message: /needs a transaction/ }
    await assert.rejects(store.run('delete from items'), needsTx)
    await assert.rejects(store.insertMany(ITEMS, []), needsTx)
    await assert.rejects(store.move({ from: 'items', to: 'moved', columns: {} }, [], 'true', []), needsTx)
    await assert.rejects(store.lock(['a'], 'exclusive'), needsTx)
    assert.throws(() => store.runLater('delete from items'), needsTx)
    assert.throws(() => store.insertLater(ITEMS, []), needsTx)
    assert.throws(() => store.runLast('delete from items'), needsTx)
  })

  test('[STO-7] insertMany returns the rows that were written, and only those', async () => {
    await opened.store.tx((tx) => put(tx, 'a'))
    const written = await opened.store.tx((tx) => put(tx, 'b', 'a', 'c', 'b'))
    assert.deepEqual(
      written.map((row) => ({ ...(row as object) })),
      [
        { tenant_id: 't', id: 'b' },
        { tenant_id: 't', id: 'c' },
      ],
    )
  })

  test('[STO-7] run returns how many rows it changed, lookUp the first row or none', async () => {
    const { store } = opened
    await store.tx((tx) => put(tx, 'a', 'b'))
    assert.equal(await store.tx((tx) => tx.run('update items set n = 7 where tenant_id = ?', ['t'])), 2)
    assert.equal((await store.lookUp<{ n: number }>("select n from items where id = 'a'"))?.n, 7)
    assert.equal(await store.lookUp("select n from items where id = 'z'"), undefined)
  })

  test('[STO-7] the dialect tells whether a table exists', async () => {
    const { store } = opened
    const found = async (table: string): Promise<number> => (await store.rows(store.dialect.hasTable, [table])).length
    assert.equal(await found('items'), 1)
    assert.equal(await found('no_such_items'), 0)
  })

  test('[STO-7] lists are bound as one value', async () => {
    const { store } = opened
    await store.tx((tx) => put(tx, 'a', 'b', 'c,"d"'))
    const { inList, list } = store.dialect
    const sql = `select id from items where ${inList('id')} order by id`
    const found = await store.rows<{ id: string }>(sql, [list(['c,"d"', 'a', 'z'])])
    assert.deepEqual(
      found.map(({ id }) => id),
      ['a', 'c,"d"'],
    )
    assert.deepEqual(await store.rows(sql, [list([])]), [])
    assert.deepEqual(await store.rows(sql, [list(['c,"d"'])]), [{ id: 'c,"d"' }])
    const both = `${inList('id')} and ${inList('tenant_id')}`
    const change = (ids: string[], tenants: string[]) =>
      store.tx((tx) => tx.run(`update items set n = 8 where ${both}`, [list(ids), list(tenants)]))
    assert.deepEqual(
      [await change(['a'], ['t']), await change(['a'], ['t', 'u']), await change(['a', 'b'], ['t'])],
      [1, 1, 2],
    )
  })

  test('[STO-7] an error undoes the whole transaction: writes, moves, later writes and last writes', async () => {
    const { store } = opened
    await store.tx((tx) => put(tx, 'a'))
    const thrown = new Error('mine')
    const failed = store.tx(async (tx) => {
      await put(tx, 'b')
      tx.insertLater(ITEMS, [['t', 'c', 1]])
      tx.runLast('insert into items (tenant_id, id) values (?, ?)', ['t', 'd'])
      await tx.move({ from: 'items', to: 'moved', columns: { tenant_id: 'tenant_id', id: 'id' } }, [], 'id = ?', ['a'])
      throw thrown
    })
    await assert.rejects(failed, (error) => error === thrown)
    assert.deepEqual(await ids(store), ['a'])
    assert.deepEqual(await store.rows('select id from moved'), [])
  })

  test('[STO-7] a statement that the engine refuses is no outage, and the store keeps working', async () => {
    const { store } = opened
    await store.tx((tx) => put(tx, 'a'))
    const refused = [
      () => store.tx((tx) => tx.run("insert into items (tenant_id, id) values ('t', 'a')")),
      () => store.rows('select nothing from items'),
      () => store.tx(async (tx) => tx.runLater("insert into items (tenant_id, id) values ('t', 'a')")),
    ]
    for (const attempt of refused)
      await assert.rejects(attempt(), (error) => error instanceof Error && !(error instanceof StoreUnavailable))
    await store.tx((tx) => put(tx, 'b'))
    assert.deepEqual(await ids(store), ['a', 'b'])
  })

  test('[STO-8] an exclusive lock on a name excludes all others until the transaction ends', async () => {
    const stores = [opened.store, await opened.another()]
    let inside = 0
    const most: number[] = []
    await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        stores[i % 2]!.tx(async (tx) => {
          await tx.lock(['the one', `other ${i}`], i % 3 === 0 ? 'shared' : 'exclusive')
          if (i % 3 === 0) return
          most.push(++inside)
          await tx.rows('select 1 as one')
          inside--
        }),
      ),
    )
    assert.deepEqual(most, Array(8).fill(1))
  })

  test('[STO-8] a shared lock lets others share it; an exclusive one waits for all of them', async () => {
    const { store } = opened
    // With one writer a lock cannot be shared: transactions run one after the other.
    const sharing = store.writers > 1 ? 2 : 1
    const order: string[] = []
    const together = Promise.withResolvers<void>()
    const sharers = Array.from({ length: sharing }, (_, i) =>
      store.tx(async (tx) => {
        await tx.lock(['shared'], 'shared')
        if (order.push(`shared ${i}`) === sharing) together.resolve()
        await together.promise
        await tx.rows('select 1 as one')
        order.push('shared end')
      }),
    )
    await together.promise
    const alone = store.tx(async (tx) => {
      await tx.lock(['shared'], 'exclusive')
      order.push('alone')
    })
    await Promise.all([...sharers, alone])
    assert.equal(order.at(-1), 'alone')
    assert.equal(order.filter((step) => step === 'shared end').length, sharing)
  })

  test('[STO-8] a lock that is not awaited holds for the statements after it', async () => {
    const stores = [opened.store, await opened.another()]
    await opened.store.tx((tx) => put(tx, 'hits'))
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        stores[i % 2]!.tx(async (tx) => {
          void tx.lock(['hits'], 'exclusive')
          const [row] = await tx.rows<{ n: number }>("select n from items where id = 'hits'")
          await tx.run("update items set n = ? where id = 'hits'", [row!.n + 1])
        }),
      ),
    )
    assert.equal((await opened.store.lookUp<{ n: number }>("select n from items where id = 'hits'"))?.n, 20)
  })

  test('[STO-7] a message reaches the listeners of its channel on other nodes, and no others', async () => {
    const { store } = opened
    const far = await opened.another()
    const heard = Promise.withResolvers<string>()
    const strayed: string[] = []
    for (const own of ['conformance', 'conformance_other']) store.listen(own, (payload) => void strayed.push(payload))
    far.listen('conformance_other', (payload) => void strayed.push(payload))
    far.listen('conformance', heard.resolve)
    store.notify('conformance', 'hello')
    if (store.isShared) {
      // A message is best effort, and the first may be sent before the listening connection is open.
      const again = setInterval(() => store.notify('conformance', 'hello'), 20)
      assert.equal(await heard.promise.finally(() => clearInterval(again)), 'hello')
    }
    assert.deepEqual(strayed, [])
  })

  test('[STO-7] a transaction sends its messages with its commit, and none if it is rolled back', async () => {
    const { store } = opened
    const far = await opened.another()
    const heard: string[] = []
    far.listen('conformance', (payload) => heard.push(payload))
    const undone = store.tx(async (tx) => {
      tx.notify('conformance', 'undone')
      throw new Error('rolled back')
    })
    await assert.rejects(undone, /rolled back/)
    do await store.tx(async (tx) => tx.notify('conformance', 'done'))
    while (store.isShared && heard.length === 0)
    assert.ok(!heard.includes('undone'))
  })

  test('[STO-7] the time of a shared store is its server’s; otherwise it is this machine’s', async () => {
    const { store } = opened
    const time = await store.serverTime()
    if (store.isShared) assert.ok(Number.isInteger(time))
    else assert.equal(time, null)
  })

  test('[STO-7] stats count the connections, and nothing waits when nothing is under way', async () => {
    await opened.store.ping()
    const { waiting, connections, idle } = opened.store.stats()
    assert.equal(waiting, 0)
    assert.ok(connections >= 1 && idle <= connections)
  })

  test('[STO-7] every migration is applied, once', async (t) => {
    const { store, drop } = await emptyStore(engine)
    t.after(drop)
    const { current, newest } = await schemaStanding(store)
    assert.equal(current, 0)
    assert.ok((await migrate(store, 1)) > 0)
    assert.equal(await migrate(store, 1), 0)
    assert.deepEqual(await schemaStanding(store), { current: newest, newest })
  })
})
