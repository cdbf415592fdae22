// What a transaction promises: all or nothing, on disk when it resolves, invisible until then.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { ruleBroken } from '../../src/kernel/failure.ts'
import { nextTurn } from '../../src/kernel/step-turns.ts'
import type { Db } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { emptyStore, type OpenedStore } from '../support/store.ts'

onBothEngines((engine) => {
  let opened: OpenedStore
  before(async () => {
    opened = await emptyStore(engine)
    await opened.store.tx(async (tx) => {
      await tx.run('create table counters (id text primary key, n bigint not null)')
      await tx.run('create table done (id text primary key, n bigint not null, at bigint not null)')
    })
  })
  after(() => opened.drop())
  beforeEach(() => opened.store.tx((tx) => tx.run('delete from counters')))

  const add = (tx: Db, id: string) => tx.run('insert into counters (id, n) values (?, 1)', [id])
  const ids = async (db: Db) =>
    (await db.rows<{ id: string }>('select id from counters order by id')).map(({ id }) => id)

  test('[STO-2] an error undoes the whole transaction and reaches the caller unchanged', async () => {
    const thrown = new Error('mine')
    const failed = opened.store.tx(async (tx) => {
      await add(tx, 'a')
      await add(tx, 'b')
      throw thrown
    })
    await assert.rejects(failed, (error) => error === thrown)
    assert.deepEqual(await ids(opened.store), [])
  })

  test('[STO-17] an error that quotes a caller is no outage, whatever the caller wrote', async () => {
    for (const text of [
      'timeout expired',
      'Connection terminated',
      'not queryable',
      'query read timeout',
      'disk full',
    ]) {
      const failure = ruleBroken('scope_only_widens', `This memory has the team ${text}`)
      for (const thrown of [failure, new Error(`the team ${text}`)]) {
        const failed = opened.store.tx(async (tx) => {
          await add(tx, 'a')
          throw thrown
        })
        await assert.rejects(failed, (error) => error === thrown)
      }
    }
    assert.deepEqual(await ids(opened.store), [])
  })

  test('[STO-2] moved rows are in one table or the other, and each is moved once by concurrent moves', async () => {
    const names = Array.from({ length: 40 }, (_, i) => `m${i}`)
    await opened.store.tx(async (tx) => {
      for (const id of names) await add(tx, id)
    })
    const move = (from: number, at: number) =>
      opened.store.tx((tx) =>
        tx.move(
          { from: 'counters', to: 'done', columns: { id: 'id', n: 'n', at: 'cast(? as bigint)' } },
          [at],
          tx.dialect.inList('id'),
          [tx.dialect.list(names.slice(from, from + 20))],
        ),
      )
    const moved = await Promise.all([0, 5, 10, 15, 20, 0].map((from, i) => move(from, i)))
    assert.equal(
      moved.reduce((sum, n) => sum + n, 0),
      40,
    )
    assert.deepEqual(await ids(opened.store), [])
    assert.deepEqual(
      (await opened.store.rows<{ id: string }>('select id from done order by id')).map(({ id }) => id),
      names.toSorted(),
    )
    await opened.store.tx((tx) => add(tx, 'x'))
    await assert.rejects(
      opened.store.tx(async (tx) => {
        await tx.move({ from: 'counters', to: 'done', columns: { id: 'id', n: 'n', at: 'n' } }, [], 'n = ?', [1])
        throw new Error('undone')
      }),
    )
    assert.deepEqual(await ids(opened.store), ['x'])
  })

  test('[STO-2] later writes commit with the transaction, and if one fails all is undone', async () => {
    await opened.store.tx(async (tx) => {
      tx.runLater('insert into counters (id, n) values (?, 1)', ['a'])
      tx.insertLater({ into: 'counters', columns: { id: 'text', n: 'bigint' } }, [
        ['b', 1],
        ['c', 1],
      ])
      tx.insertLater({ into: 'counters', columns: { id: 'text', n: 'bigint' } }, [])
    })
    assert.deepEqual(await ids(opened.store), ['a', 'b', 'c'])
    const failed = opened.store.tx(async (tx) => {
      await add(tx, 'd')
      tx.runLater('insert into counters (id, n) values (?, 1)', ['a'])
    })
    await assert.rejects(failed)
    assert.deepEqual(await ids(opened.store), ['a', 'b', 'c'])
    assert.equal((await opened.store.lookUp<{ n: number }>('select n from counters where id = ?', ['b']))?.n, 1)
    assert.equal(await opened.store.lookUp('select n from counters where id = ?', ['d']), undefined)
  })

  test('[STO-2] last writes commit with the transaction, in order, and are undone with it', async () => {
    const last = (tx: Db, sql: string, id: string) => tx.runLast(sql, [id])
    const all = await Promise.allSettled([
      opened.store.tx(async (tx) => {
        last(tx, 'insert into counters (id, n) values (?, 1)', 'a')
        last(tx, 'update counters set n = n + 1 where id = ?', 'a')
        await add(tx, 'b')
      }),
      opened.store.tx(async (tx) => {
        last(tx, 'insert into counters (id, n) values (?, 1)', 'c')
        throw new Error('undone')
      }),
      opened.store.tx(async (tx) => last(tx, 'insert into counters (id, n) values (?, 1)', 'd')),
    ])
    assert.deepEqual(
      all.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.deepEqual(await ids(opened.store), ['a', 'b', 'd'])
    assert.equal((await opened.store.lookUp<{ n: number }>('select n from counters where id = ?', ['a']))?.n, 2)
  })

  test('[STO-2] texts come back as they went in, whatever they hold', async () => {
    const odd = ['"', '\\', '{', '}', ',', 'null', 'NULL', '', ' ', '\\"', 'ä\u{1F600}\n\t', '(a,"b")', "'"]
    await opened.store.tx((tx) =>
      tx.insertMany(
        { into: 'counters', columns: { id: 'text', n: 'bigint' } },
        odd.map((id, n) => [id, n]),
      ),
    )
    const rows = await opened.store.rows<{ id: string; n: number }>('select id, n from counters')
    assert.deepEqual(
      rows.sort((a, b) => a.n - b.n).map(({ id }) => id),
      odd,
    )
  })

  test('[STO-2] a transaction sees its own writes; nobody else does before it is committed', async () => {
    const wrote = Promise.withResolvers<void>()
    const looked = Promise.withResolvers<void>()
    const done = opened.store.tx(async (tx) => {
      await add(tx, 'a')
      assert.deepEqual(await ids(tx), ['a'])
      wrote.resolve()
      await looked.promise
    })
    await wrote.promise
    const other = await opened.another()
    assert.deepEqual(await ids(opened.store), [], 'a read of the same store')
    assert.deepEqual(await ids(other), [], 'a read of another process')
    looked.resolve()
    await done
    assert.deepEqual(await ids(opened.store), ['a'])
    // All reads of a turn see one state, and here the other process has the same turns.
    await nextTurn()
    assert.deepEqual(await ids(other), ['a'])
  })

  test('[STO-1] a transaction resolves after its commit: another connection sees it at once', async () => {
    const other = await opened.another()
    for (let i = 0; i < 20; i++) {
      const id = `n${String(i).padStart(2, '0')}`
      await opened.store.tx((tx) => add(tx, id))
      await nextTurn()
      assert.equal((await ids(other)).at(-1), id)
    }
  })

  test('[STO-2] of many concurrent transactions, one that fails undoes only its own work', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, i) =>
        opened.store.tx(async (tx) => {
          await add(tx, `id-${i}`)
          if (i % 5 === 3) throw new Error(`number ${i}`)
          return i
        }),
      ),
    )
    const failed = results.flatMap((result, i) => (result.status === 'rejected' ? [i] : []))
    assert.deepEqual(
      failed,
      Array.from({ length: 10 }, (_, k) => k * 5 + 3),
    )
    assert.ok(
      results.every((result, i) => result.status === 'rejected' || result.value === i),
      'each gets its own result',
    )
    assert.equal((await ids(opened.store)).length, 40)
  })

  test('[STO-2] a statement that the engine refuses undoes its own transaction only', async () => {
    await opened.store.tx((tx) => add(tx, 'taken'))
    const results = await Promise.allSettled(
      ['a', 'taken', 'b'].map((id) =>
        opened.store.tx(async (tx) => {
          await add(tx, `${id}-first`)
          await add(tx, id)
        }),
      ),
    )
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.deepEqual(await ids(opened.store), ['a', 'a-first', 'b', 'b-first', 'taken'])
  })

  test('[SAFE-43] a caller with many transactions waits behind its own, and does not delay others', async () => {
    const begun: string[] = []
    const ask = (tenantId: string, id: string) =>
      opened.store.tx(
        async (tx) => {
          begun.push(tenantId + id)
          await tx.rows('select 1')
        },
        { caller: { tenantId, id } },
      )
    const loud = Array.from({ length: 100 }, () => ask('loud', 'a'))
    await Promise.all([...loud, ask('loud', 'b'), ask('quiet', 'a')])
    assert.equal(begun.length, 102)
    const place = (who: string): number => begun.indexOf(who)
    // The first ones find a free connection and do not wait.
    assert.ok(place('quieta') <= 12, `the neighbour was number ${place('quieta')}`)
    assert.ok(place('loudb') <= 14, `the other agent was number ${place('loudb')}`)
  })

  test('[STO-2] increments from many transactions and two processes are never lost', async () => {
    await opened.store.tx((tx) => tx.run("insert into counters (id, n) values ('hits', 0)"))
    const stores = [opened.store, await opened.another()]
    await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        stores[i % 2]!.tx(async (tx) => {
          const [row] = await tx.rows<{ n: number }>(`select n from counters where id = 'hits' ${tx.dialect.forUpdate}`)
          await tx.run("update counters set n = ? where id = 'hits'", [row!.n + 1])
        }),
      ),
    )
    const [row] = await opened.store.rows<{ n: number }>("select n from counters where id = 'hits'")
    assert.equal(row?.n, 60)
  })
})
