// A real pooler between the service and PostgreSQL: in session mode it works, otherwise the start is refused with the
// reason.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { readConfig } from '../../src/config.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { openStore, type Opened } from '../../src/store/open.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { POSTGRES_URL, postgres, type FreshStore } from '../support/engines.ts'
import { noPooler, startPooler } from '../support/pgbouncer.ts'

describe('a pooler', { skip: POSTGRES_URL ? noPooler : 'PostgreSQL is missing' }, () => {
  let fresh: FreshStore
  before(async () => {
    fresh = await postgres.migrated!()
  })
  after(() => fresh?.drop())

  const open = (url: string): Promise<Opened> => openStore(readConfig({ ...fresh.env, DATABASE_URL: url }), systemClock)

  test('[SCL-8] in transaction mode it is refused, whichever session it assigns next', async (t) => {
    const pooler = await startPooler(fresh.env['DATABASE_URL']!, 'transaction')
    t.after(pooler.stop)
    await assert.rejects(open(pooler.url), /pooler in transaction mode.*pool_mode = session/)
  })

  test('[SCL-8] [SCL-7] a replica behind one is not read, and the sessions of others stay as they were', async (t) => {
    const pooler = await startPooler(fresh.env['DATABASE_URL']!, 'transaction')
    t.after(pooler.stop)
    const warned = Promise.withResolvers<string>()
    const store = openPostgres({
      url: fresh.env['DATABASE_URL']!,
      readUrl: pooler.url,
      clock: systemClock,
      warn: (what, error) => warned.resolve(`${what}: ${(error as Error).message}`),
    })
    t.after(() => store.close())
    const caller = { tenantId: 'ten_1', id: 'a' }
    await store.readFor(caller, { mayBeStale: true }).rows('select 1') // begins a look at the replica
    assert.match(await warned.promise, /^the replica is not read: DATABASE_READ_URL.*pool_mode = session/)
    const other = new pg.Client(pooler.url)
    await other.connect()
    const { rows } = await other.query("select current_setting('enable_seqscan') as seqscan")
    await other.end()
    assert.deepEqual(rows, [{ seqscan: 'on' }])
  })

  test('[SCL-8] in session mode the store works through it, and hears wake-ups', async (t) => {
    const pooler = await startPooler(fresh.env['DATABASE_URL']!, 'session')
    t.after(pooler.stop)
    const { store } = await open(pooler.url)
    t.after(() => store.close())
    const heard = new Promise<string>((resolve) => store.listen('a_channel', resolve))
    const again = setInterval(() => store.notify('a_channel', 'hello'), 50)
    assert.equal(await heard, 'hello')
    clearInterval(again)
    await store.tx((tx) => tx.run("insert into settings (name, value) values ('through', 'it')"))
    assert.equal((await store.rows("select 1 from settings where name = 'through'")).length, 1)
  })

  test('[SCL-8] the limits of time hold through it, as without it', async (t) => {
    const pooler = await startPooler(fresh.env['DATABASE_URL']!, 'session')
    t.after(pooler.stop)
    const { store } = await open(pooler.url)
    t.after(() => store.close())
    const limits = `select current_setting('statement_timeout') as statement,
                           current_setting('idle_in_transaction_session_timeout') as transaction`
    assert.deepEqual(await store.tx((tx) => tx.rows(limits)), [{ statement: '15s', transaction: '10s' }])
    assert.deepEqual(await store.rows(limits), [{ statement: '15s', transaction: '10s' }])
  })
})
