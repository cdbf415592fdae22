// A real pooler between the service and PostgreSQL: in session mode it works, otherwise the start is refused with the
// reason. One that changes its mode under a running service counts as an outage until it changes back.
import assert from 'node:assert/strict'
import { after, before, describe, test, type TestContext } from 'node:test'
import pg from 'pg'
import { readConfig } from '../../src/config.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { openStore, type Opened } from '../../src/store/open.ts'
import { StoreUnavailable } from '../../src/store/db.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { layWireTo } from '../support/cut-wire.ts'
import { POSTGRES_URL, postgres, type FreshStore } from '../support/engines.ts'
import { realClock } from '../support/fake-clock.ts'
import { noPooler, startPooler } from '../support/pgbouncer.ts'
import { startService } from '../support/service.ts'
import { turnsUntil } from '../support/turns-until.ts'

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

  for (const { sessions, taken } of [
    { sessions: 3, taken: 2 },
    { sessions: 1, taken: 0 },
  ]) {
    test(`[SCL-8] in transaction mode it is refused with ${taken} of ${sessions} sessions taken by others`, async (t) => {
      const pooler = await startPooler(fresh.env['DATABASE_URL']!, 'transaction', sessions)
      t.after(pooler.stop)
      const others = Array.from({ length: taken }, () => new pg.Client(pooler.url))
      for (const other of others) await other.connect().then(() => other.query('begin'))
      const store = openPostgres({ url: pooler.url, clock: systemClock })
      t.after(() => store.close())
      for (let i = 0; i < 2; i++) await assert.rejects(store.requireSuitable(), StoreUnavailable)
      for (const other of others) await other.end()
      if (taken > 0) await assert.rejects(store.requireSuitable(), /pool_mode = session/)
    })
  }

  test('[SCL-8] in session mode just the sessions of the store are enough, also when one or all are lost', async (t) => {
    const pooler = await startPooler(fresh.env['DATABASE_URL']!, 'session', 3)
    t.after(pooler.stop)
    const { wire, url } = await layWireTo(pooler.url)
    t.after(wire.cut)
    const store = openPostgres({ url, clock: systemClock, poolSize: 1 })
    t.after(() => store.close())
    const sql = 'select pg_backend_pid() as pid'
    const [before] = await store.rows<{ pid: number }>(sql)
    await Promise.all([store.lookUp(sql), store.lookUp(sql)])
    assert.equal(store.stats().connections, 3)
    const server = new pg.Client(fresh.env['DATABASE_URL']!)
    await server.connect()
    await server.query('select pg_terminate_backend($1)', [before!.pid])
    await server.end()
    await turnsUntil(() => store.stats().connections === 2)
    const opened = wire.opened()
    await store.rows(sql)
    assert.equal(wire.opened() - opened, 1, 'a look needs two more sessions')
    await pooler.change('session', 'restarted')
    await turnsUntil(() => store.stats().connections === 0)
    await Promise.all([store.rows(sql), store.lookUp(sql), store.lookUp(sql)])
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
    assert.match(await warned.promise, /^the replica is not read: .*DATABASE_READ_URL.*pool_mode = session/)
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
    const far = openPostgres({ url: fresh.env['DATABASE_URL']!, clock: systemClock })
    t.after(() => far.close())
    const heard = new Promise<string>((resolve) => store.listen('a_channel', resolve))
    const again = setInterval(() => far.notify('a_channel', 'hello'), 50)
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

  /** The values of a setting in sessions that transactions get through a pooler. */
  async function inSessions(url: string, setting: string): Promise<string[]> {
    const clients = Array.from({ length: 8 }, () => new pg.Client(url))
    try {
      // All transactions are open at once, so that each has a session of its own.
      for (const client of clients) await client.connect().then(() => client.query('begin'))
      const asked = clients.map((client) => client.query('select current_setting($1) as value', [setting]))
      return (await Promise.all(asked)).map(({ rows }) => (rows as { value: string }[])[0]!.value)
    } finally {
      await Promise.all(clients.map((client) => client.end()))
    }
  }

  test('[SCL-8] a wake-up changes no setting of its session', async (t) => {
    const store = openPostgres({ url: fresh.env['DATABASE_URL']!, clock: systemClock })
    t.after(() => store.close())
    for (let i = 0; i < 4; i++) store.notify('a_channel', 'hello')
    const asked = Array.from({ length: 4 }, () =>
      store.lookUp<{ value: string }>("select current_setting('synchronous_commit') as value"),
    )
    assert.deepEqual(new Set((await Promise.all(asked)).map((row) => row!.value)), new Set(['on']))
  })

  /** A store, and what it warns of. */
  function listening(t: TestContext, url: string): { store: ReturnType<typeof openPostgres>; warned: string[] } {
    const warned: string[] = []
    const warn = (what: string, error: unknown): void =>
      void warned.push(`${what}: ${(error as Error | null)?.message ?? 'no error'}`)
    const store = openPostgres({ url, clock: systemClock, warn })
    t.after(() => store.close())
    return { store, warned }
  }

  for (const how of ['restarted', 'reloaded'] as const) {
    test(`[SCL-8] a pooler that is ${how} in transaction mode is an outage, and over when it changes back`, async (t) => {
      const pooler = await startPooler(fresh.env['DATABASE_URL']!, 'session')
      t.after(pooler.stop)
      const { store, warned } = listening(t, pooler.url)
      let round = 0
      /** Runs statements that no session knows yet, several at a time. Resolves to whether all of them succeeded. */
      async function works(): Promise<boolean> {
        round++
        const settled = await Promise.allSettled([
          ...Array.from({ length: 4 }, () => store.tx((tx) => tx.rows(`select ${round} as n`))),
          ...Array.from({ length: 4 }, () => store.lookUp(`select ${round} as m`)),
          store.ping(),
        ])
        const errors = settled.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
        for (const error of errors) assert.ok(error instanceof StoreUnavailable, String(error))
        return errors.length === 0
      }
      assert.ok(await works())
      await pooler.change('transaction', how)
      const isRefused = (): Promise<boolean> =>
        store.ping().then(
          () => false,
          (error: Error) => /DATABASE_URL.*pool_mode = session/.test(error.message),
        )
      await turnsUntil(async () => !(await works()) && (await isRefused()))
      for (let i = 0; i < 5; i++) assert.ok(!(await works()))
      assert.deepEqual(new Set(await inSessions(pooler.url, 'synchronous_commit')), new Set(['on']))
      // Nothing was set in sessions of others. A reload keeps those that were ours.
      if (how === 'restarted')
        assert.deepEqual(new Set(await inSessions(pooler.url, 'enable_seqscan')), new Set(['on']))
      await pooler.change('session', how)
      await turnsUntil(works)
      const said = warned.filter((text) => text.startsWith('the server is'))
      assert.equal(said.length, 2, said.join('\n'))
      assert.match(said[0]!, /^the server is not used: .*DATABASE_URL.*pool_mode = session/)
      assert.equal(said[1], 'the server is used again: no error')
    })
  }

  test('[SCL-8] that sessions are no longer kept is logged as such when it is found while nothing arrives', async (t) => {
    const pooler = await startPooler(fresh.env['DATABASE_URL']!, 'session')
    t.after(pooler.stop)
    const { store, warned } = listening(t, pooler.url)
    await store.rows('select 1')
    await pooler.change('transaction', 'reloaded')
    await assert.rejects(store.rows('select pg_sleep(12)'), StoreUnavailable)
    assert.ok(
      warned.some((text) => /^the server is not used: .*pool_mode = session/.test(text)),
      warned.join('\n'),
    )
    assert.ok(!warned.some((text) => text.startsWith('the database does not respond')), warned.join('\n'))
  })

  test('[SCL-8] [STO-9] while a pooler is in transaction mode requests get 503, and the node is not ready', async (t) => {
    const pooler = await startPooler(fresh.env['DATABASE_URL']!, 'session')
    t.after(pooler.stop)
    const env = { ...fresh.env, DATABASE_URL: pooler.url }
    const service = await startService(
      { ...postgres, migrated: async () => ({ ...fresh, env, drop: async () => {} }) },
      {},
      realClock(),
    )
    t.after(service.stop)
    const agent = await (await service.tenant()).agent()
    let events = 0
    const publish = async (): Promise<number> => {
      const body = { specversion: '1.0', type: 'a.b', source: '/tests', id: String(events++), data: {} }
      return (await service.call('POST /v1/events', { token: agent.token, body })).status
    }
    const publishAll = async (): Promise<Set<number>> => new Set(await Promise.all(Array.from({ length: 8 }, publish)))
    const isReady = async (): Promise<boolean> => (await service.call('GET /readyz')).status === 200
    assert.deepEqual(await publishAll(), new Set([202]))
    await pooler.change('transaction', 'restarted')
    for (let i = 0; i < 20; i++) assert.deepEqual(await publishAll(), new Set([503]))
    assert.equal(await isReady(), false)
    await pooler.change('session', 'restarted')
    await turnsUntil(isReady)
    assert.deepEqual(await publishAll(), new Set([202]))
  })
})
