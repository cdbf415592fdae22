import assert from 'node:assert/strict'
import { once } from 'node:events'
import net, { type AddressInfo, type Server, type Socket } from 'node:net'
import { after, afterEach, before, test } from 'node:test'
import { acceptWaiting } from '../../src/kernel/let-in.ts'
import { databaseFile } from '../../src/store/data-directory.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { sqlite } from '../support/engines.ts'

let server: Server
let accepted: Socket[] = []
let clients: Socket[] = []

before(async () => {
  server = net.createServer((socket) => {
    socket.on('error', () => {})
    accepted.push(socket)
  })
  server.listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
})
after(() => server.close())
afterEach(() => {
  for (const socket of [...clients, ...accepted]) socket.destroy()
  clients = accepted = []
})

/** Starts connections that are all waiting when this returns, and none accepted. */
function connect(count: number): void {
  const { port } = server.address() as AddressInfo
  clients = Array.from({ length: count }, () => net.connect({ host: '127.0.0.1', port }).on('error', () => {}))
}

/** Counts the steps until all connections have been accepted. */
async function stepsUntil(count: number, step: () => Promise<unknown>): Promise<number> {
  let steps = 0
  while (accepted.length < count) {
    await step()
    steps++
  }
  return steps
}

test('[LOAD-1] connections that come at once are accepted before a few long steps, not one before each', async () => {
  connect(96)
  const steps = await stepsUntil(96, () => acceptWaiting(6, () => 0))
  assert.ok(steps <= 8, `${steps} steps`)
})

test('[LOAD-1] a flood of connections stops no work: at most 32 are accepted before a step', async () => {
  connect(200)
  for (let seen = 0; accepted.length < 200; seen = accepted.length) {
    await acceptWaiting(6, () => 0)
    assert.ok(accepted.length - seen <= 33, `${accepted.length - seen} came in at once`)
  }
})

test('[LOAD-1] slow connections are accepted for at most six milliseconds before a step', async () => {
  connect(64)
  let ms = 0
  // Each reading of the clock adds two milliseconds.
  for (let seen = 0; accepted.length < 64; seen = accepted.length) {
    await acceptWaiting(100, () => (ms += 2))
    assert.ok(accepted.length - seen <= 5, `${accepted.length - seen} came in at once`)
  }
})

test('[LOAD-1] before a short step connections are accepted for no longer than the last step took', async () => {
  connect(32)
  let ms = 0
  for (let seen = 0; accepted.length < 32; seen = accepted.length) {
    await acceptWaiting(0.3, () => (ms += 2))
    assert.ok(accepted.length - seen <= 2, `${accepted.length - seen} came in at once`)
  }
})

test('[LOAD-1] before the shortest step connections are accepted for a millisecond', async () => {
  connect(32)
  let ms = 0
  const steps = await stepsUntil(32, () => acceptWaiting(0, () => (ms += 0.4)))
  assert.ok(steps <= 16, `${steps} steps`)
})

test('[LOAD-1] on SQLite, where a commit is a long step, connections are accepted before it', async () => {
  const { env, drop } = await sqlite.fresh()
  const store = openSqlite(
    databaseFile(env['DATA_DIR']!),
    () => {},
    () => 0,
  )
  await store.tx((tx) => tx.run('create table t (n integer)'))
  // A transaction that does not wait for the disk, so that only the step itself accepts connections.
  const step = () => store.tx((tx) => tx.run('insert into t values (1)'), { mayBeLost: true })
  connect(96)
  const steps = await stepsUntil(96, step)
  assert.ok(steps <= 8, `${steps} transactions`)
  await store.close()
  await drop()
})
