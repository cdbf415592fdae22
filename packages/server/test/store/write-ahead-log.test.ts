// SQLite: transactions that resolved and rows that are read are on disk, and the log does not grow without end.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { databaseFile } from '../../src/store/data-directory.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { watchLog } from '../../src/store/sqlite-wal.ts'
import { StoreUnavailable, type Store } from '../../src/store/db.ts'
import { sqlite } from '../support/engines.ts'
import { turnsUntil } from '../support/turns-until.ts'

const disk = fs.fdatasync
type Done = (error: NodeJS.ErrnoException | null) => void

/** Replaces every fsync of the log. */
function onSync(stand: (fd: number, done: Done) => void): void {
  fs.fdatasync = stand as typeof fs.fdatasync
  syncBuiltinESMExports()
}

let store: Store
let file: string
let drop: () => Promise<void>
beforeEach(async () => {
  const fresh = await sqlite.fresh()
  drop = fresh.drop
  file = databaseFile(fresh.env['DATA_DIR']!)
  store = openSqlite(file)
  await store.tx((tx) => tx.run('create table t (n integer primary key, text text)'))
})
afterEach(async () => {
  onSync(disk)
  await store.close()
  await drop()
})

const insert = (n: number) => store.tx((tx) => tx.run('insert into t (n) values (?)', [n]))
const count = async () => (await store.lookUp<{ c: number }>('select count(*) as c from t'))!.c

test('[STO-1] a transaction resolves and becomes visible only after it is on disk', async () => {
  const asked = Promise.withResolvers<() => void>()
  onSync((fd, done) => asked.resolve(() => disk(fd, done)))
  let resolved = false
  const written = insert(1).then(() => (resolved = true))
  const letGo = await asked.promise
  for (let turn = 0; turn < 5; turn++) {
    await new Promise(setImmediate)
    assert.equal(await count(), 0, 'a power cut could still take it back')
  }
  assert.equal(resolved, false)
  letGo()
  await written
  assert.equal(await count(), 1)
})

test('[STO-1] while the disk is quick, a read waits for it; beside a slow one it sees the state before', async () => {
  await store.close()
  let time = 0
  store = openSqlite(
    file,
    () => {},
    () => time,
  )
  let n = 0
  while (n < 30) await insert(n++)
  const syncs: Done[] = []
  const readDuringSync = async (): Promise<number | null> => {
    onSync((_fd, done) => void syncs.push(done))
    const written = insert(n++)
    await turnsUntil(() => syncs.length > 0)
    let counted: number | null = null
    const reading = count().then((c) => (counted = c))
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
    const early = counted
    time += 2
    syncs.shift()!(null)
    await written
    assert.equal(await reading, early ?? n)
    return early
  }
  assert.equal(await readDuringSync(), null)
  assert.equal(await readDuringSync(), n - 1, 'the flush before took two milliseconds')
  assert.equal(await readDuringSync(), n - 1)
  onSync(disk)
  while (n < 70) await insert(n++)
  onSync((_fd, done) => void syncs.push(done))
  const refused = assert.rejects(insert(n), StoreUnavailable)
  await turnsUntil(() => syncs.length > 0)
  const reading = assert.rejects(count(), StoreUnavailable)
  syncs.shift()!(Object.assign(new Error('i/o error'), { code: 'EIO' }))
  await Promise.all([refused, reading])
})

test('[STO-1] transactions that arrive during a commit share the next one', async () => {
  const syncs: (() => void)[] = []
  onSync((fd, done) => void syncs.push(() => disk(fd, done)))
  const next = async (): Promise<() => void> => {
    await turnsUntil(() => syncs.length > 0)
    return syncs.shift()!
  }
  const first = insert(1)
  const letFirst = await next()
  const others = [insert(2), insert(3), insert(4)]
  letFirst()
  await first
  const letOthers = await next()
  letOthers()
  await Promise.all(others)
  assert.equal(syncs.length, 0)
  assert.equal(await count(), 4)
})

const insertLost = (n: number) => store.tx((tx) => tx.run('insert into t (n) values (?)', [n]), { mayBeLost: true })

test('[STO-16] a transaction that may be lost does not wait for the disk, and is visible', async () => {
  onSync(() => {})
  await insertLost(1)
  assert.equal(await count(), 1)
})

test('[STO-16] a transaction that may be lost resolves before a durable one, and has not seen it', async () => {
  const asked = Promise.withResolvers<() => void>()
  onSync((fd, done) => asked.resolve(() => disk(fd, done)))
  let resolved = false
  const lasting = insert(1).then(() => (resolved = true))
  const seen = store.tx(
    async (tx) => {
      await tx.run('insert into t (n) values (2)')
      return tx.rows('select n from t')
    },
    { mayBeLost: true },
  )
  assert.deepEqual(await seen, [{ n: 2 }])
  const letGo = await asked.promise
  // A read must show the resolved transaction, but nothing that is not on disk yet: so it waits.
  let counted: number | null = null
  const counting = count().then((c) => (counted = c))
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
  assert.deepEqual([resolved, counted], [false, null])
  letGo()
  await lasting
  await counting
  assert.equal(counted, 2)
})

test('[STO-16] a transaction that may be lost and fails undoes only itself', async () => {
  const [failed, lasting, lost] = await Promise.allSettled([
    store.tx(
      async (tx) => {
        await tx.run('insert into t (n) values (8)')
        throw new Error('no')
      },
      { mayBeLost: true },
    ),
    insert(1),
    insertLost(2),
  ])
  assert.deepEqual([failed!.status, lasting!.status, lost!.status], ['rejected', 'fulfilled', 'fulfilled'])
  assert.deepEqual(await store.rows('select n from t order by n'), [{ n: 1 }, { n: 2 }])
})

test('[STO-1] [OPS-13] a failed fsync is an outage: nothing takes effect, and the store is not used any more', async () => {
  onSync((_fd, done) => setImmediate(() => done(Object.assign(new Error('i/o error'), { code: 'EIO' }))))
  let hasTakenEffect = false
  const first = store.tx(async (tx) => {
    tx.afterCommit(() => (hasTakenEffect = true))
    await tx.run('insert into t (n) values (1)')
  })
  await assert.rejects(first, (error) => error instanceof StoreUnavailable && error.trouble === 'unsure')
  onSync(disk)
  await assert.rejects(insert(2), StoreUnavailable)
  await assert.rejects(count(), StoreUnavailable)
  await assert.rejects(store.ping(), StoreUnavailable)
  assert.equal(hasTakenEffect, false)
})

test('[STO-1] transactions that wait behind a commit whose fsync failed are not begun', async () => {
  const asked = Promise.withResolvers<Done>()
  onSync((_fd, done) => asked.resolve(done))
  const first = insert(1)
  const refuse = await asked.promise
  let begun = false
  const waiting = [true, false].map((mayBeLost) => store.tx(async () => void (begun = true), { mayBeLost }))
  onSync(disk)
  refuse(Object.assign(new Error('i/o error'), { code: 'EIO' }))
  await Promise.all([first, ...waiting].map((one) => assert.rejects(one, StoreUnavailable)))
  assert.equal(begun, false)
})

test('[STO-1] the log restarts while writing goes on', async () => {
  const text = 'x'.repeat(60_000)
  const rows = 32
  const most = 400_000_000
  /** The log's header counts how often it restarted. */
  const begun = (): number => {
    const header = Buffer.alloc(32)
    const log = fs.openSync(`${file}-wal`, 'r')
    fs.readSync(log, header, 0, 32, 0)
    fs.closeSync(log)
    return header.readUInt32BE(12)
  }
  await insert(0)
  const before = begun()
  let written = 0
  // Until the log restarts, rather than a fixed amount: if copying keeps up that is after 20 MB.
  for (let n = 0; begun() === before; written += rows * text.length) {
    assert.ok(written < most, `${written} bytes in one log`)
    await store.tx((tx) =>
      tx.insertMany(
        { into: 't', columns: { n: 'integer', text: 'text' } },
        Array.from({ length: rows }, () => [++n, text]),
      ),
    )
  }
})

test('[STO-1] a disk is quick once it has been for a while: not at the start, nor just after a slow flush', async (t) => {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'sensorium-test-')), 'a.db')
  t.after(() => fs.rmSync(path.dirname(file), { recursive: true }))
  fs.writeFileSync(`${file}-wal`, '')
  let now = 0
  const log = watchLog(file, () => now)
  t.after(() => log.close())
  const flush = async (ms: number) => {
    const flushed = log.sync()
    now += ms
    await flushed
  }
  assert.equal(log.isQuick(), false)
  for (const slow of [0, 3]) {
    if (slow > 0) await flush(slow)
    await flush(0)
    assert.equal(log.isQuick(), false)
    for (let i = 0; i < 25; i++) await flush(0)
    assert.equal(log.isQuick(), true)
  }
})
