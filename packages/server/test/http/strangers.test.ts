// What callers without a token take of a node from many addresses, and whom they do not lock out.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { inFlight } from '../support/in-flight.ts'
import { rawConnection, type RawConnection } from '../support/raw-http.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import { turnsUntil } from '../support/turns-until.ts'

onBothEngines((engine) => {
  // The tests are a proxy, and every request may come from another address.
  const service = serviceForSuite(engine, { TRUSTED_PROXIES: '127.0.0.0/8' })
  const tenant = tenantForSuite(service)
  const held: RawConnection[] = []
  after(() => {
    for (const { socket } of held) socket.destroy()
  })

  /** Sends bytes on a connection of their own. */
  async function send(bytes: string): Promise<void> {
    const connection = await rawConnection(service.url)
    held.push(connection)
    connection.write(bytes)
  }
  async function over(): Promise<void> {
    for (const { socket } of held.splice(0)) socket.destroy()
    await turnsUntil(async () => (await inFlight(service.url)) <= 1)
  }
  const request = (first: string, address: string, ...lines: string[]): string =>
    [`${first} HTTP/1.1`, 'Host: x', `X-Forwarded-For: ${address}`, ...lines, '', ''].join('\r\n')
  const stranger = async (address: string): Promise<number> =>
    (await service.call('GET /v1/agents', { headers: { 'x-forwarded-for': address } })).status

  test('[SAFE-3] strangers from thousands of addresses leave known callers their places', async () => {
    const [neighbour, waiting, unseen] = [await tenant.agent(), await tenant.agent(), await tenant.agent()]
    const headers = { 'x-forwarded-for': '10.0.0.0' }
    const polls = async ({ token } = neighbour) =>
      (await service.call('GET /v1/delivery/poll', { token, headers })).status
    assert.equal(await polls(), 200)
    // Behind a poll that waits, each of them is in hand until the poll is over.
    for (let i = 0; i < 14; i++) {
      const poll = request('GET /v1/delivery/poll?wait=20', '192.0.2.1', `Authorization: Bearer ${waiting.token}`)
      await send(poll + Array.from({ length: 255 }, (_, n) => request('GET /v1/agents', `10.0.${i}.${n}`)).join(''))
    }
    await turnsUntil(async () => (await stranger('198.51.100.7')) === 503)
    assert.equal(await polls(), 200)
    // By now the standing of its key has to be read again.
    await service.clock.advance(1_000)
    assert.equal(await stranger('198.51.100.8'), 503)
    assert.equal(await polls(), 200)
    assert.equal(await polls(unseen), 200)
    const forged = `${unseen.token.slice(0, -9)}AAAAAAAAA`
    assert.equal(await polls({ ...unseen, token: forged }), 503)
    assert.equal((await service.call('GET /healthz')).status, 200)
    await over()
    assert.equal(await stranger('198.51.100.7'), 401)
  })

  test('[SAFE-20] bodies that strangers announce and never send take no room', async () => {
    const neighbour = await tenant.agent()
    const body = { type: 'semantic', scope: 'agent', title: 'T', content: 'C', metadata: { text: 'x'.repeat(200_000) } }
    const announced = ['Content-Type: application/json', 'Content-Length: 1000000']
    for (let i = 0; i < 210; i++) await send(request('POST /v1/auth/token', `203.0.113.${i % 10}`, ...announced))
    await turnsUntil(async () => (await inFlight(service.url)) > 210)
    assert.equal((await service.call('POST /v1/memories', { token: neighbour.token, body })).status, 201)
    const exchanged = await service.call('POST /v1/auth/token', {
      body: { api_key: neighbour.key, more: 'x'.repeat(500_000) },
      headers: { 'x-forwarded-for': '203.0.113.1' },
    })
    assert.equal(exchanged.status, 200)
    await over()
  })
})
