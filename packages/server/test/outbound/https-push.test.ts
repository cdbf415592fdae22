// Pushes to https: where they are made, and how many handshakes an endpoint is given.
import assert from 'node:assert/strict'
import diagnostics from 'node:diagnostics_channel'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import https from 'node:https'
import net, { type AddressInfo, type Socket } from 'node:net'
import tls from 'node:tls'
import { test, type TestContext } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { makeMetrics } from '../../src/http/metrics.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeHandshakes, type EndHandshake } from '../../src/outbound/handshakes.ts'
import { makePostByScheme } from '../../src/outbound/post-by-scheme.ts'
import { makePublicPost, type Post } from '../../src/outbound/post.ts'
import { makePush } from '../../src/outbound/push.ts'
import { makeParts } from '../../src/parts.ts'
import { onBothEngines } from '../support/engines.ts'
import { fakeClock, type FakeClock } from '../support/fake-clock.ts'
import type { Service, TestAgent } from '../support/service.ts'
import { pushSuite } from './push-suite.ts'
import { MAILBOX, startReceiver, until } from './tools.ts'

const OTHER = { tenantId: 'tnt', recipientId: 'agt_other' }
const REFUSED = /^connection failed: unable to verify the first certificate/

const pem = (name: string): string => readFileSync(new URL(`../support/tls/${name}.pem`, import.meta.url), 'utf8')

async function listen(t: TestContext, server: net.Server) {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => sockets.size }
}

function trustOurs(t: TestContext): void {
  const known = tls.getCACertificates('default')
  tls.setDefaultCACertificates([...known, pem('ca')])
  t.after(() => tls.setDefaultCACertificates(known))
}

/** An endpoint whose certificate nobody trusts. */
const startRefused = (t: TestContext) =>
  listen(
    t,
    https
      .createServer({ key: pem('server-key'), cert: pem('server') }, (_, response) => void response.end())
      .on('tlsClientError', () => {}),
  )

/** An endpoint that takes connections and says nothing. */
const startSilent = (t: TestContext) => listen(t, net.createServer())

function bySchemeFor(t: TestContext, file?: URL) {
  const tools = { clock: fakeClock(), log: makeLogger('silent'), allowPrivate: true }
  const post = makePostByScheme(file ? { ...tools, file } : tools)
  t.after(() => post.close())
  return post
}

test('[PUSH-20] a push to https is made in a thread of its own, with the same result', async (t) => {
  const [endpoint, plain] = [await startRefused(t), await startReceiver()]
  t.after(() => plain.stop())
  const post = bySchemeFor(t)
  let madeHere = 0
  const count = (): void => void madeHere++
  diagnostics.subscribe('net.client.socket', count)
  t.after(() => diagnostics.unsubscribe('net.client.socket', count))
  // However the scheme is written.
  const refused = (await post(endpoint.origin, {}, '{}', MAILBOX)) as { error: string }
  assert.match(refused.error, REFUSED)
  assert.deepEqual(await post(` HTTPS${endpoint.origin.slice(5)}`, {}, '{}', OTHER), refused)
  assert.deepEqual([endpoint.connections(), madeHere], [2, 0])
  assert.deepEqual(await post(plain.url, {}, '{}', MAILBOX), { status: 204, retryAfter: undefined })
  assert.equal(madeHere, 1)
  const here = makePublicPost(fakeClock(), { allowPrivate: true })
  t.after(() => here.close())
  assert.deepEqual(await here(endpoint.origin, {}, '{}', MAILBOX), refused)
  assert.deepEqual(refused, { error: refused.error, failedHandshake: true })
})

test('[PUSH-20] [PUSH-13] the thread refuses what is not a public address', async (t) => {
  const endpoint = await startSilent(t)
  const post = makePostByScheme({ clock: fakeClock(), log: makeLogger('silent'), allowPrivate: false })
  t.after(() => post.close())
  for (const host of ['127.0.0.1', 'localhost'])
    assert.deepEqual(await post(endpoint.origin.replace('127.0.0.1', host), {}, '{}', MAILBOX), {
      error: 'not a public address',
    })
  assert.equal(endpoint.connections(), 0)
})

test('[PUSH-20] if the thread ends its pushes fail, and the next push starts another', async (t) => {
  const post = bySchemeFor(t, new URL('./dying-thread.ts', import.meta.url))
  const send = (path: string) => post(`https://a.example${path}`, {}, '{}', MAILBOX)
  const failed = { error: 'connection failed: the push thread ended' }
  assert.deepEqual(await Promise.all([send('/wait'), send('/end')]), [failed, failed])
  assert.deepEqual(await send('/'), { status: 200 })
})

test('[PUSH-20] a shutdown ends the pushes of the thread', async (t) => {
  const endpoint = await startSilent(t)
  const post = bySchemeFor(t)
  const sent = post(endpoint.origin, {}, '{}', MAILBOX)
  await until(() => endpoint.connections() === 1)
  await post.close()
  const interrupted = { error: 'interrupted: the node was shutting down' }
  assert.deepEqual([await sent, await post(endpoint.origin, {}, '{}', MAILBOX)], [interrupted, interrupted])
})

test('[PUSH-21] an agent makes one handshake with an origin until one has succeeded, and all end in time', async (t) => {
  const endpoint = await startSilent(t)
  const clock = fakeClock()
  const post = makePublicPost(clock, { allowPrivate: true })
  t.after(() => post.close())
  const sent = Array.from({ length: 8 }, (_, i) => post(`${endpoint.origin}/?${i}`, {}, '{}', MAILBOX))
  const ofOther = post(endpoint.origin, {}, '{}', OTHER)
  await until(() => endpoint.connections() === 2)
  for (let i = 0; i < 50; i++) await new Promise(setImmediate)
  assert.equal(endpoint.connections(), 2)
  await clock.advance(15_000)
  const late = { error: 'no response within 15 s' }
  assert.deepEqual(await Promise.all(sent), [late, ...Array(7).fill({ ...late, notSent: true })])
  assert.deepEqual(await ofOther, late)
  assert.equal(endpoint.connections(), 2)
})

test('[PUSH-21] a push that gets a kept connection does not wait for the handshakes of others', async (t) => {
  trustOurs(t)
  const held: ServerResponse[] = []
  const server = https.createServer({ key: pem('server-key'), cert: pem('server') }, (_, response) => {
    if (held.push(response) !== 2) response.end()
  })
  let accepted = 0
  // Only the first connection is served, as by a balancer behind which one server is left.
  const endpoint = await listen(
    t,
    net.createServer((socket) => void (++accepted === 1 && server.emit('connection', socket))),
  )
  const post = makePublicPost(fakeClock(), { allowPrivate: true })
  t.after(() => post.close())
  const ok = { status: 200, retryAfter: undefined }
  const send = () => post(endpoint.origin, {}, '{}', MAILBOX)
  assert.deepEqual(await send(), ok)
  const slow = send()
  await until(() => held.length === 2)
  const hanging = Array.from({ length: 6 }, send)
  await until(() => endpoint.connections() === 5)
  held[1]!.end()
  assert.deepEqual(await slow, ok)
  assert.deepEqual(await send(), ok)
  assert.equal(endpoint.connections(), 5, 'four handshakes at once, and the one that was kept')
  void post.close()
  const results = await Promise.all(hanging)
  assert.equal(results.filter((result) => 'notSent' in result).length, 2)
})

test('[PUSH-21] a push that a kept connection may have brought counts, though no other could be made', async (t) => {
  trustOurs(t)
  const held: ServerResponse[] = []
  const server = https.createServer({ key: pem('server-key'), cert: pem('server') }, (_, response) => {
    if (held.push(response) === 1) response.end()
  })
  let accepted = 0
  const endpoint = await listen(
    t,
    net.createServer((socket) => void (++accepted === 1 && server.emit('connection', socket))),
  )
  const clock = fakeClock()
  const post = makePublicPost(clock, { allowPrivate: true })
  t.after(() => post.close())
  const send = () => post(endpoint.origin, {}, '{}', MAILBOX)
  await send()
  const received = send()
  await until(() => held.length === 2)
  const hanging = Array.from({ length: 4 }, send)
  await until(() => endpoint.connections() === 5)
  held[1]!.socket!.destroy()
  for (let i = 0; i < 50; i++) await new Promise(setImmediate)
  await clock.advance(15_000)
  assert.deepEqual(await received, { error: 'no response within 15 s', isLate: true })
  await Promise.all(hanging)
})

test('[PUSH-21] after a handshake has succeeded there are four at once, until one fails', async () => {
  const clock = fakeClock()
  const handshakes = makeHandshakes(clock, new AbortController().signal)
  const begun: EndHandshake[] = []
  for (let i = 0; i < 20; i++) void handshakes.begin('agt', 'https://a.example').then((ended) => begun.push(ended))
  const begunAfter = async (end?: () => void): Promise<number> => {
    end?.()
    await new Promise(setImmediate)
    return begun.length
  }
  assert.equal(await begunAfter(), 1)
  assert.equal(await begunAfter(() => begun[0]!(true)), 5)
  assert.equal(await begunAfter(() => begun[0]!(false)), 5, 'only the first call counts')
  assert.equal(await begunAfter(() => begun[1]!(true)), 6)
  assert.equal(await begunAfter(() => begun[2]!(null)), 7, 'it was not tried')
  for (const n of [3, 4, 5, 6]) assert.equal(await begunAfter(() => begun[n]!(false)), 7)
  await clock.advance(4_999)
  assert.equal(await begunAfter(), 7)
  await clock.advance(1)
  assert.equal(await begunAfter(), 8, 'one, after five seconds')
  assert.equal(await begunAfter(() => begun[7]!(true)), 12)
})

test('[PUSH-20] the time that a push waited for the thread counts toward its limit', async (t) => {
  const endpoint = await startSilent(t)
  const clock = fakeClock()
  const post = makePublicPost(clock, { allowPrivate: true })
  t.after(() => post.close())
  const sent = post(endpoint.origin, {}, '{}', MAILBOX, 14_000)
  await until(() => endpoint.connections() === 1)
  await clock.advance(1_000)
  assert.equal(((await sent) as { error: string }).error, 'no response within 15 s')
})

/**
 * Pushes what waits for the agent, with one attempt for each. The service itself pushes to https in a thread, on the
 * clock of the machine, and is not told of the endpoint.
 */
async function pushOnce(
  t: TestContext,
  { clock: { rest, now }, config, store, secrets }: Service,
  agent: TestAgent,
  endpoint: string,
  postOn: (clock: FakeClock) => Post,
) {
  await rest()
  await store.tx((tx) =>
    tx.run("update agents set delivery_mode = 'push', delivery_endpoint = ? where id = ?", [endpoint, agent.id]),
  )
  const clock = fakeClock(now())
  const log = makeLogger('silent')
  const once = { ...config, maxAttempts: 1 }
  const parts = makeParts({ config: once, store, secrets, clock, log, metrics: makeMetrics() })
  await parts.push.close()
  const push = makePush({ ...parts, post: postOn(clock), observe() {} })
  t.after(() => push.close())
  return { push, clock }
}

onBothEngines((engine) => {
  const suite = pushSuite(engine)

  test('[PUSH-21] [PUSH-17] a failed handshake opens the breaker, also for other paths of the origin', async (t) => {
    const { service, tenant, receiver, calls } = suite
    const endpoint = await startRefused(t)
    const agent = await calls.pushed(tenant, `${endpoint.origin}/1`)
    const health = async () => (await calls.queue(tenant, agent)).push
    for (let i = 0; i < 3; i++) await calls.publish(agent)
    await until(async () => (await health())['state'] === 'open')
    assert.equal((await health())['consecutive_failures'], 1)
    assert.match(String((await health())['last_error']), REFUSED)
    await calls.setMode(tenant, agent, 'push', `${endpoint.origin}/2?a=b`)
    await until(async () => (await health())['last_error'] === null)
    await service.clock.advance(10_000)
    assert.deepEqual([(await health())['state'], endpoint.connections()], ['open', 1])
    await calls.setMode(tenant, agent, 'push', receiver.url)
    await until(() => receiver.all.length === 3)
    assert.equal((await health())['state'], 'closed')
  })

  test('[PUSH-21] a push that had no turn before its time was over uses up no attempt, not even the last', async (t) => {
    trustOurs(t)
    const { service, tenant, calls } = suite
    let requests = 0
    const server = https.createServer({ key: pem('server-key'), cert: pem('server') }, (_, response) => {
      requests++
      response.setHeader('connection', 'close').end()
    })
    let isSilent = false
    let accepted = 0
    const endpoint = await listen(
      t,
      net.createServer((socket) => {
        // Seven are served: by then the endpoint is given more at once than the four handshakes.
        isSilent ||= accepted === 7
        accepted++
        if (!isSilent) server.emit('connection', socket)
      }),
    )
    const agent = await tenant.agent()
    await calls.interest(agent)
    for (let i = 0; i < 13; i++) await calls.publish(agent)
    let posted = 0
    const { push, clock } = await pushOnce(t, service, agent, endpoint.origin, (itsClock) => {
      const post = makePublicPost(itsClock, { allowPrivate: true })
      const counted: typeof post = (...given) => {
        posted++
        return post(...given)
      }
      counted.close = post.close
      return counted
    })
    await push.runOnce()
    await until(() => accepted === 11 && posted === 13, 'four handshakes, and two that wait')
    assert.equal(requests, 7)
    isSilent = false
    accepted = -1_000
    await clock.advance(15_000)
    const states = async () => (await calls.rows(agent)).map(({ state, attempts }) => `${state} ${attempts}`).sort()
    const become = (wanted: string[]) => until(async () => isDeepStrictEqual(await states(), wanted), wanted.join(', '))
    const served = (count: number) => Array<string>(count).fill('acknowledged 1')
    const cut = Array<string>(4).fill('dead_lettered 1')
    // The clock stands still while outcomes are stored: a slow disk would make the leases lapse, and nothing sweeps
    // here.
    await become([...served(7), ...cut, 'ready 0', 'ready 0'])
    await clock.advance(5_000) // the rest after the handshakes that failed
    await push.runOnce()
    await become([...served(9), ...cut])
  })

  test('[PUSH-21] [DLV-6] a handshake that began late on the last attempt leaves its error', async (t) => {
    const { service, tenant, calls } = suite
    const agent = await tenant.agent()
    await calls.interest(agent)
    await calls.publish(agent)
    const late: Post = Object.assign(async () => ({ error: 'no response within 15 s', isLate: true as const }), {
      close: async () => {},
    })
    const { push } = await pushOnce(t, service, agent, 'https://a.example', () => late)
    await push.runOnce()
    const { dlq_reason } = await calls.state(agent, 'dead_lettered')
    assert.equal(dlq_reason, 'Not acknowledged after 1 attempt over 0 s; last error: no response within 15 s')
  })
})
