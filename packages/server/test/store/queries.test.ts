// The query interface: values that go in and rows that come back are the same on both engines.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Db, Insert, Value } from '../../src/store/db.ts'
import { one } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { emptyStore, type OpenedStore } from '../support/store.ts'

const THINGS: Insert = {
  into: 'things',
  columns: { tenant_id: 'text', id: 'text', n: 'bigint', small: 'integer', share: 'double precision', bytes: 'bytea' },
}

onBothEngines((engine) => {
  let opened: OpenedStore
  before(async () => {
    opened = await emptyStore(engine)
    await opened.store.tx(async (tx) => {
      const blob = engine.name === 'sqlite' ? 'blob' : 'bytea'
      await tx.run(
        `create table things (tenant_id text not null, id text not null, n bigint, small integer, share double precision, bytes ${blob}, primary key (tenant_id, id))`,
      )
    })
  })
  after(() => opened.drop())
  beforeEach(() => opened.store.tx((tx) => tx.run('delete from things')))

  const put = (...rows: (readonly Value[])[]) =>
    opened.store.tx((tx) =>
      tx.insertMany(
        THINGS,
        rows.map((row) => [...row, ...Array(6 - row.length).fill(null)]),
      ),
    )
  const ids = async (db: Db, where = 'true', values: Value[] = []) =>
    (await db.rows<{ id: string }>(`select id from things where ${where} order by id`, values)).map(({ id }) => id)

  test('[STO-3] every type comes back as it went in: text, whole numbers to 2^53, fractions, bytes, null', async () => {
    const bytes = new Uint8Array([0, 1, 127, 128, 255])
    const long = 'Zürich 東京 🚀 \' " \\ ? $1 %_ \n\t'
    await put(
      ['t', long, Number.MAX_SAFE_INTEGER, -2147483648, 0.1, bytes],
      ['t', '', -Number.MAX_SAFE_INTEGER, 0, -1e-300, new Uint8Array()],
    )
    const rows = await opened.store.rows<{ id: string; bytes: Uint8Array }>(
      'select id, n, small, share, bytes from things order by n desc',
    )
    assert.deepEqual(
      rows.map(({ bytes: b, ...row }) => ({ ...row, bytes: [...b] })),
      [
        { id: long, n: Number.MAX_SAFE_INTEGER, small: -2147483648, share: 0.1, bytes: [...bytes] },
        { id: '', n: -Number.MAX_SAFE_INTEGER, small: 0, share: -1e-300, bytes: [] },
      ],
    )
    await put(['t', 'nothing'])
    const empty = await one<Record<string, unknown>>(
      opened.store,
      "select n, small, share, bytes from things where id = 'nothing'",
    )
    assert.deepEqual({ ...empty }, { n: null, small: null, share: null, bytes: null })
  })

  test('[STO-3] counts arrive as numbers, and a query that finds nothing as an empty list', async () => {
    await put(['t', 'a', 2], ['t', 'b', 3])
    const row = await one<{ c: unknown; s: unknown }>(
      opened.store,
      'select count(*) as c, cast(sum(n) as bigint) as s from things',
    )
    assert.deepEqual({ ...row }, { c: 2, s: 5 })
    assert.deepEqual(await opened.store.rows('select id from things where n > 100'), [])
    assert.equal(await one(opened.store, 'select id from things where n > 100'), undefined)
  })

  test('[STO-3] values are bound and never part of the statement', async () => {
    const hostile = "'; drop table things; --"
    await put(['t', hostile])
    assert.deepEqual(await ids(opened.store, 'id = ?', [hostile]), [hostile])
  })

  test('[STO-3] text is compared and ordered by its bytes', async () => {
    await put(...['b', 'B', 'a', 'ä', 'Z', '_', '1', 'aa'].map((id) => ['t', id]))
    assert.deepEqual(await ids(opened.store), ['1', 'B', 'Z', '_', 'a', 'aa', 'b', 'ä'])
  })

  test('[STO-3] run returns how many rows changed', async () => {
    await put(['t', 'a', 1], ['t', 'b', 1], ['t', 'c', 2])
    const changed = await opened.store.tx(async (tx) => [
      await tx.run('update things set small = 1 where n = ?', [1]),
      await tx.run('update things set small = 1 where n = ?', [9]),
      await tx.run("insert into things (tenant_id, id) values ('t', 'a') on conflict do nothing"),
      await tx.run('delete from things where n > ?', [1]),
    ])
    assert.deepEqual(changed, [2, 0, 0, 1])
  })

  test('[STO-3] insertMany: no rows are no statement, one thousand are one call', async () => {
    assert.deepEqual(await opened.store.tx((tx) => tx.insertMany(THINGS, [])), [])
    await put(...Array.from({ length: 1000 }, (_, i) => ['t', `id-${i}`, i]))
    assert.equal((await one<{ c: number }>(opened.store, 'select count(*) as c from things'))?.c, 1000)
  })

  test('[STO-3] insertMany returns the requested columns of the written rows, in the order given', async () => {
    await put(['t', 'b', 1])
    const insert: Insert = { ...THINGS, conflict: 'on conflict (tenant_id, id) do nothing', returning: 'id, n' }
    const rows = [
      ['t', 'a', 5, null, null, null],
      ['t', 'b', 6, null, null, null],
      ['t', 'c', 7, null, null, null],
    ] as const
    const written = await opened.store.tx((tx) => tx.insertMany<{ id: string; n: number }>(insert, rows))
    assert.deepEqual(
      written.map((row) => ({ ...row })),
      [
        { id: 'a', n: 5 },
        { id: 'c', n: 7 },
      ],
    )
    assert.equal(
      (await one<{ n: number }>(opened.store, "select n from things where id = 'b'"))?.n,
      1,
      'the row that was there stays',
    )
  })

  test('[STO-3] insertMany updates on conflict where told to', async () => {
    await put(['t', 'a', 1])
    const insert: Insert = {
      ...THINGS,
      conflict: 'on conflict (tenant_id, id) do update set n = things.n + excluded.n',
    }
    await opened.store.tx((tx) => tx.insertMany(insert, [['t', 'a', 41, null, null, null]]))
    assert.equal((await one<{ n: number }>(opened.store, "select n from things where id = 'a'"))?.n, 42)
  })

  test('[STO-3] a row that violates a constraint refuses all rows of its transaction', async () => {
    await assert.rejects(put(['t', 'a'], ['t', 'a']))
    assert.deepEqual(await ids(opened.store), [])
  })

  test('[STO-3] a list is one value: empty, long, and with every character', async () => {
    const odd = ['a', "it's", 'with "quotes"', 'back\\slash', 'com,ma', '{braces}', 'NULL', '', '🚀']
    await put(...odd.map((id) => ['t', id]))
    const { inList, list } = opened.store.dialect
    assert.deepEqual(await ids(opened.store, inList('id'), [list(odd)]), [...odd].sort())
    assert.deepEqual(await ids(opened.store, inList('id'), [list([])]), [])
    assert.deepEqual(
      await ids(opened.store, inList('id'), [list(Array.from({ length: 5000 }, (_, i) => `no-${i}`).concat('a'))]),
      ['a'],
    )
  })

  test('[STO-3] forUpdate and skipLocked end a select on both engines', async () => {
    await put(['t', 'a'])
    const { forUpdate, forShare, skipLocked } = opened.store.dialect
    await opened.store.tx(async (tx) => {
      assert.equal((await tx.rows(`select id from things ${forUpdate}`)).length, 1)
      assert.equal((await tx.rows(`select id from things ${forShare}`)).length, 1)
      assert.equal((await tx.rows(`select id from things ${skipLocked}`)).length, 1)
    })
  })

  test('[STO-2] a write outside of a transaction is refused', async () => {
    await assert.rejects(opened.store.run("delete from things where id = 'a'"), /a write needs a transaction/)
    await assert.rejects(opened.store.insertMany(THINGS, []), /a write needs a transaction/)
  })

  test('[STO-3] a statement that is wrong rejects and harms nothing', async () => {
    await assert.rejects(opened.store.rows('select nonsense from nowhere'))
    await assert.rejects(opened.store.tx((tx) => tx.run('insert into nowhere values (1)')))
    assert.deepEqual(await ids(opened.store), [])
  })
})
