// Which addresses a push may go to, and that it connects to the same address that was checked.
import assert from 'node:assert/strict'
import dgram from 'node:dgram'
import { once } from 'node:events'
import { test } from 'node:test'
import { makePost } from '../../src/outbound/post.ts'
import { makeResolve } from '../../src/outbound/resolve.ts'
import { isPublicAddress, safeAddress } from '../../src/outbound/safe-address.ts'
import { onBothEngines } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { startService } from '../support/service.ts'
import { MAILBOX, outboundCalls, startReceiver } from './tools.ts'

const REFUSED = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.100.100.200',
  '100.127.255.255',
  '127.0.0.1',
  '127.1.2.3',
  '169.254.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192',
  '192.0.2.1',
  '192.31.196.1',
  '192.52.193.1',
  '192.88.99.1',
  '192.175.48.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.9',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '168.63.129.16',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::FFFF:10.0.0.1',
  '::ffff:169.254.169.254',
  '0:0:0:0:0:ffff:c0a8:0101',
  '::127.0.0.1',
  '::8.8.8.8',
  '::ffff:0:8.8.8.8',
  '::7f00:1',
  'fe80::1',
  'fe80::1%eth0',
  'febf::1',
  'fec0::1',
  'fc00::1',
  'fd00:ec2::254',
  'fdff::1',
  'ff02::1',
  '64:ff9b::7f00:1',
  '64:ff9b::10.0.0.1',
  '64:ff9b::169.254.169.254',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2002:a00:1::1',
  '2001::1',
  '2001:db8::1',
  '2620:4f:8000::1',
  '3fff::1',
  '4000::1',
  '5f00::1',
  '100::1',
  'example.com',
  '',
  '1.2.3',
  '0x7f.1',
]
const TAKEN = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.31.195.255',
  '192.52.194.0',
  '192.167.1.1',
  '192.175.49.0',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2620:4f:8001::1',
  '2a00:1450:4001::1',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
]

test('[PUSH-13] addresses outside the public internet are recognised in every form', () => {
  for (const address of REFUSED) assert.equal(isPublicAddress(address), false, address)
  for (const address of TAKEN) assert.equal(isPublicAddress(address), true, address)
})

/** A name server that answers each query for an IPv4 address with the next of `answers`, then repeats the last. */
async function nameServer(answers: string[]) {
  const socket = dgram.createSocket('udp4')
  let asked = 0
  socket.on('message', (question, { port, address }) => {
    const isA = question.includes(Buffer.from([0, 0, 1, 0, 1]), 12)
    const end = question.indexOf(0, 12) + 5
    const head = Buffer.from(question.subarray(0, end))
    head.writeUInt16BE(0x8180, 2)
    head.writeUInt16BE(isA ? 1 : 0, 6)
    head.writeUInt32BE(0, 8)
    const answer = isA
      ? Buffer.from([
          0xc0,
          0x0c,
          0,
          1,
          0,
          1,
          0,
          0,
          0,
          0,
          0,
          4,
          ...answers[Math.min(asked++, answers.length - 1)]!.split('.').map(Number),
        ])
      : Buffer.alloc(0)
    socket.send(Buffer.concat([head, answer]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { server: `127.0.0.1:${socket.address().port}`, asked: () => asked, stop: () => socket.close() }
}

test('[PUSH-14] the connection goes to the address that was checked, whatever the name resolves to next', async () => {
  const clock = fakeClock()
  const good = await startReceiver('127.0.0.2')
  const inside = await startReceiver('127.0.0.1', good.port)
  // Here 127.0.0.2 counts as public and 127.0.0.1 as private.
  const allowed = (address: string): boolean => address === '127.0.0.2'
  const names = await nameServer(['127.0.0.2', '127.0.0.1'])
  const resolve = makeResolve({ elapsed: () => clock.now() + (shift += 60_000), servers: [names.server] })
  let shift = 0
  const post = makePost(clock, safeAddress(resolve, allowed))
  const url = `http://rebind.example:${good.port}/`
  assert.deepEqual(await post(url, {}, '{}', MAILBOX), { status: 204, retryAfter: undefined })
  assert.equal(names.asked(), 1)
  // On the kept connection the name is not resolved again; on a new one the new address is refused.
  assert.deepEqual(await post(url, {}, '{}', MAILBOX), { status: 204, retryAfter: undefined })
  post.close()
  const anew = makePost(clock, safeAddress(resolve, allowed))
  assert.deepEqual(await anew(url, {}, '{}', MAILBOX), { error: 'not a public address' })
  assert.deepEqual([good.all.length, inside.all.length], [2, 0])
  assert.equal(good.all[0]!.headers.host, `rebind.example:${good.port}`)
  anew.close()
  names.stop()
  await good.stop()
  await inside.stop()
})

test('[PUSH-13] of several addresses of a name only the public ones are used', async () => {
  const address = safeAddress(async () => ['10.0.0.1', '8.8.8.8', '::1', '2606:4700::1'], isPublicAddress)
  const lookup = address.lookupFor('tnt')
  const all = await new Promise((resolve, reject) =>
    lookup('mixed.example', { all: true }, (error, found) => (error ? reject(error) : resolve(found))),
  )
  assert.deepEqual(all, [
    { address: '8.8.8.8', family: 4 },
    { address: '2606:4700::1', family: 6 },
  ])
  const single = await new Promise((resolve, reject) =>
    lookup('mixed.example', { family: 4 }, (error, found) => (error ? reject(error) : resolve(found))),
  )
  assert.equal(single, '8.8.8.8')
})

test('[PUSH-13] address literals in odd notations are read as the address they mean', async () => {
  const clock = fakeClock()
  const receiver = await startReceiver()
  const post = makePost(
    clock,
    safeAddress(async () => assert.fail('a literal needs no name server'), isPublicAddress),
  )
  for (const host of [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '0',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '127.0.0.1.',
    '%31%32%37.0.0.1',
  ]) {
    const exchange = await post(`http://${host}:${receiver.port}/`, {}, '{}', MAILBOX)
    assert.deepEqual(exchange, { error: 'not a public address' }, host)
  }
  assert.equal(receiver.connections(), 0)
  post.close()
  await receiver.stop()
})

onBothEngines((engine) => {
  test('[PUSH-13] [POL-9] a private endpoint is refused and told why, unless PUSH_ALLOW_PRIVATE is on', async () => {
    const receiver = await startReceiver()
    const service = await startService(engine, { MAX_ATTEMPTS: '1' })
    const calls = outboundCalls(service)
    const tenant = await service.tenant()
    // The error does not tell a name with a private address from a name that does not exist.
    for (const host of ['127.0.0.1', 'localhost', '[::1]', 'no-such-name.invalid']) {
      const agent = await calls.pushed(tenant, `http://${host}:${receiver.port}/`)
      await calls.publish(agent)
      const { dlq_reason } = await calls.state(agent, 'dead_lettered')
      assert.match(dlq_reason!, /^Push failed after 1 attempt over \d+ s; last error: not a public address$/)
      assert.equal((await calls.queue(tenant, agent)).push['last_error'], 'not a public address')
    }
    assert.equal(receiver.connections(), 0)
    await service.stop()
    await receiver.stop()
  })
})
