// Names that no name server knows are looked up by the system, which takes as long as it likes.
import assert from 'node:assert/strict'
import dgram from 'node:dgram'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { makeResolve } from '../../src/outbound/resolve.ts'
import { until } from './tools.ts'

const NO_SUCH_NAME = 0x8183

/** A name server that knows no name, and lookups of the system that end when the test says so. */
async function start(t: TestContext) {
  const socket = dgram.createSocket('udp4')
  socket.on('message', (question, { port, address }) => {
    const reply = Buffer.from(question.subarray(0, question.indexOf(0, 12) + 5))
    reply.writeUInt16BE(NO_SUCH_NAME, 2)
    reply.writeUInt16BE(0, 10)
    socket.send(reply, port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => socket.close())
  const time = { now: 0 }
  const begun: string[] = []
  const under = new Map<string, PromiseWithResolvers<string[]>>()
  const resolve = makeResolve({
    elapsed: () => time.now,
    servers: [`127.0.0.1:${socket.address().port}`],
    lookUp(hostname) {
      begun.push(hostname)
      const ending = Promise.withResolvers<string[]>()
      under.set(hostname, ending)
      return ending.promise
    },
  })
  return { resolve, time, begun, end: (hostname: string) => under.get(hostname)! }
}

/** By now every lookup that may begin has begun. */
async function someTurns(): Promise<void> {
  for (let i = 0; i < 200; i++) await new Promise(setImmediate)
}

test('[PUSH-18] names of one tenant that are looked up for ever do not hold up those of another', async (t) => {
  const { resolve, time, begun, end } = await start(t)
  const evil = Array.from({ length: 12 }, (_, i) => resolve(`x${i}.evil.test`, 'evil').catch(() => 'failed'))
  evil.push(resolve('good', 'evil').catch(() => 'failed'))
  await until(() => begun.length === 1)
  const first = begun[0]!
  const good = resolve('good', 'fine')
  await until(() => begun.length === 2)
  assert.equal(begun[1], 'good')
  end('good').resolve(['192.0.2.1'])
  assert.deepEqual(await good, ['192.0.2.1'])
  assert.deepEqual(await resolve('good', 'fine'), ['192.0.2.1'])
  await someTurns()
  assert.equal(begun.length, 2, 'one of a tenant at a time')

  // Nobody waits for the others any more when their turn comes.
  time.now = 15_000
  end(first).reject(new Error('EAI_AGAIN'))
  assert.deepEqual(
    (await Promise.all(evil)).filter((found) => found !== 'failed'),
    [[]],
  )
  assert.equal(begun.length, 2)
})

test('[PUSH-19] of many addresses the first sixteen of each family are kept, in their order', async (t) => {
  const { resolve, begun, end } = await start(t)
  const v4 = Array.from({ length: 2_000 }, (_, i) => `192.0.${i >> 8}.${i & 255}`)
  const v6 = Array.from({ length: 2_000 }, (_, i) => `2001:db8::${i.toString(16)}`)
  const found = resolve('many', 'one')
  await until(() => begun.length === 1)
  end('many').resolve(['::1', ...v4, ...v6])
  assert.deepEqual(await found, ['::1', ...v4.slice(0, 16), ...v6.slice(0, 15)])
})

test('[PUSH-18] that a name was not found is kept for ten seconds', async (t) => {
  const { resolve, time, begun, end } = await start(t)
  const found = resolve('nowhere', 'one')
  await until(() => begun.length === 1)
  time.now = 12_000
  const also = resolve('nowhere', 'one')
  end('nowhere').reject(new Error('ENOTFOUND'))
  assert.deepEqual([await found, await also], [[], []])
  time.now += 9_999
  assert.deepEqual(await resolve('nowhere', 'one'), [])
  assert.equal(begun.length, 1)
  time.now += 1
  const again = resolve('nowhere', 'one')
  await until(() => begun.length === 2)
  end('nowhere').resolve(['192.0.2.1'])
  assert.deepEqual(await again, ['192.0.2.1'])
})

test('[PUSH-18] a lookup that was not made is forgotten: the name is looked up when it is needed again', async (t) => {
  const { resolve, time, begun, end } = await start(t)
  const first = resolve('slow', 'one')
  await until(() => begun.length === 1)
  const late = assert.rejects(resolve('late', 'one'), { code: 'ENOTFOUND' })
  time.now = 15_000
  end('slow').resolve([])
  await Promise.all([first, late])
  const again = resolve('late', 'one')
  again.catch(() => begun.push('not looked up'))
  await until(() => begun.length === 2)
  assert.equal(begun[1], 'late')
  end('late').resolve(['192.0.2.1'])
  assert.deepEqual(await again, ['192.0.2.1'])
})
