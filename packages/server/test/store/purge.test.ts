// Old rows are deleted some at a time, beside others that delete them too.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { purge } from '../../src/store/purge.ts'
import { onBothEngines } from '../support/engines.ts'
import { overOrWaiting } from '../support/over-or-waiting.ts'
import { emptyStore } from '../support/store.ts'

const AGING = { table: 'aging', key: ['id'], age: 'at' }

onBothEngines((engine) => {
  test('[FLT-2] a purge deletes all rows from before a time, and passes over those that another one holds', async (t) => {
    const { store, drop } = await emptyStore(engine)
    t.after(drop)
    await store.tx(async (tx) => {
      await tx.run('create table aging (tenant_id text not null, id bigint not null, at bigint not null)')
      const rows = 'with recursive n (i) as (select 0 union all select i + 1 from n where i < 2500)'
      await tx.run(`${rows} insert into aging (tenant_id, id, at) select 'ten', i, i from n`)
    })
    let purging: Promise<number> | undefined
    let isOver = false
    await store.tx(async (tx) => {
      await tx.rows(`select id from aging where at < 10 ${tx.dialect.forUpdate}`)
      purging = purge(store, AGING, 2_500)
      purging.then(
        () => (isOver = true),
        () => {},
      )
      await overOrWaiting(store, purging)
      assert.equal(isOver, store.isShared)
    })
    assert.equal(await purging, store.isShared ? 2_490 : 2_500)
    assert.equal(await purge(store, AGING, 2_500), store.isShared ? 10 : 0)
    assert.deepEqual(await store.rows('select id from aging'), [{ id: 2_500 }])
  })
})
