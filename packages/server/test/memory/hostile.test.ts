// A caller with an ordinary key must not be able to harm others through memories.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { operations, type Memory } from '@sensorium/contract'
import type { Principal } from '../../src/auth/principal.ts'
import { nextTurn } from '../../src/kernel/step-turns.ts'
import { LOOK_EVERY_MS } from '../../src/memory/embedding-claims.ts'
import { idsHolding } from '../../src/memory/index/holds-text.ts'
import { listMemories } from '../../src/memory/list.ts'
import { traverse } from '../../src/memory/traverse.ts'
import { NOBODY } from '../../src/operations/call.ts'
import type { Value } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { agentForSuite, serviceForSuite, startService, tenantForSuite, type Service } from '../support/service.ts'
import { everyCharacter, memoryCalls, turnsBeside } from './tools.ts'
import { turnsUntil } from '../support/turns-until.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const agent = agentForSuite(tenant)
  let calls: ReturnType<typeof memoryCalls>
  before(async () => {
    calls = memoryCalls(service)
  })

  const viewer = () => ({
    kind: 'agent' as const,
    id: agent.id,
    tenantId: tenant.id,
    teamId: null,
    keyId: '',
    scopes: new Set<string>(),
  })
  const inProcess = async () =>
    listMemories(
      service.store,
      service.app.memory.index.findText,
      viewer(),
      { limit: 200 },
      { now: service.clock.now(), pause: nextTurn },
    )

  test('[RCL-1] metadata is returned as the exact text that was sent, from create to search', async () => {
    const metadata = '{ "big" : 12345678901234567890, "e": 1.0, "half": "\\ud800", "list": [1,  2] }'
    const body = `{"type":"semantic","scope":"agent","title":"Exact","content":"As it came","metadata":${metadata}}`
    const headers = { 'content-type': 'application/json' }
    const made = await service.call<Memory>('POST /v1/memories', { token: agent.token, raw: body, headers })
    assert.equal(made.status, 201, made.text)
    const path = `/v1/memories/${made.body.id}`
    const patched = await service.call(`PATCH ${path}`, { token: agent.token, body: { importance: 0.9 } })
    for (const { text } of [
      made,
      patched,
      await service.call(`GET ${path}`, { token: agent.token }),
      await service.call('GET /v1/memories', { token: agent.token }),
      await service.call('POST /v1/memories/search', { token: agent.token, body: { query: 'exact' } }),
    ])
      assert.ok(text.includes(`"metadata":${metadata}`), text)
    await calls.forget(agent, made.body.id)
  })

  test('[RCL-4] [SRCH-14] a memory is stored and found whatever is left of its long words', async () => {
    const owner = await tenant.agent()
    const long = 'a'.repeat(63)
    // Digits in no order, which the store cannot compress.
    let seed = 1
    const digit = (): string => String.fromCodePoint(0xe50 + ((seed = (seed * 48_271) % 2_147_483_647) % 10))
    const digits = Array.from({ length: 9_000 }, digit)
    const contents = {
      // Cut after 64 units, both would end in half a character, which the store cannot tell from another half.
      halves: `${long}\u{10330} ${long}\u{12000}`,
      // One segment of a script without spaces: longer than an index can hold.
      segment: `ก${digits.join('')}`,
    }
    for (const [title, content] of Object.entries(contents)) {
      const { id } = await calls.make(owner, { title, content })
      const [found] = await calls.search(owner, content.slice(0, 200), { explain: true })
      assert.equal(found?.memory.id, id, title)
      assert.ok(found.signals!.lexical > 0.4, title)
      await calls.forget(owner, id)
    }
  })

  test('[RCL-2] large lists, searches and traversals are written row by row, as they are read', async () => {
    const metadata = { blob: 'x'.repeat(400_000) }
    const made: Memory[] = []
    for (let i = 0; i < 5; i++)
      made.push(await calls.make(agent, { title: `Large ${i}`, content: 'A large one', metadata }))
    for (const target of made.slice(1)) await calls.relate(agent, made[0]!.id, target.id)
    await service.app.memory.embedding.idle()
    const list = await service.call<{ memories: Memory[]; total: number }>('GET /v1/memories', { token: agent.token })
    assert.equal(list.headers.get('content-length'), null)
    assert.deepEqual(
      list.body.memories.map(({ title, metadata: { blob } }) => [title, (blob as string).length]),
      [4, 3, 2, 1, 0].map((i) => [`Large ${i}`, 400_000]),
    )
    const found = await service.call<{ results: { memory: Memory }[]; total: number }>('POST /v1/memories/search', {
      token: agent.token,
      body: { query: 'large' },
    })
    assert.equal(found.headers.get('content-length'), null)
    assert.equal(found.body.total, 5)
    const reading = { now: service.clock.now(), pause: nextTurn }
    const reached = await traverse(service.store, viewer(), made[0]!.id, {}, reading)
    assert.ok('pieces' in reached)

    // Rows are read only when they are needed, so a memory that is deleted by then is left out.
    const body = await inProcess()
    assert.ok('pieces' in body)
    let text = ''
    for await (const piece of body.pieces) {
      if (text === '') await calls.forget(agent, made[0]!.id)
      text += piece
    }
    const { memories, total } = JSON.parse(text) as { memories: Memory[]; total: number }
    assert.deepEqual([memories.length, total], [4, 5])
    for (const { id } of memories) await calls.forget(agent, id)
  })

  test('[SAFE-35] a waiting response holds no long metadata, and still shows it as it was', async () => {
    const metadata = { blob: 'Grüße '.repeat(30_000) }
    const { id } = await calls.make(agent, { title: 'Long', content: 'Has much metadata', metadata })
    const principal: Principal = { ...NOBODY, ...viewer(), keyId: 'key', scopes: new Set(['memory:read']) }
    const { pieces } = await service.app.operations.perform(principal, operations.getMemory, { params: { id } })
    assert.ok(pieces && Symbol.asyncIterator in pieces, 'it is made when its turn has come')
    // The memory changes meanwhile, but the response shows it as it was.
    await service.clock.advance(1_000)
    const changed = { body: { metadata: { other: 1 } }, token: agent.token }
    assert.equal((await service.call(`PATCH /v1/memories/${id}`, changed)).status, 200)
    let text = ''
    for await (const piece of pieces) text += piece
    assert.deepEqual((JSON.parse(text) as Memory).metadata, metadata)
    await calls.forget(agent, id)
  })

  test('[LOAD-2] a memory of megabytes is read and written in pieces of 256 KiB', async () => {
    const blob = 'Grüße aus 東京 🙂 '.repeat(150_000)
    const { id } = await calls.make(agent, { title: 'Megabytes', content: 'In every script', metadata: { blob } })
    const store = {
      ...service.store,
      rows: async <R>(sql: string, values?: readonly Value[]): Promise<R[]> => {
        const rows = await service.store.rows<R>(sql, values)
        const bytes = Buffer.byteLength(JSON.stringify(rows))
        assert.ok(bytes <= 300_000, `${bytes} bytes were read at once`)
        return rows
      },
    }
    const body = await listMemories(
      store,
      service.app.memory.index.findText,
      viewer(),
      {},
      { now: service.clock.now(), pause: nextTurn },
    )
    assert.ok('pieces' in body)
    let text = ''
    for await (const piece of body.pieces) {
      assert.ok(piece.length <= 262_145, `a piece of ${piece.length}`)
      text += piece
    }
    const { memories } = JSON.parse(text) as { memories: Memory[] }
    assert.equal(memories.find((memory) => memory.id === id)!.metadata['blob'], blob)
    const alone = await service.call<Memory>(`GET /v1/memories/${id}`, { token: agent.token })
    assert.equal(alone.body.metadata['blob'], blob)
    await calls.forget(agent, id)
  })

  test('[RCL-6] memories claimed before the clock was set back by an hour are still embedded', async () => {
    const { id } = await calls.make(agent, { title: 'Hour', content: 'It was later already.' })
    await service.app.memory.embedding.idle()
    const ahead = service.clock.now() + 3_600_000
    await service.store.tx((tx) =>
      tx.run("update memory_recall set embedded = '', claimed_until = ? where tenant_id = ? and memory_id = ?", [
        ahead + 3_000,
        tenant.id,
        id,
      ]),
    )
    await service.app.runOnce.embed()
    const [row] = await service.store.rows<{ embedded: string }>(
      'select embedded from memory_recall where tenant_id = ? and memory_id = ?',
      [tenant.id, id],
    )
    assert.notEqual(row!.embedded, '')
  })

  test('[RCL-5] a search for repeated characters does not block the main thread', async () => {
    const part = 'a'.repeat(500)
    const content = `${part}b`.repeat(65).slice(0, 32_768)
    for (let i = 0; i < 4; i++) await calls.make(agent, { title: `Repeated ${i}`, content })
    const needle = `${'a'.repeat(400)}b${'a'.repeat(501)}b`
    const held = `${'a'.repeat(400)}b${'a'.repeat(500)}b`
    const search = (text: string) => calls.list(agent, { search: text })
    await search('begin') // starts the thread
    const { turns, result } = await turnsBeside(search(needle))
    assert.equal(result.total, 0)
    assert.ok(turns > 0)
    assert.equal((await search(held)).total, 4)
    assert.equal((await search(held.toUpperCase())).total, 4)
  })

  test('[RCL-5] looking for repeated characters takes no more than looking for others', async () => {
    const ids: string[] = []
    for (let i = 0; i < 4; i++)
      ids.push((await calls.make(agent, { title: `Same ${i}`, content: 'a'.repeat(32_768) })).id)
    /** The best of three, in milliseconds of this thread's processor time. */
    async function took(needle: string): Promise<number> {
      const times: number[] = []
      for (let i = 0; i < 3; i++) {
        const request = { tenantId: tenant.id, ids: ids.join(' '), needle, isGone: false }
        const start = process.threadCpuUsage()
        assert.equal(await idsHolding(service.store, request, () => {}), '')
        times.push(process.threadCpuUsage(start).user / 1_000)
      }
      return Math.min(...times)
    }
    // String.prototype.includes compares half of the needle at each place: 140 ms for each of the memories.
    const half = 'a'.repeat(8_192)
    const [repeated, other] = [await took(`${half}b${half}`), await took('b'.repeat(16_385))]
    assert.ok(repeated < 60 * (other + 1), `${repeated} ms beside ${other}`)
  })
})

onBothEngines((engine) => {
  let far: Server
  let service: Service
  /** How many requests the embedding service holds unanswered. */
  let asked = 0
  before(async () => {
    far = createServer(() => void asked++)
    far.listen(0, '127.0.0.1')
    await once(far, 'listening')
    const url = `http://127.0.0.1:${(far.address() as AddressInfo).port}`
    service = await startService(engine, { EMBEDDINGS: url, EMBEDDINGS_MODEL: 'slow' })
  })
  after(async () => {
    far.closeAllConnections()
    await service.stop()
    far.close()
  })

  test('[RCL-6] a claim on a memory to embed is short, and is renewed while the work lasts', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const { id } = await memoryCalls(service).make(agent, { title: 'Claimed', content: 'By somebody' })
    const claimed = async (): Promise<number> => {
      const [row] = await service.store.rows<{ claimed_until: number }>(
        'select claimed_until from memory_recall where tenant_id = ? and memory_id = ?',
        [tenant.id, id],
      )
      return Number(row!.claimed_until)
    }
    await turnsUntil(() => asked > 0)
    const lapsesIn = (await claimed()) - service.clock.now()
    assert.ok(lapsesIn + LOOK_EVERY_MS <= 5_000, 'found five seconds after a crash')
    await service.clock.jump(10_000)
    await turnsUntil(async () => (await claimed()) > service.clock.now())
  })

  test('[RCL-4] [SRCH-14] a word past the indexed ones finds nothing, also if it was searched for before', async () => {
    const agent = await (await service.tenant()).agent()
    const calls = memoryCalls(service)
    const search = async (): Promise<(number | undefined)[]> => {
      const body = { query: 'zebrafinch', explain: true }
      const reply = await service.call('POST /v1/memories/search', { token: agent.token, body })
      return reply.body.results.map(({ signals }: { signals: { lexical: number } }) => signals.lexical)
    }
    assert.deepEqual(await search(), [])
    const many = Array.from({ length: 12_000 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('')
    const { id } = await calls.make(agent, { title: 'Many', content: `${many} zebrafinch` })
    // Nothing else finds it either: the embedding service returns no vectors.
    assert.deepEqual(await search(), [])
    await calls.forget(agent, id)
  })

  test('[RCL-4] a memory of 32,768 different characters is stored, and found by any part of it', async () => {
    // The embedding service returns no vectors: the memory is found by its text alone.
    const agent = await (await service.tenant()).agent()
    const calls = memoryCalls(service)
    const made = await calls.make(agent, { title: 'All of them', content: everyCharacter })
    for (const part of [everyCharacter.slice(0, 3), everyCharacter.slice(9_000, 9_040), [...everyCharacter].at(-1)!]) {
      const { memories } = await calls.list(agent, { search: part })
      assert.deepEqual(
        memories.map(({ id }) => id),
        [made.id],
      )
    }
    const swapped = `${everyCharacter[5]}${everyCharacter[4]}`
    assert.equal((await calls.list(agent, { search: swapped })).total, 0)
    await calls.forget(agent, made.id)
    assert.equal((await calls.list(agent, { search: everyCharacter.slice(0, 3) })).total, 0)
  })
})
