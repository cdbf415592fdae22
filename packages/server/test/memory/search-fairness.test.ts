// Searches of tenants wait for each other in turn: counted at the model that they are embedded by, whose answers this
// test holds back.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { startService, type Service, type TestAgent } from '../support/service.ts'

/** As many queries as are embedded at once. */
const AT_ONCE = 16
/** More of one agent than this are refused, here or when they are looked for. */
const WAITING = 10

/** A model that answers when it is told to. */
async function patientModel() {
  const asked: string[] = []
  const held: (() => void)[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { input } = JSON.parse(Buffer.concat(chunks).toString()) as { input: string[] }
    asked.push(input[0]!)
    held.push(() => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ data: input.map((_, index) => ({ index, embedding: [1, 0, 0] })) }))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { asked, held, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}

onBothEngines((engine) => {
  let model: Awaited<ReturnType<typeof patientModel>>
  let service: Service
  before(async () => {
    model = await patientModel()
    service = await startService(engine, { EMBEDDINGS: model.url, EMBEDDINGS_MODEL: 'patient' })
  })
  after(async () => {
    await service.stop()
    model.close()
  })

  test('[RCL-3] a search of another tenant is the next one, however many of one agent wait', async () => {
    const [loud, quiet] = [await (await service.tenant()).agent(), await (await service.tenant()).agent()]
    const search = async ({ token }: TestAgent, query: string): Promise<number> =>
      (await service.call('POST /v1/memories/search', { token, body: { query } })).status
    const flood = Array.from({ length: AT_ONCE + WAITING }, (_, i) => search(loud, `loud ${i}`))
    while (model.asked.length < AT_ONCE) await new Promise(setImmediate)
    const neighbour = search(quiet, 'quiet')
    // It is among those that wait once another request of its own has been answered.
    assert.equal((await service.call('GET /v1/memories', { token: quiet.token })).status, 200)
    for (let done = 0; done < AT_ONCE + WAITING + 1; done++) {
      while (model.held.length === 0) await new Promise(setImmediate)
      model.held.shift()!()
    }
    assert.deepEqual(new Set(await Promise.all([...flood, neighbour])), new Set([200]))
    const place = model.asked.indexOf('quiet') - AT_ONCE
    assert.ok(place >= 0 && place <= 2, `it waited for ${place} of the flood's`)
  })
})
