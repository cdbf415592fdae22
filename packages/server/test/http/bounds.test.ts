// How many polls and streams one agent may have open at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { inFlight } from '../support/in-flight.ts'
import { rawConnection } from '../support/raw-http.ts'
import { serviceForSuite, tenantForSuite, type TestAgent } from '../support/service.ts'
import { turnsUntil } from '../support/turns-until.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)

  async function openMany(agent: TestAgent, path: string, count: number) {
    const connections = await Promise.all(Array.from({ length: count }, () => rawConnection(service.url)))
    for (const { write } of connections)
      write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${agent.token}\r\n\r\n`)
    return connections
  }
  const metric = async (name: string): Promise<number> =>
    Number(new RegExp(`^${name} (\\d+)$`, 'm').exec((await service.call('GET /metrics')).text)![1])

  test('[SAFE-14] of 33 waiting polls one is refused, and other agents poll', async () => {
    const [agent, other] = [await tenant.agent(), await tenant.agent()]
    const connections = await openMany(agent, '/v1/delivery/poll?wait=20', 33)
    const first = await Promise.race(connections.map((connection) => connection.reply()))
    assert.equal(first.status, 429)
    assert.deepEqual(JSON.parse(first.body).error.details, { retry_after_seconds: 1, limit: 32, window_seconds: 0 })
    assert.equal((await service.call('GET /v1/delivery/poll', { token: agent.token })).status, 200)
    await service.call(`POST /v1/agents/${other.id}/test-event`, { token: tenant.admin })
    const { body } = await service.call('GET /v1/delivery/poll?wait=20', { token: other.token })
    assert.equal(body.count, 1)
    for (const { socket } of connections) socket.destroy()
    // Polls whose client disconnected are no longer counted.
    await turnsUntil(async () => (await inFlight(service.url)) <= 1)
    await service.call(`POST /v1/agents/${agent.id}/test-event`, { token: tenant.admin })
    assert.equal((await service.call('GET /v1/delivery/poll?wait=20', { token: agent.token })).body.count, 1)
  })

  test('[SAFE-14] the ninth stream of an agent is refused', async () => {
    const agent = await tenant.agent()
    const connections = await openMany(agent, '/v1/delivery/stream', 8)
    await turnsUntil(async () => (await metric('sensorium_streams')) >= 8)
    const refused = await service.call('GET /v1/delivery/stream', { token: agent.token })
    assertError(refused, 'rate_limited', { limit: 8, window_seconds: 0 })
    for (const { socket } of connections) socket.destroy()
    await turnsUntil(async () => (await metric('sensorium_streams')) === 0)
  })

  test('[SAFE-3] a known caller is served, however many requests strangers at its address have in hand', async () => {
    const agent = await tenant.agent()
    assert.equal((await service.call(`GET /v1/agents/${agent.id}`, { token: agent.token })).status, 200)
    const strangers = await Promise.all(Array.from({ length: 512 }, () => rawConnection(service.url)))
    for (const { write } of strangers) {
      write('POST /v1/auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{')
    }
    // One more stranger is refused as soon as all of them have arrived.
    await turnsUntil(async () => (await service.call('GET /v1/agents')).status === 429)
    assert.equal((await service.call(`GET /v1/agents/${agent.id}`, { token: agent.token })).status, 200)
    for (const { socket } of strangers) socket.destroy()
  })
})
