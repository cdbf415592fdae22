// Where vectors come from: an embedding service in place of the built-in model, a change of model, several nodes, and
// the command line.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { BUILTIN_MODEL } from '../../../src/memory/embed/builtin.ts'
import { cut } from '../../../src/memory/embed/service.ts'
import { addressOf } from '../../../src/memory/model-service.ts'
import { onBothEngines } from '../../support/engines.ts'
import { assertError } from '../../support/expect.ts'
import { sensorium } from '../../support/process.ts'
import { startService, type Service, type TestTenant } from '../../support/service.ts'
import { memoryCalls, type Actor } from '../tools.ts'

// The embedding service of these tests knows three subjects and nothing else.
const SUBJECTS = [/cat|feline|kitten/i, /car|vehicle|driv/i, /bread|bak|loaf/i]

interface FarEnd {
  url: string
  asked: { authorization: string | undefined; model: string; input: string[]; path: string }[]
  /** The status of the responses from now on. */
  status: number
  /** Longer texts are refused. */
  longest: number
  dimensions: number
  close(): void
}

async function farEnd(): Promise<FarEnd> {
  const far: FarEnd = { url: '', asked: [], status: 200, longest: Infinity, dimensions: 6, close: () => server.close() }
  const server: Server = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { model, input } = JSON.parse(Buffer.concat(chunks).toString()) as { model: string; input: string[] }
    far.asked.push({ authorization: request.headers.authorization, model, input, path: request.url! })
    const status = input.some((text) => text.length > far.longest) ? 413 : far.status
    response.writeHead(status, { 'content-type': 'application/json' })
    if (status !== 200) return response.end('{}')
    const data = input.map((text, index) => ({
      index,
      embedding: Array.from({ length: far.dimensions }, (_, i) => (i < 3 ? (SUBJECTS[i]!.test(text) ? 1 : 0) : 0.1)),
    }))
    response.end(JSON.stringify({ data: data.reverse() }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  far.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return far
}

test('[EMB-4] the URL of a service may be given with or without its version, or in full', () => {
  assert.equal(addressOf('http://host:1', 'embeddings'), 'http://host:1/v1/embeddings')
  assert.equal(addressOf('http://host/v1/', 'embeddings'), 'http://host/v1/embeddings')
  assert.equal(addressOf('https://host/api/v2', 'embeddings'), 'https://host/api/v2/embeddings')
  assert.equal(addressOf('https://host/v1/embeddings', 'embeddings'), 'https://host/v1/embeddings')
})

test('[EMB-4] a long text is split into windows that overlap and miss nothing', () => {
  const text = Array.from({ length: 9000 }, (_, i) => String.fromCharCode(97 + (i % 26))).join('')
  const parts = cut(text)
  assert.equal(
    parts[0] +
      parts
        .slice(1)
        .map((part) => part.slice(200))
        .join(''),
    text,
  )
  assert.deepEqual(cut('short'), ['short'])
})

test('[EMB-4] no window begins or ends with half a character', () => {
  for (const before of ['', 'x'])
    for (const part of cut(before + '🙂'.repeat(3_000))) assert.ok(part.isWellFormed(), JSON.stringify(part.slice(-2)))
})

onBothEngines((engine) => {
  let far: FarEnd
  let service: Service
  let tenant: TestTenant
  let agent: Actor

  before(async () => {
    far = await farEnd()
    service = await startService(engine, {
      EMBEDDINGS: far.url,
      EMBEDDINGS_MODEL: 'tiny',
      EMBEDDINGS_API_KEY: 'secret',
    })
    tenant = await service.tenant()
    agent = await tenant.agent()
  })
  after(async () => {
    await service.stop()
    far.close()
  })

  const make = (title: string, content: string) => memoryCalls(service).make(agent, { title, content })
  const search = (query: string) => memoryCalls(service).search(agent, query, { explain: true })
  const models = async (): Promise<string[]> =>
    (
      await service.store.rows<{ model: string }>(
        'select distinct model from memory_vectors where tenant_id = ? order by model',
        [tenant.id],
      )
    ).map(({ model }) => model)

  test('[EMB-4] vectors come from the service, with the name of the model and the key', async () => {
    await make('Pet', 'The kitten sleeps.')
    await make('Garage', 'Driving lessons on Monday.')
    await service.app.memory.embedding.idle()
    const [best] = await search('feline')
    assert.equal(best!.memory.title, 'Pet')
    assert.ok(best!.signals!.similarity > 0.9)
    assert.deepEqual(await models(), ['tiny'])
    assert.ok(
      far.asked.every(
        ({ model, authorization, path }) =>
          model === 'tiny' && authorization === 'Bearer secret' && path === '/v1/embeddings',
      ),
    )
  })

  test('[EMB-4] a query that the service refuses does not take the meaning from other searches', async () => {
    far.longest = 100
    await search('x'.repeat(101))
    const [best] = await search('cat')
    assert.ok(best!.signals!.similarity > 0.9)
    far.longest = Infinity
  })

  test('[RCL-73] a query on which the service fails takes the meaning from searches of its own tenant alone', async () => {
    const elsewhere = await (await service.tenant()).agent()
    const asked = async (by: Actor, query: string): Promise<number> => {
      const before = far.asked.length
      await memoryCalls(service).search(by, query)
      return far.asked.length - before
    }
    far.status = 500
    assert.equal(await asked(elsewhere, 'a hostile query'), 1)
    far.status = 200
    assert.equal(await asked(elsewhere, 'another query'), 0)
    assert.ok((await search('a cat'))[0]!.signals!.similarity > 0.9)
    assert.equal(await asked(elsewhere, 'a third query'), 1, 'the service has shown that it works')
    // Failures of two tenants are the service's own.
    far.status = 500
    assert.equal(await asked(elsewhere, 'a fourth query'), 1)
    assert.equal(await asked(agent, 'a fifth query'), 1)
    far.status = 200
    const third = await (await service.tenant()).agent()
    assert.equal(await asked(third, 'a sixth query'), 0)
    await service.clock.advance(5_001)
    assert.equal(await asked(third, 'a seventh query'), 1)
  })

  test('[EMB-4] while the service fails, memories are found by words; later they are embedded', async () => {
    far.status = 400
    const made = await make('Oven', 'A loaf takes an hour.')
    await service.app.memory.embedding.idle()
    const [found] = await search('loaf')
    assert.equal(found!.memory.id, made.id)
    assert.equal(found!.signals!.similarity, 0)
    const similar = await service.call(`GET /v1/memories/${made.id}/similar`, { token: agent.token })
    assertError(similar, 'service_unavailable')
    far.status = 200
    // As if an hour had passed.
    await service.store.tx((tx) => tx.run('update memory_recall set claimed_until = 0, retry_at = 0'))
    await service.clock.advance(5_001)
    await service.app.runOnce.embed()
    const [again] = await search('baking')
    assert.equal(again!.memory.id, made.id)
    assert.ok(again!.signals!.similarity > 0.9)
  })

  test('[EMB-4] a wrong key is no refusal of a text: memories are tried again after 30 seconds', async () => {
    far.status = 401
    const { id } = await make('Key', 'A loaf behind a wrong key.')
    // The tries of the service, with their waits.
    let isIdle = false
    const idle = service.app.memory.embedding.idle().then(() => (isIdle = true))
    while (!isIdle) {
      await service.clock.advance(5_000)
      await new Promise(setImmediate)
    }
    await idle
    const [row] = await service.store.rows<{ retry_at: number }>(
      'select retry_at from memory_recall where tenant_id = ? and memory_id = ?',
      [tenant.id, id],
    )
    assert.ok(Number(row!.retry_at) <= service.clock.now() + 30_000)
    far.status = 200
    await service.clock.advance(30_001)
    await service.app.runOnce.embed()
    assert.equal(
      (await search('baking')).some(({ memory }) => memory.id === id),
      true,
    )
    await memoryCalls(service).forget(agent, id)
  })

  test('[EMB-2] after a change of model all are embedded again; meanwhile they are found by words', async () => {
    const before = far.asked.length
    far.dimensions = 9
    service = await service.restart({ EMBEDDINGS_MODEL: 'other' })
    const [byWords] = await search('kitten')
    assert.equal(byWords!.memory.title, 'Pet')
    assert.equal(byWords!.signals!.similarity, 0, 'no vector of this model yet')
    assert.deepEqual(await models(), ['tiny'])
    await service.app.runOnce.embed()
    assert.deepEqual(await models(), ['other'])
    assert.ok((await search('feline'))[0]!.signals!.similarity > 0.9)
    assert.equal(
      far.asked
        .slice(before)
        .flatMap(({ input }) => input)
        .filter((text) => text.startsWith('Pet')).length,
      1,
    )
  })

  test('[EMB-2] a vector of another length costs its memory alone, and a new length takes over when all have it', async () => {
    const neighbour = await (await service.tenant()).agent()
    const remember = async (title: string, content: string, dimensions: number): Promise<string> => {
      far.dimensions = dimensions
      const { id } = await memoryCalls(service).make(neighbour, { title, content })
      await service.app.memory.embedding.idle()
      far.dimensions = 9
      return id
    }
    const found = async (query: string): Promise<string[]> =>
      (await memoryCalls(service).search(neighbour, query, { explain: true }))
        .filter(({ signals }) => signals!.similarity > 0.9)
        .map(({ memory }) => memory.title)
    const made = [await remember('Odd', 'A loaf.', 40)]
    assert.deepEqual(await found('baking'), [])
    made.push(await remember('Even', 'A kitten.', 9))
    assert.deepEqual(await found('feline'), ['Even'])
    far.dimensions = 40
    await service.store.tx((tx) => tx.run("update memory_recall set embedded = '', claimed_until = 0, retry_at = 0"))
    await service.app.runOnce.embed()
    assert.deepEqual([await found('felines'), await found('a loaf')], [['Even'], ['Odd']])
    far.dimensions = 9
    for (const id of made) await memoryCalls(service).forget(neighbour, id)
    await service.store.tx((tx) => tx.run("update memory_recall set embedded = '', claimed_until = 0, retry_at = 0"))
    await service.app.runOnce.embed()
  })

  test('[KEP-12] a service is not called before a memory is stored, and once after', async () => {
    await service.app.memory.embedding.idle()
    const before = far.asked.length
    await make('Alone', 'A lonely vehicle.')
    await service.app.memory.embedding.idle()
    assert.deepEqual(
      far.asked.slice(before).flatMap(({ input }) => input),
      ['Alone\nA lonely vehicle.'],
    )
  })

  test('[EMB-2] two embedders share the work: nothing is embedded twice', async () => {
    for (let i = 0; i < 40; i++) await make(`Shared ${i}`, 'A vehicle.')
    await service.app.memory.embedding.idle()
    await service.store.tx((tx) => tx.run("update memory_recall set embedded = '', claimed_until = 0, retry_at = 0"))
    const before = far.asked.length
    const other = engine.name === 'postgres' ? await service.another() : service
    await Promise.all([service.app.runOnce.embed(), other.app.runOnce.embed(), service.app.runOnce.embed()])
    if (other !== service) await other.app.close()
    const texts = far.asked
      .slice(before)
      .flatMap(({ input }) => input)
      .filter((text) => text.startsWith('Shared'))
    assert.equal(texts.length, 40)
    assert.equal(new Set(texts).size, 40)
  })

  test('[RCL-61] of what was left, short texts are embedded first, and each long one by itself', async () => {
    const neighbour = await (await service.tenant()).agent()
    const long = 'A vehicle. '.repeat(300)
    for (const title of ['Long one', 'Long two']) await make(title, long)
    await memoryCalls(service).make(neighbour, { title: 'Brief', content: 'A vehicle.' })
    await service.app.memory.embedding.idle()
    await service.store.tx((tx) =>
      tx.run(
        "update memory_recall set embedded = '', claimed_until = 0, retry_at = 0 where tenant_id <> ? or length > 200",
        [tenant.id],
      ),
    )
    const before = far.asked.length
    await service.app.runOnce.embed()
    const titles = far.asked.slice(before).map(({ input }) => [...new Set(input.map((text) => text.split('\n')[0]))])
    assert.deepEqual([titles[0], titles.length], [['Brief'], 3])
    for (const [i, one] of ['Long one', 'Long two'].entries()) assert.ok(titles[i + 1]!.includes(one))
  })

  test('[EMB-3] sensorium reindex embeds everything again beside the service, with a progress bar', async () => {
    // Also those that rest because they were refused.
    const resting = await service.store.tx((tx) =>
      tx.run("update memory_recall set embedded = '', retry_at = ? where tenant_id = ?", [
        Date.now() + 3_500_000,
        tenant.id,
      ]),
    )
    assert.ok(resting > 0)
    const before = far.asked.length
    const { code, stdout, stderr } = await sensorium(['reindex', '--json'], {
      ...service.env,
      EMBEDDINGS: far.url,
      EMBEDDINGS_MODEL: 'other',
    })
    assert.equal(code, 0, stderr)
    const { memories, model } = JSON.parse(stdout) as { memories: number; model: string }
    assert.ok(memories >= 43)
    assert.equal(model, 'other')
    assert.match(stderr, /^\[-+\] +0% {2}0 of \d+ memories$/m)
    assert.match(stderr, /^\[#{30}\] 100% {2}(\d+) of \1 memories$/m)
    assert.ok(far.asked.length > before)
    assert.ok((await search('feline'))[0]!.signals!.similarity > 0.9)
  })

  test('[EMB-1] the built-in model calls no service', async () => {
    const before = far.asked.length
    service = await service.restart({ EMBEDDINGS: 'builtin' })
    await service.app.runOnce.embed()
    assert.deepEqual(await models(), [BUILTIN_MODEL])
    assert.equal((await search('young feline animal'))[0]!.memory.title, 'Pet')
    assert.equal(far.asked.length, before)
  })
})
