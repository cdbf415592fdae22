// An embedding service that responds with something odd: it costs that text its vector, and nobody anything else.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { serviceEmbedder } from '../../../src/memory/embed/service.ts'
import { ServiceFailed } from '../../../src/memory/model-service.ts'
import { fakeClock } from '../../support/fake-clock.ts'

let asked = 0
let respond: (response: ServerResponse) => void
const server = createServer((request, response) => {
  asked++
  request.resume().on('end', () => respond(response))
})
let url: string

before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => {
  server.close()
  server.closeAllConnections()
})

const json = (body: unknown) => (response: ServerResponse) => void response.end(JSON.stringify(body))
const one = (item: unknown) => json({ data: [item] })
/** Some servers begin with a byte order mark. */
const good = (response: ServerResponse) =>
  void response.end(`\ufeff${JSON.stringify({ data: [{ index: 0, embedding: [3, 4] }] })}`)

const large = gzipSync(' '.repeat(30_000_000))

const ODD: [what: string, (response: ServerResponse) => void][] = [
  ['a page', (response) => void response.end('<html>')],
  ['nothing', (response) => void response.end()],
  ['null', json(null)],
  ['no data', json({ data: {} })],
  ['an item that is null', one(null)],
  ...[-1, 1, 0.5, 1e9, '1', 'length', '__proto__', {}].map((index): (typeof ODD)[0] => [
    `the index ${JSON.stringify(index)}`,
    one({ index, embedding: [3, 4] }),
  ]),
  ['no vector', one({ index: 0 })],
  ['an empty vector', one({ index: 0, embedding: [] })],
  ['texts in place of numbers', one({ index: 0, embedding: ['3', '4'] })],
  ['a null in place of a number', one({ index: 0, embedding: [3, null] })],
  ['a vector that points nowhere', one({ index: 0, embedding: [0, 0] })],
  ['a vector that is far too long', one({ index: 0, embedding: new Array(16_001).fill(1) })],
  [
    'a small body that grows to thirty megabytes',
    (response) => {
      response.setHeader('content-encoding', 'gzip')
      response.end(large)
    },
  ],
]

for (const [what, odd] of ODD)
  test(`[EMB-4] [RCL-73] a response with ${what} fails for its tenant alone`, async () => {
    const embedder = serviceEmbedder({ url, model: 'm', apiKey: null }, fakeClock())
    respond = odd
    await assert.rejects(embedder.query('text', 'ten_a'), ServiceFailed)
    respond = good
    const before = asked
    await assert.rejects(embedder.query('text', 'ten_a'), /a moment ago/)
    assert.equal(asked, before)
    const { vector } = await embedder.query('text', 'ten_b')
    assert.deepEqual([...vector], [...Float32Array.from([0.6, 0.8])])
    await embedder.close()
  })

test('[EMB-4] a body without an end is not read any further than a vector can be long', async () => {
  const embedder = serviceEmbedder({ url, model: 'm', apiKey: null }, fakeClock())
  const closed = Promise.withResolvers<void>()
  respond = (response) => {
    response.on('close', closed.resolve)
    const write = (): void => {
      while (!response.destroyed && response.write('['.repeat(65_536)));
    }
    response.on('drain', write)
    write()
  }
  await assert.rejects(embedder.query('text', 'ten_a'), /more than 262144 bytes/)
  await closed.promise
  await embedder.close()
})

test('[EMB-4] no redirect is followed: texts go to the configured address alone', async () => {
  const embedder = serviceEmbedder({ url, model: 'm', apiKey: null }, fakeClock())
  const before = asked
  respond = (response) => void response.writeHead(307, { location: `${url}/elsewhere` }).end()
  await assert.rejects(embedder.query('text', 'ten_a'))
  assert.equal(asked, before + 1)
  await embedder.close()
})
