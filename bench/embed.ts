// What embedding and searching cost, as ratios within one run: `node bench/embed.ts [--memories 2000] [--words 15]
// [--search 50000] [--json FILE]`
//
//   throughput   creating memories through HTTP until all are embedded, compared with the bare model over the same
//                texts, cut into tokens and in batches, with one thread or two, whichever is faster at the moment
//   search       p50 of POST /memories/search over a tenant of many memories, compared with one bare sqlite-vec query
//                and one embedding
//   memory       RSS with the model loaded
import { writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { getLoadablePath } from 'sqlite-vec'
import { BUILTIN_MODEL } from '../packages/server/src/memory/embed/builtin.ts'
import { bytesOf } from '../packages/server/src/memory/embed/embedder.ts'
import { loadModel } from '../packages/server/src/memory/embed/model.ts'
import { insertMemory } from '../packages/server/src/memory/sql.ts'
import { memoryRow } from '../packages/server/test/memory/memory-row.ts'
import { Connection } from './support/load.ts'
import { quantile, serve, type Served } from './support/memory-service.ts'

const { values } = parseArgs({
  options: {
    memories: { type: 'string', default: '2000' },
    words: { type: 'string', default: '15' },
    search: { type: 'string', default: '50000' },
    json: { type: 'string' },
  },
})

const WORDS =
  'order invoice server garden music train report customer deploy backup password meeting lunch printer badge coffee river engine market window letter'.split(
    ' ',
  )
const pick = (): string => WORDS[Math.floor(Math.random() * WORDS.length)]!
const sentence = (words: number): string =>
  Array.from({ length: words }, (_, i) => (i % 3 ? pick() : `${pick()}${Math.floor(Math.random() * 500)}`)).join(' ')

async function throughput(served: Served, count: number): Promise<{ bare: number; service: number }> {
  const texts = Array.from({ length: count }, () => ({ title: sentence(3), content: sentence(Number(values.words)) }))
  const models = [await loadModel(1), await loadModel(2)]
  const warm = [...models[0]!.windows('The model is loaded.')]
  for (const model of models) await model.run(warm)
  const { tokens } = await served.agents(1)
  await served.call('POST', '/memories', tokens[0]!, {
    type: 'semantic',
    scope: 'agent',
    title: 'Warm',
    content: 'The model is loaded.',
  })
  await served.app.memory.embedding.idle()
  // Lean clients, because they run on the processors that are measured.
  const clients = Array.from({ length: 16 }, () => new Connection(Number(new URL(served.url).port)))
  // In turns, so that other work on the machine affects both alike.
  const bare = [0, 0]
  let service = 0
  const turns = 4
  for (let turn = 0; turn < turns; turn++) {
    const mine = texts.filter((_, i) => i % turns === turn)
    for (const [which, model] of models.entries()) {
      const first = performance.now()
      const windows = mine
        .flatMap(({ title, content }) => [...model.windows(`${title}\n${content}`)])
        .sort((a, b) => a.ids.length - b.ids.length)
      for (let i = 0; i < windows.length; i += 32) await model.run(windows.slice(i, i + 32))
      bare[which]! += performance.now() - first
    }
    const second = performance.now()
    await Promise.all(
      clients.map(async (client, worker) => {
        for (let i = worker; i < mine.length; i += clients.length) {
          const { status } = await client.send({
            method: 'POST',
            path: '/v1/memories',
            token: tokens[0]!,
            body: JSON.stringify({ type: 'semantic', scope: 'agent', ...mine[i] }),
          })
          if (status !== 201) throw new Error(`a memory was answered with ${status}`)
        }
      }),
    )
    await served.app.memory.embedding.idle()
    service += performance.now() - second
  }
  for (const client of clients) client.close()
  return { bare: (count / Math.min(...bare)) * 1000, service: (count / service) * 1000 }
}

const unit = (centre: Float32Array | null): Float32Array => {
  const vector = Float32Array.from(
    { length: 384 },
    (_, i) => (centre?.[i] ?? 0) + (Math.random() - 0.5) * (centre ? 0.15 : 1),
  )
  const norm = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0))
  return vector.map((x) => x / norm)
}

// Random vectors: the cost of a scan does not depend on what they mean.
async function fill(
  served: Served,
  bare: DatabaseSync,
  tenantId: string,
  agentId: string,
  count: number,
): Promise<void> {
  const centres = Array.from({ length: 100 }, () => unit(null))
  bare.exec('create virtual table v using vec0(tenant text partition key, e float[384] distance_metric=cosine)')
  const insert = bare.prepare('insert into v (tenant, e) values (?, ?)')
  const now = Date.now()
  for (let first = 0; first < count; first += 500) {
    bare.exec('begin')
    await served.store.tx(async (tx) => {
      for (let i = first; i < Math.min(count, first + 500); i++) {
        const id = `mem_${String(i).padStart(26, '0')}`
        const vector = unit(centres[i % 100]!)
        const row = memoryRow({ tenant_id: tenantId, agent_id: agentId, id }, now, {
          title: sentence(3),
          content: sentence(15),
        })
        await insertMemory(tx, row)
        await served.app.memory.index.put(tx, row)
        await served.app.memory.index.keep(tx, BUILTIN_MODEL, {
          tenantId,
          memoryId: id,
          version: 1,
          windows: [{ vector, tokens: new Int8Array(64 * 15).fill(7) }],
        })
        insert.run(tenantId, bytesOf(vector))
      }
    })
    bare.exec('commit')
  }
}

async function search(
  served: Served,
  count: number,
): Promise<{ bare: number; embedding: number; search: number; p99: number; first: number }> {
  const { tokens, ids, tenantId } = await served.agents(1)
  const bare = new DatabaseSync(path.join(served.folder, 'bare.db'), { allowExtension: true })
  bare.loadExtension(getLoadablePath())
  bare.exec('pragma journal_mode = wal; pragma cache_size = -65536')
  await fill(served, bare, tenantId, ids[0]!, count)
  const nearest = bare.prepare('select rowid, distance from v where tenant = ? and e match ? and k = 10')
  const model = await loadModel()
  const ask = (query: string) => served.call('POST', '/memories/search', tokens[0]!, { query, limit: 10 })
  const started = performance.now()
  await ask('the first search reads what the others find in memory')
  const first = performance.now() - started
  const times: [number[], number[], number[]] = [[], [], []]
  for (let i = 0; i < 60; i++) {
    const query = sentence(6)
    const a = performance.now()
    nearest.all(tenantId, bytesOf(unit(null)))
    const b = performance.now()
    await model.run([...model.windows(query)])
    const c = performance.now()
    await ask(query)
    const d = performance.now()
    if (i < 5) continue
    times[0].push(b - a)
    times[1].push(c - b)
    times[2].push(d - c)
  }
  bare.close()
  return {
    bare: quantile(times[0], 0.5),
    embedding: quantile(times[1], 0.5),
    search: quantile(times[2], 0.5),
    p99: quantile(times[2], 0.99),
    first,
  }
}

const served = await serve()
const idle = process.memoryUsage().rss / 1e6
const made = await throughput(served, Number(values.memories))
const found = await search(served, Number(values.search))
const results = {
  'bare model, texts/s': +made.bare.toFixed(0),
  'created and embedded, memories/s': +made.service.toFixed(0),
  'throughput ratio (at least 0.8)': +(made.service / made.bare).toFixed(2),
  'sqlite-vec query p50, ms': +found.bare.toFixed(1),
  'query embedding p50, ms': +found.embedding.toFixed(1),
  'search p50, ms': +found.search.toFixed(1),
  'search p99, ms': +found.p99.toFixed(1),
  'first search, ms': +found.first.toFixed(0),
  'search ratio (at most 2)': +(found.search / (found.bare + found.embedding)).toFixed(2),
  'RSS idle, with two models and the bench, MB': `${Math.round(idle)}, ${Math.round(process.memoryUsage().rss / 1e6)}`,
}
await served.stop()
console.table(results)
if (values.json) writeFileSync(values.json, JSON.stringify(results, null, 2))
