// How much memory request bodies may take.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeBodyRoom, makeResponseRoom } from '../../src/http/room.ts'
import type { Failure } from '../../src/kernel/failure.ts'
import { NOBODY } from '../../src/operations/call.ts'
import { onBothEngines } from '../support/engines.ts'
import { inFlight } from '../support/in-flight.ts'
import { rawConnection } from '../support/raw-http.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import { turnsUntil } from '../support/turns-until.ts'

const MIB = 1_048_576
const of = (tenantId: string, id: string) => ({ ...NOBODY, tenantId, id })
const codeOf = (work: () => void): string | null => {
  try {
    work()
    return null
  } catch (error) {
    return (error as Failure).code
  }
}

test('[SAFE-20] agents, tenants, addresses and the node each have a share, which is released again', () => {
  const room = makeBodyRoom()
  const holdings = [of('a', '1'), of('a', '1'), of('a', '1')].map((who) => room.hold(who, '::1'))
  for (const holding of holdings)
    assert.equal(
      codeOf(() => holding.grow(10 * MIB)),
      null,
    )
  const fourth = room.hold(of('a', '1'), '::1')
  assert.equal(
    codeOf(() => fourth.grow(10 * MIB)),
    'rate_limited',
  )
  assert.equal(
    codeOf(() => fourth.grow(65_536)),
    null,
    'what is short is not counted',
  )
  for (const id of ['2', '3', '4'])
    assert.equal(
      codeOf(() => room.hold(of('a', id), '').grow(10 * MIB)),
      null,
    )
  assert.equal(
    codeOf(() => room.hold(of('a', '5'), '').grow(10 * MIB)),
    'rate_limited',
    'the tenant has 64 MiB',
  )
  for (const [i, address] of ['x', 'y'].entries())
    assert.equal(
      codeOf(() => room.hold(i === 0 ? null : NOBODY, address).grow(32 * MIB)),
      null,
    )
  for (const tenantId of ['b', 'c'])
    assert.equal(
      codeOf(() => room.hold(of(tenantId, '1'), '').grow(30 * MIB)),
      null,
    )
  assert.equal(
    codeOf(() => room.hold(of('d', '1'), '').grow(10 * MIB)),
    'service_unavailable',
    'the node has 192 MiB',
  )
  for (const holding of holdings) holding.release()
  assert.equal(
    codeOf(() => fourth.grow(10 * MIB)),
    null,
  )
})

test('[SAFE-20] a body that was refused takes nothing of what its agent has later', () => {
  const room = makeBodyRoom()
  const others = ['1', '2'].map((id) => room.hold(of('a', id), ''))
  for (const other of others) other.grow(32 * MIB)
  const refused = room.hold(of('a', 'v'), '')
  assert.equal(
    codeOf(() => refused.grow(10 * MIB)),
    'rate_limited',
  )
  for (const other of others) other.release()
  room.hold(of('a', 'v'), '').grow(30 * MIB)
  refused.release()
  assert.equal(
    codeOf(() => room.hold(of('a', 'v'), '').grow(30 * MIB)),
    'rate_limited',
  )
})

test('[SAFE-68] responses that must be sent count against their own agent alone', () => {
  const room = makeResponseRoom()
  const loud = room.hold(of('a', 'loud'), '')
  loud.growAnyway(300 * MIB)
  assert.equal(
    codeOf(() => room.hold(of('a', 'loud'), '').grow(1 * MIB)),
    'rate_limited',
  )
  for (const other of [of('a', 'quiet'), of('b', 'quiet')])
    assert.equal(
      codeOf(() => room.hold(other, '').grow(10 * MIB)),
      null,
    )
  loud.release()
  assert.equal(
    codeOf(() => room.hold(of('a', 'loud'), '').grow(1 * MIB)),
    null,
  )
})

test('[SAFE-20] strangers have a third of the room together, and the next address finds some of it', () => {
  const room = makeBodyRoom()
  const hold = (address: string, bytes: number) => codeOf(() => room.hold(null, address).grow(bytes))
  const addresses = Array.from({ length: 20 }, (_, i) => `203.0.113.${i}`)
  while (addresses.filter((address) => hold(address, 100_000) === null).length > 0);
  assert.ok(room.taken <= 64 * MIB, `${room.taken}`)
  assert.equal(hold('198.51.100.7', 2 * MIB), null)
  for (let i = 0; i < 1_000; i++) hold(`2001:db8:${i}::1`, 100_000)
  assert.ok(room.taken <= 64 * MIB, `${room.taken}`)
  assert.equal(hold('198.51.100.8', 100_000), 'service_unavailable')
  for (const tenantId of ['a', 'b', 'c', 'd'])
    assert.equal(
      codeOf(() => room.hold(of(tenantId, '1'), '').grow(32 * MIB)),
      null,
    )
})

test('[SAFE-20] a growing body is counted as it grows, and a body of any size fits alone', () => {
  const room = makeBodyRoom()
  const large = room.hold(of('a', '1'), '')
  for (let bytes = 0; bytes <= 100 * MIB; bytes += 100_000) large.grow(bytes)
  assert.equal(room.taken, 104_800_000)
  assert.equal(
    codeOf(() => room.hold(of('a', '2'), '').grow(MIB)),
    'rate_limited',
  )
  large.release()
  large.release()
  assert.equal(room.taken, 0)
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)

  test('[SAFE-20] bodies that are announced and never sent count against their agent, and no other', async () => {
    const [loud, quiet] = [await tenant.agent(), await tenant.agent()]
    // A caller that was seen before is identified in the turn in which its request comes, so requests stay in order.
    assert.equal((await service.call('GET /v1/memories', { token: loud.token })).status, 200)
    const head = (token: string, length: string): string =>
      `POST /v1/memories HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${length}\r\n\r\n`
    const announced = `Content-Length: ${10 * MIB}`
    const holding = await Promise.all([1, 2, 3].map(() => rawConnection(service.url)))
    for (const connection of holding) connection.write(head(loud.token, announced) + '{"a":')
    await turnsUntil(async () => (await inFlight(service.url)) >= 4)
    const fourth = await rawConnection(service.url)
    fourth.write(head(loud.token, announced))
    const refused = await fourth.reply()
    assert.equal(refused.status, 429, refused.body)
    assert.equal(JSON.parse(refused.body).error.details.window_seconds, 0)
    // With chunks the size is known only while they arrive.
    const chunked = await rawConnection(service.url)
    chunked.write(head(loud.token, 'Transfer-Encoding: chunked'))
    const chunk = `${MIB.toString(16)}\r\n${'x'.repeat(MIB)}\r\n`
    for (let i = 0; i < 4; i++) chunked.write(chunk)
    assert.equal((await chunked.reply()).status, 429)
    const memory = { type: 'semantic', scope: 'agent', title: 'T', content: 'C' }
    const metadata = { text: 'x'.repeat(200_000) }
    const post = (token: string, body: object) => service.call('POST /v1/memories', { token, body })
    assert.equal((await post(loud.token, memory)).status, 201, 'what is short passes')
    assert.equal((await post(quiet.token, { ...memory, metadata })).status, 201)
    for (const connection of [...holding, fourth, chunked]) connection.socket.destroy()
    await turnsUntil(async () => (await inFlight(service.url)) <= 1)
    assert.equal((await post(loud.token, { ...memory, metadata })).status, 201, 'all of it came back')
  })
})
