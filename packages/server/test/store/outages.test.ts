// A store that is closed, full or out of reach always fails with StoreUnavailable, whatever error the driver throws.
import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { systemClock } from '../../src/kernel/clock.ts'
import { StoreUnavailable } from '../../src/store/db.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { layWireTo } from '../support/cut-wire.ts'
import { onBothEngines, postgres, POSTGRES_URL } from '../support/engines.ts'
import { emptyStore } from '../support/store.ts'

const isOutage = (error: unknown): boolean => {
  assert.ok(error instanceof StoreUnavailable, `${(error as Error).constructor.name}: ${(error as Error).message}`)
  return true
}

onBothEngines((engine) => {
  test('[HTTP-28] a closed store is unavailable for everything, and closing it again does nothing', async (t) => {
    const { store, drop } = await emptyStore(engine)
    t.after(drop)
    await store.tx((tx) => tx.run('create table t (n integer)'))
    await store.ping()
    await store.close()
    await store.close()
    await assert.rejects(
      store.tx((tx) => tx.run('insert into t values (1)')),
      isOutage,
    )
    await assert.rejects(store.rows('select * from t'), isOutage)
    await assert.rejects(store.ping(), isOutage)
  })

  test('[STO-1] closing waits for the transactions that were accepted', async (t) => {
    const { store, another, drop } = await emptyStore(engine)
    t.after(drop)
    await store.tx((tx) => tx.run('create table t (n integer)'))
    const taken = Promise.all(
      Array.from({ length: 20 }, (_, n) => store.tx((tx) => tx.run('insert into t values (?)', [n]))),
    )
    await store.close()
    await taken
    assert.equal((await (await another()).rows('select n from t')).length, 20)
  })
})

test('[HTTP-28] PostgreSQL: nothing listens at the address', async (t) => {
  const store = openPostgres({ url: 'postgres://nobody@127.0.0.1:1/none', clock: systemClock })
  t.after(() => store.close())
  await assert.rejects(store.rows('select 1'), isOutage)
  await assert.rejects(
    store.tx((tx) => tx.rows('select 1')),
    isOutage,
  )
  await assert.rejects(store.ping(), isOutage)
  assert.equal(store.stats().waiting, 0)
})

test('[HTTP-28] PostgreSQL: a server that hangs up at once', async (t) => {
  const server = createServer((socket) => void socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const store = openPostgres({
    url: `postgres://nobody@127.0.0.1:${(server.address() as { port: number }).port}/none`,
    clock: systemClock,
  })
  t.after(() => store.close())
  await assert.rejects(store.ping(), isOutage)
  await assert.rejects(
    store.tx((tx) => tx.rows('select 1')),
    isOutage,
  )
})

test('[HTTP-28] PostgreSQL: a server that never answers is given up after a bounded wait', async (t) => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => void sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const store = openPostgres({
    url: `postgres://nobody@127.0.0.1:${(server.address() as { port: number }).port}/none`,
    clock: systemClock,
  })
  t.after(() => store.close())
  await assert.rejects(store.ping(), isOutage)
})

test('[SCL-12] PostgreSQL: a transaction of a machine that is gone holds up others for seconds, not for hours', {
  skip: !POSTGRES_URL && 'PostgreSQL is missing',
  timeout: 60_000,
}, async (t) => {
  const { store, env, drop } = await emptyStore(postgres)
  t.after(drop)
  const { wire, url } = await layWireTo(env['DATABASE_URL']!)
  const far = openPostgres({ url, clock: systemClock })
  const isGone = Promise.withResolvers<void>()
  const isOver = Promise.withResolvers<void>()
  const itsEnd = assert.rejects(
    far.tx(async (tx) => {
      await tx.lock(['interests'], 'exclusive')
      wire.freeze()
      isGone.resolve()
      await isOver.promise
      await tx.rows('select 1')
    }),
    isOutage,
  )
  await isGone.promise
  await store.tx((tx) => tx.lock(['interests'], 'exclusive'))
  isOver.resolve()
  await wire.cut()
  await itsEnd
  await far.close()
})
