// How much memory responses may take that nobody has read yet.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeResponseRoom } from '../../src/http/room.ts'
import { NOBODY } from '../../src/operations/call.ts'
import { onBothEngines } from '../support/engines.ts'
import { inFlight } from '../support/in-flight.ts'
import { rawConnection, type RawConnection } from '../support/raw-http.ts'
import { agentForSuite, serviceForSuite, tenantForSuite, type TestAgent } from '../support/service.ts'

const MIB = 1_048_576
const REFUSED = { code: 'rate_limited' }
const of = (tenantId: string, id: string) => ({ ...NOBODY, tenantId, id })

test('[SAFE-68] half of the room of a tenant and of the node is for those that take nothing of it', () => {
  const room = makeResponseRoom()
  const grow = (tenant: string, agent: string): void => room.hold(of(tenant, agent), '').grow(MIB)
  const done = room.hold(of('a', '1'), '')
  for (let i = 0; i < 32; i++) grow('a', '1')
  assert.throws(() => grow('a', '1'), REFUSED)
  done.growAnyway(MIB)
  assert.equal(room.taken, 32 * MIB)
  assert.throws(() => room.refuseFull(of('a', '1')), REFUSED)
  done.release()
  room.refuseFull(of('a', '2'))
  for (let agent = 2; agent < 34; agent++) grow('a', String(agent))
  assert.throws(() => grow('a', '2'), REFUSED)
  assert.throws(() => grow('a', '34'), REFUSED)
  for (let i = 0; i < 32; i++) grow('b', '1')
  assert.equal(room.taken, 96 * MIB)
  assert.throws(() => grow('b', '2'), { code: 'service_unavailable' })
  grow('c', '1')
  assert.throws(() => grow('c', '2'), { code: 'service_unavailable' })
  grow('d', '1')
})

test('[SAFE-68] where a response had no room, no other of its route is made before one of the agent has gone', () => {
  const room = makeResponseRoom()
  const [first] = Array.from({ length: 31 }, () => {
    const one = room.hold(of('a', '1'), '', '/events')
    one.grow(MIB)
    return one
  })
  const again = (agent: string, route: string) => () => room.refuseAgain(of('a', agent), route)
  again('1', '/events')()
  assert.throws(() => room.hold(of('a', '1'), '', '/events').grow(2 * MIB), REFUSED)
  room.refuseFull(of('a', '1'))
  assert.throws(again('1', '/events'), REFUSED)
  again('1', '/memories')()
  again('2', '/events')()
  first!.release()
  again('1', '/events')()
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const greedy = agentForSuite(tenant)
  const neighbour = agentForSuite(tenant)
  const DATA = 'x'.repeat(950_000)
  const CONNECTIONS = 6
  /** As many are under way on a connection, behind the first. */
  const BEHIND = 7
  const REQUESTS = CONNECTIONS * BEHIND

  async function publish(agent: TestAgent, id: string, data = DATA): Promise<void> {
    const body = { specversion: '1.0', type: 'long.one', source: '/s', id, data }
    assert.equal((await service.call('POST /v1/events', { token: agent.token, body })).status, 202)
  }

  const get = (path: string, { token }: TestAgent): string =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`

  /** Sends a request many times. The kernel takes none of the responses: each is behind that of a poll that waits. */
  async function unread(path: string): Promise<RawConnection[]> {
    const opened = await Promise.all(Array.from({ length: CONNECTIONS }, () => rawConnection(service.url)))
    for (const { write } of opened)
      write(get('/v1/delivery/poll?wait=20', neighbour) + get(path, greedy).repeat(BEHIND))
    return opened
  }

  /** Waits until no response is being made. */
  async function made(): Promise<void> {
    for (let before = -1, same = 0; same < 20; ) {
      const now = await inFlight(service.url)
      same = now === before ? same + 1 : 0
      before = now
      await service.clock.rest()
    }
  }

  /** Ends the polls in front, reads all responses and returns how many there are of each status. */
  async function statuses(opened: readonly RawConnection[]): Promise<Record<number, number>> {
    const counts: Record<number, number> = {}
    const read = opened.map(async ({ socket, reply }) => {
      await reply()
      for (let i = 0; i < BEHIND; i++) {
        const { status } = await reply()
        counts[status] = (counts[status] ?? 0) + 1
      }
      socket.destroy()
    })
    await service.clock.advance(20_000)
    await Promise.all(read)
    return counts
  }

  test('[SAFE-68] an agent that reads no list gets 32 MiB of them, and others are served', async () => {
    const body = { type: 'open', description: 'x'.repeat(4_096) }
    for (let i = 0; i < 200; i++)
      assert.equal(
        (await service.call('POST /v1/channels', { token: tenant.admin, body: { ...body, name: `c${i}` } })).status,
        201,
      )
    const length = (await service.call('GET /v1/channels?limit=200', { token: neighbour.token })).text.length
    assert.ok(length > 800_000)
    const opened = await unread('/v1/channels?limit=200')
    await made()
    const channels = ({ token }: TestAgent) => service.call('GET /v1/channels?limit=200', { token })
    const refused = await channels(greedy)
    assert.deepEqual([refused.status, refused.body.error.details.limit], [429, 32 * MIB])
    assert.equal(refused.headers.get('retry-after'), '1')
    assert.equal((await channels(neighbour)).status, 200)
    const list = await service.call('GET /v1/memories', { token: greedy.token })
    assert.equal(list.status, 200, 'a short response takes no room')
    const { 200: sent, 429: not } = await statuses(opened)
    assert.equal(sent! + not!, REQUESTS)
    assert.ok(sent! * length <= 32 * MIB, `${sent} were sent`)
    while ((await inFlight(service.url)) > 1) await service.clock.rest()
    assert.equal((await channels(greedy)).status, 200)
  })

  test('[SAFE-68] a poll without room puts back what it leased', async () => {
    const body = { event_type: 'long.*', priority: 0, enrichment_depth: 'none' }
    await service.call(`POST /v1/agents/${greedy.id}/interests`, { token: greedy.token, body })
    for (let i = 0; i < REQUESTS; i++) await publish(neighbour, `poll-${i}`)
    const opened = await unread('/v1/delivery/poll?limit=1')
    await made()
    const { body: queue } = await service.call(`GET /v1/agents/${greedy.id}/queue`, { token: greedy.token })
    const { 200: sent, 429: not } = await statuses(opened)
    assert.equal(sent! + not!, REQUESTS)
    assert.ok(sent! * DATA.length <= 32 * MIB, `${sent} were sent`)
    assert.deepEqual([queue.leased, queue.pending], [sent, not])
    await service.clock.advance(11_000)
    const later = await service.call('GET /v1/delivery/poll?limit=100', { token: greedy.token })
    const attempts = later.body.deliveries.map(({ attempt_count: count }: { attempt_count: number }) => count)
    assert.equal(attempts.length, REQUESTS)
    assert.equal(attempts.filter((count: number) => count === 1).length, not)
  })
})
