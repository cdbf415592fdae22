// A real standby behind an address of the database, as after a planned switch of the servers. It answers every read,
// from data that may be old, so no connection of the store may stay there. And a replica that follows another server.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { systemClock } from '../../src/kernel/clock.ts'
import { StoreUnavailable, type Store } from '../../src/store/db.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { layWire, type Wire } from '../support/cut-wire.ts'
import { startPostgres, type PostgresServer } from '../support/postgres-server.ts'
import { turnsUntil } from '../support/turns-until.ts'

const skip = process.env['TEST_POSTGRES_URL'] ? false : 'PostgreSQL is missing'
let primary: PostgresServer
let standby: PostgresServer
before(async () => {
  if (skip) return
  primary = await startPostgres()
  standby = await primary.standby()
})
after(() => Promise.all([primary?.stop(), standby?.stop()]))

const portOf = ({ url }: PostgresServer): number => Number(new URL(url).port)
const through = (...wires: Wire[]): string =>
  `postgres://postgres@${wires.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postgres`

/** Breaks the connections of an address, which leads to another server from then on. */
async function redirect(wire: Wire, server: PostgresServer): Promise<void> {
  await wire.cut()
  wire.lead(portOf(server))
  await wire.mend()
}

type Ask = (store: Store) => Promise<boolean | undefined>
const ROLE = 'select pg_is_in_recovery() as standby'
/** Every kind of connection, and whether it leads to a standby. */
const asks: Record<string, Ask> = {
  'a query': async (store) => (await store.rows<{ standby: boolean }>(ROLE))[0]?.standby,
  'a look-up': async (store) => (await store.lookUp<{ standby: boolean }>(ROLE))?.standby,
  'a transaction': (store) => store.tx(async (tx) => (await tx.rows<{ standby: boolean }>(ROLE))[0]?.standby),
  'a long transaction': (store) =>
    store.tx(async (tx) => (await tx.rows<{ standby: boolean }>(ROLE))[0]?.standby, { takesLong: true }),
}

/** Asks until the store is back. */
async function onceItIsBack(store: Store, ask: Ask): Promise<boolean | undefined> {
  for (;;) {
    try {
      return await ask(store)
    } catch (error) {
      assert.ok(error instanceof StoreUnavailable, String(error))
      await new Promise(setImmediate)
    }
  }
}

for (const [name, ask] of Object.entries(asks))
  test(`[STO-20] while the only address leads to a standby, ${name} is refused`, { skip }, async (t) => {
    const wire = await layWire(portOf(primary))
    t.after(() => wire.cut())
    const store = openPostgres({ url: through(wire), clock: systemClock })
    t.after(() => store.close())
    assert.equal(await ask(store), false)
    await redirect(wire, standby)
    for (let i = 0; i < 3; i++) await assert.rejects(ask(store), StoreUnavailable)
    wire.lead(portOf(primary))
    assert.equal(await onceItIsBack(store, ask), false)
  })

test('[STO-20] [STO-9] a store that only reads leaves a server that came back as a standby', { skip }, async (t) => {
  const wires = await Promise.all([layWire(portOf(primary)), layWire(portOf(standby))])
  t.after(() => Promise.all(wires.map((wire) => wire.cut())))
  const store = openPostgres({ url: through(...wires), clock: systemClock })
  t.after(() => store.close())
  for (const ask of Object.values(asks)) assert.equal(await ask(store), false)
  await Promise.all([redirect(wires[0]!, standby), redirect(wires[1]!, primary)])
  // Its idle connections are gone before it is asked again, so no query fails that would make it look for the primary.
  await turnsUntil(() => store.stats().connections === 0)
  for (const ask of [asks['a query']!, asks['a look-up']!]) assert.equal(await onceItIsBack(store, ask), false)
})

async function run(server: PostgresServer, ...statements: string[]): Promise<void> {
  const client = new pg.Client(server.url)
  await client.connect()
  for (const sql of statements) await client.query(sql)
  await client.end()
}

test('[SCL-7] a replica of another history is not read, though its log is further on', { skip }, async (t) => {
  await run(primary, 'create table settings (name text primary key, value text)')
  const restored = await primary.standby()
  t.after(() => restored.stop())
  await run(restored, 'select pg_promote()')
  // More than the promotion writes, so that the old standby is ahead of the restored server.
  await run(primary, "create table more as select repeat('x', 1000) from generate_series(1, 50000)")
  let isUsed = true
  const store = openPostgres({
    url: restored.url,
    readUrl: standby.url,
    clock: systemClock,
    warn: (what) => (isUsed &&= what !== 'the replica is not read'),
  })
  t.after(() => store.close())
  const mayBeStale = store.readFor({ tenantId: 'ten_1', id: 'a' }, { mayBeStale: true })
  while (isUsed) {
    assert.deepEqual(await mayBeStale.rows(ROLE), [{ standby: false }])
    await new Promise(setImmediate)
  }
})
