// A rerank service that decides the final order, played by a real server.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { addressOf } from '../../src/memory/model-service.ts'
import { chances, inNewOrder } from '../../src/memory/rerank.ts'
import type { Recalled } from '../../src/memory/index/memory-index.ts'
import { onBothEngines } from '../support/engines.ts'
import { startService, type Service, type TestAgent } from '../support/service.ts'
import { memoryCalls, titlesOf } from './tools.ts'

interface Asked {
  model: string
  query: string
  documents: string[]
  top_n: number
}

interface Reader {
  url: string
  asked: (Asked & { authorization: string | undefined; path: string })[]
  /** How requests are answered from now on. */
  answer(asked: Asked): { status: number; body: unknown } | 'never'
  close(): void
}

/** A reranker that knows that lentils make a soup. */
const knowing: Reader['answer'] = ({ documents }) => ({
  status: 200,
  body: {
    results: documents
      .map((text, index) => ({
        index,
        relevance_score: /lentil/i.test(text) ? 0.9 : /soup|bean/i.test(text) ? 0.2 : 0.01,
      }))
      .sort((a, b) => b.relevance_score - a.relevance_score),
  },
})

async function reader(): Promise<Reader> {
  const far: Reader = { url: '', asked: [], answer: knowing, close: () => server.closeAllConnections() }
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as Asked
    far.asked.push({ ...asked, authorization: request.headers.authorization, path: request.url! })
    const answer = far.answer(asked)
    if (answer === 'never') return
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  far.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  far.close = () => {
    server.close()
    server.closeAllConnections()
  }
  return far
}

test('[RCL-43] the URL may be given with or without its version, or in full', () => {
  assert.equal(addressOf('http://host:1', 'rerank'), 'http://host:1/v1/rerank')
  assert.equal(addressOf('https://host/v2/', 'rerank'), 'https://host/v2/rerank')
  assert.equal(addressOf('https://host/v1/rerank', 'rerank'), 'https://host/v1/rerank')
})

test('[RCL-43] scores stay in 0..1 and fall: log odds are mapped, unread results follow, unsure ones sink', () => {
  assert.deepEqual(chances([0.5, 0, 1]), [0.5, 0, 1])
  assert.deepEqual(
    chances([-2, 0, 3]).map((score) => score > 0 && score < 1),
    [true, true, true],
  )
  const signals = { similarity: 0.5, lexical: 0.5, confidence: 1, recency: 1, importance: 1 }
  const found = (id: string, score: number, more = {}): Recalled => ({ id, score, signals: { ...signals, ...more } })
  const order = inNewOrder(
    [found('a', 0.9), found('b', 0.8, { confidence: 0 }), found('c', 0.7, { contradicted: 1 })],
    [0.1, 0.5, 0.6],
    [found('d', 0.6)],
  )
  assert.deepEqual(
    order.map(({ id }) => id),
    ['b', 'c', 'a', 'd'],
  )
  assert.ok(order.every(({ score }, i) => i === 0 || score <= order[i - 1]!.score))
})

onBothEngines((engine) => {
  let far: Reader
  let service: Service
  let agent: TestAgent

  before(async () => {
    far = await reader()
    service = await startService(engine, { RERANK: far.url, RERANK_MODEL: 'a-reader', RERANK_API_KEY: 'secret' })
    agent = await (await service.tenant()).agent()
    const calls = memoryCalls(service)
    for (const [title, content] of [
      ['Soup kitchen', 'The soup kitchen on Main Street serves bean soup at noon and needs volunteers.'],
      ['Coffee beans', 'We are out of coffee beans; the roaster delivers on Monday.'],
      ['Lentil stew', 'Boil lentils with carrots, celery and garlic in broth for forty minutes.'],
      ['VPN', 'My vpn is broken again.'],
    ])
      await calls.make(agent, { title, content })
    await service.app.memory.embedding.idle()
  })
  after(async () => {
    await service.stop()
    far.close()
  })

  const search = (more: object = {}) => memoryCalls(service).search(agent, 'What is a recipe for bean soup?', more)

  test('[RCL-43] the best results are sent to the service, with the name of the model and the key', async () => {
    const results = await search({ limit: 2 })
    assert.equal(titlesOf(results)[0], 'Lentil stew')
    assert.equal(results.length, 2)
    assert.ok(results.every(({ score }, i) => score <= (results[i - 1]?.score ?? 1)))
    const { documents, ...asked } = far.asked.at(-1)!
    assert.deepEqual(asked, {
      model: 'a-reader',
      query: 'What is a recipe for bean soup?',
      top_n: 4,
      authorization: 'Bearer secret',
      path: '/v1/rerank',
    })
    assert.equal(documents.length, 4, 'more are read than are asked for')
    assert.deepEqual(titlesOf(await search({ min_score: 0.5 })), ['Lentil stew'])
  })

  test('[RCL-43] the best thirty are sent, with a second and a half to answer', async (t) => {
    const other = await (await service.tenant()).agent()
    const calls = memoryCalls(service)
    for (let i = 0; i < 40; i++) await calls.make(other, { title: `Soup ${i}`, content: 'Beans, onions and broth.' })
    await service.app.memory.embedding.idle()
    const timeout = t.mock.method(AbortSignal, 'timeout')
    const results = await calls.search(other, 'bean soup', { limit: 40 })
    const { documents, top_n } = far.asked.at(-1)!
    assert.deepEqual([documents.length, top_n, results.length], [30, 30, 40])
    assert.deepEqual(timeout.mock.calls[0]!.arguments, [1_500])
  })

  test('[RCL-43] of a long memory the beginning is sent, in whole characters, whatever its metadata', async () => {
    const calls = memoryCalls(service)
    const begins = 'Boil lentils in broth. '
    const smile = `${begins}${'🙂'.repeat(3_000)}`
    const made = [
      await calls.make(agent, { title: 'Long lentils', content: begins.repeat(400) }),
      await calls.make(agent, { title: 'Lentils and data', content: begins, metadata: { blob: 'x'.repeat(9_000) } }),
      await calls.make(agent, { title: 'Lentils smile', content: smile }),
    ]
    await service.app.memory.embedding.idle()
    await search({ query: 'lentils in broth' })
    const { documents } = far.asked.at(-1)!
    for (const { title } of made) {
      const document = documents.find((text) => text.startsWith(`${title}\n${begins}`))
      assert.ok(document, title)
      assert.ok(document.isWellFormed() && document.length <= 2_000, title)
    }
    for (const { id } of made) await calls.forget(agent, id)
  })

  for (const [what, answer] of [
    ['refuses', () => ({ status: 500, body: {} })],
    ['leaves one out', () => ({ status: 200, body: { results: [{ index: 0, relevance_score: 1 }] } })],
    ['answers with something else', () => ({ status: 200, body: { error: 'no' } })],
    ['answers with null', () => ({ status: 200, body: null })],
    ['answers with too much', () => ({ status: 200, body: { results: [], more: 'x'.repeat(1_048_576) } })],
    [
      'gives one no score',
      ({ documents }: Asked) => ({
        status: 200,
        body: { results: documents.map((_, index) => ({ index, relevance_score: index === 0 ? null : 1 })) },
      }),
    ],
    ['does not answer in time', () => 'never' as const],
  ] as const)
    test(`[RCL-43] a service that ${what} changes nothing, and is not called for a while`, async () => {
      await service.clock.advance(5_000)
      far.answer = answer
      const before = far.asked.length
      assert.equal((await search()).length, 4)
      assert.equal(far.asked.length, before + 1)
      far.answer = knowing
      assert.notEqual(titlesOf(await search())[0], 'Lentil stew')
      assert.equal(far.asked.length, before + 1, 'nobody waits for it')
      await service.clock.advance(5_000)
      assert.equal(titlesOf(await search())[0], 'Lentil stew')
    })

  test('[RCL-43] what one tenant sends takes the service from no other: a failure, or many at once', async () => {
    await service.clock.advance(5_000)
    const calls = memoryCalls(service)
    const other = await (await service.tenant()).agent()
    await calls.make(other, { title: 'Lentils', content: 'Boil them in broth.' })
    await calls.make(other, { title: 'Soup', content: 'From a bean.' })
    await service.app.memory.embedding.idle()
    far.answer = (asked) => (/unreadable/.test(asked.query) ? { status: 400, body: {} } : knowing(asked))
    const before = far.asked.length
    await search({ query: 'unreadable' })
    await search()
    assert.equal(far.asked.length, before + 1, 'it waits itself')
    assert.equal(titlesOf(await calls.search(other, 'bean soup'))[0], 'Lentils')
    assert.equal(far.asked.length, before + 2)

    const asked = far.asked.length
    const full = Promise.withResolvers<void>()
    far.answer = () => {
      if (far.asked.length === asked + 12) full.resolve()
      return 'never'
    }
    const hanging = Array.from({ length: 20 }, () => search())
    // On a very busy machine the first may give up before the last one asks.
    await Promise.race([full.promise, Promise.all(hanging)])
    far.answer = knowing
    assert.equal(titlesOf(await calls.search(other, 'bean soup now'))[0], 'Lentils')
    assert.ok(far.asked.length <= asked + 13)
    await Promise.all(hanging)
  })
})
