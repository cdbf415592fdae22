import assert from 'node:assert/strict'
import { once } from 'node:events'
import net, { type AddressInfo, type Server, type Socket } from 'node:net'
import { after, afterEach, before, test } from 'node:test'
import { letIn } from '../../src/kernel/let-in.ts'
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

/** They have all knocked when this returns, and nobody has been let in. */
function connect(count: number): void {
  const { port } = server.address() as AddressInfo
  clients = Array.from({ length: count }, () => net.connect({ host: '127.0.0.1', port }).on('error', () => {}))
}

/** How many steps are made until all have been let in. */
async function stepsUntil(count: number, step: () => Promise<unknown>): Promise<number> {
  let steps = 0
  while (accepted.length < count) {
    await step()
    steps++
  }
  return steps
}

test('[LOAD-1] who connects at once is let in before few long steps, and not one before each', async () => {
  connect(96)
  const steps = await stepsUntil(96, () => letIn(6, () => 0))
  assert.ok(steps <= 8, `${steps} steps`)
})

test('[LOAD-1] a flood of connections stops nobody: at most 32 come in before a step', async () => {
  connect(200)
  for (let seen = 0; accepted.length < 200; seen = accepted.length) {
    await letIn(6, () => 0)
    assert.ok(accepted.length - seen <= 33, `${accepted.length - seen} came in at once`)
  }
})

test('[LOAD-1] those who take long are let in for six milliseconds and no longer', async () => {
  connect(64)
  let ms = 0
  // Each turn takes two.
  for (let seen = 0; accepted.length < 64; seen = accepted.length) {
    await letIn(100, () => (ms += 2))
    assert.ok(accepted.length - seen <= 5, `${accepted.length - seen} came in at once`)
  }
})

test('[LOAD-1] before a short step they are let in for no longer than the last one took', async () => {
  connect(32)
  let ms = 0
  for (let seen = 0; accepted.length < 32; seen = accepted.length) {
    await letIn(0.3, () => (ms += 2))
    assert.ok(accepted.length - seen <= 2, `${accepted.length - seen} came in at once`)
  }
})

test('[LOAD-1] on SQLite, where a commit is a long step, they come in before it', async () => {
  const { env, drop } = await sqlite.fresh()
  const store = openSqlite(
    databaseFile(env['DATA_DIR']!),
    () => {},
    () => 0,
  )
  await store.tx((tx) => tx.run('create table t (n integer)'))
  // One that need not wait for the disk: nothing but the step itself lets anybody in.
  const step = () => store.tx((tx) => tx.run('insert into t values (1)'), { mayBeLost: true })
  connect(96)
  const steps = await stepsUntil(96, step)
  assert.ok(steps <= 8, `${steps} transactions`)
  await store.close()
  await drop()
})
