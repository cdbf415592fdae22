// Searches of different tenants take turns. This is observed at the embedding model, whose responses the test holds
// back.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import type { Viewer } from '../../src/memory/see.ts'
import { onBothEngines } from '../support/engines.ts'
import { startService, type Reply, type Service } from '../support/service.ts'
import { memoryCalls } from './tools.ts'
import { turnsUntil } from '../support/turns-until.ts'

/** How many queries are embedded at once. */
const AT_ONCE = 16
/** How many queries of one agent may wait, for embedding and for the search. */
const MAX_WAITING = 32

/** A model that answers when the test says so. */
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

  /** Lets the model answer one request after the other until all calls have ended. */
  async function answered<T>(calls: Promise<T>[]): Promise<T[]> {
    let ended = false
    const all = Promise.all(calls).finally(() => (ended = true))
    while (!ended) {
      model.held.shift()?.()
      await new Promise(setImmediate)
    }
    return all
  }

  /** Checks that calls beyond the limit are refused before the model answers anything, and a neighbour is served. */
  async function refusesMoreThanWait(call: (i: number) => Promise<Reply>): Promise<void> {
    const tooMany = 5
    let refused = 0
    const one = async (): Promise<number> => {
      const { status } = await call(flood.length)
      if (status === 429) refused++
      // The service waits two seconds for the model. A place that is free again on a slow machine is taken again.
      else if (refused < tooMany) flood.push(one())
      return status
    }
    const flood: Promise<number>[] = []
    while (flood.length < AT_ONCE + MAX_WAITING + tooMany) flood.push(one())
    await turnsUntil(() => refused >= tooMany)
    const { token } = await (await service.tenant()).agent()
    const neighbour = service.call('POST /v1/memories/search', { token, body: { query: 'a word' } })
    const statuses = answered(flood)
    assert.equal((await neighbour).status, 200)
    assert.ok((await statuses).includes(200))
  }

  test('[RCL-3] an agent with too many searches waiting is refused, and its neighbour is not', async () => {
    const { token } = await (await service.tenant()).agent()
    await refusesMoreThanWait((i) =>
      service.call('POST /v1/memories/search', { token, body: { query: `too many ${i}` } }),
    )
  })

  test('[RCL-3] looking for similar memories takes turns with searches', async () => {
    const agent = await (await service.tenant()).agent()
    const { id } = await memoryCalls(service).make(agent, { title: 'Long', content: 'long '.repeat(500) })
    await answered([service.app.memory.embedding.idle()])
    await refusesMoreThanWait(() => service.call(`GET /v1/memories/${id}/similar`, { token: agent.token }))
  })

  test('[RCL-3] a search of another tenant is next, however many of one agent wait', async () => {
    const viewerOf = async (): Promise<Viewer> => {
      const tenant = await service.tenant()
      return { kind: 'agent', id: (await tenant.agent()).id, tenantId: tenant.id, teamId: null }
    }
    const [loud, quiet] = [await viewerOf(), await viewerOf()]
    // Calls the model as a search does: over HTTP the test could not tell when a search has begun to wait.
    const { readAhead } = service.app.memory
    model.asked.length = 0
    const flood = Array.from({ length: AT_ONCE + 10 }, (_, i) => readAhead(loud, `loud ${i}`))
    await turnsUntil(() => model.asked.length >= AT_ONCE)
    await answered([...flood, readAhead(quiet, 'quiet')])
    const place = model.asked.indexOf('quiet') - AT_ONCE
    assert.ok(place <= 1, `it waited for ${place} of the flood's`)
  })
})
