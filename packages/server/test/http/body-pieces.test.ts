// Bodies in tiny pieces: one chunk for every byte.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { inFlight } from '../support/in-flight.ts'
import { rawConnection, type RawConnection } from '../support/raw-http.ts'
import { serviceForSuite } from '../support/service.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  let token: string
  before(async () => {
    token = (await service.tenant('crumbs')).admin
  })

  const head = (first: string, ...lines: string[]): string =>
    [`${first} HTTP/1.1`, 'Host: localhost', 'Transfer-Encoding: chunked', ...lines, '', ''].join('\r\n')
  const bytewise = (text: string): string => [...text].map((byte) => `1\r\n${byte}\r\n`).join('')
  /** Sends chunks of one byte until the connection is closed. */
  async function crumble({ socket, closed }: RawConnection, first: string): Promise<void> {
    socket.write(first)
    const more = (): void => {
      while (!socket.destroyed && socket.write(bytewise('x').repeat(1_000)));
    }
    socket.on('drain', more)
    more()
    await closed
  }

  test('[SAFE-40] an event in a thousand pieces is accepted', async () => {
    const event = { specversion: '1.0', type: 'a.b', source: '/s', id: 'in-crumbs', data: 'x'.repeat(900) }
    const connection = await rawConnection(service.url)
    const lines = [`Authorization: Bearer ${token}`, 'Content-Type: application/json']
    connection.write(`${head('POST /v1/events', ...lines)}${bytewise(JSON.stringify(event))}0\r\n\r\n`)
    assert.equal((await connection.reply()).status, 202)
    connection.socket.destroy()
  })

  for (const [what, first] of Object.entries({
    'of nobody': () => head('POST /v1/auth/token', 'Content-Type: application/json'),
    'of an agent': () => head('POST /v1/memories', `Authorization: Bearer ${token}`, 'Content-Type: application/json'),
    'of an import': () =>
      head('POST /v1/memories/import', `Authorization: Bearer ${token}`, 'Content-Type: application/x-ndjson'),
  })) {
    test(`[SAFE-40] a body ${what} that goes on byte by byte is 400, and the connection ends`, async () => {
      const connection = await rawConnection(service.url)
      connection.write(first() + bytewise('x'.repeat(1_100)))
      const refused = await connection.reply()
      assert.equal(refused.status, 400)
      const { code, details } = JSON.parse(refused.body).error
      assert.deepEqual([code, details.field], ['validation_failed', 'body'])
      await connection.closed
    })
  }

  for (const first of ['POST /v1/events', 'GET /healthz', 'GET /console/', 'POST /mcp', 'GET /v1/delivery/stream'])
    test(`[SAFE-40] a body sent byte by byte that ${first} does not read ends the connection`, async () => {
      const lines = first.includes('stream')
        ? [`Authorization: Bearer ${token}`]
        : ['Origin: https://elsewhere.example']
      await crumble(await rawConnection(service.url), head(first, ...lines))
      assert.equal(await inFlight(service.url), 1)
    })
})
