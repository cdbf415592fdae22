// Retrieval quality through the HTTP interface:
//
//   node bench/recall.ts FOLDER [--postgres URL] [--json FILE]
//
// FOLDER has a folder for each collection of judged queries, with docs.jsonl {id, title, content, collection?},
// queries.jsonl {id, query, collection?} and qrels.jsonl {query, doc, relevance}. Each collection is an agent, each
// document a memory of its own, each query a search for ten. Prints nDCG@10, recall@10 and the time of a search.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { quantile, serve } from './tools.ts'

interface Doc {
  id: string
  title: string
  content: string
  collection?: string
}

interface Query {
  id: string
  query: string
  collection?: string
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { postgres: { type: 'string' }, json: { type: 'string' } },
})
const folder = positionals[0]
if (!folder) throw new Error('usage: node bench/recall.ts FOLDER [--postgres URL] [--json FILE]')
const read = <T>(...names: string[]): T[] =>
  readFileSync(path.join(folder, ...names), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T)

function score(relevant: Map<string, Set<string>>, run: Map<string, string[]>): { ndcg: number; recall: number } {
  let ndcg = 0
  let recall = 0
  for (const [query, wanted] of relevant) {
    let gain = 0
    let ideal = 0
    let found = 0
    ;(run.get(query) ?? []).forEach((doc, i) => {
      if (!wanted.has(doc)) return
      gain += 1 / Math.log2(i + 2)
      found++
    })
    for (let i = 0; i < Math.min(10, wanted.size); i++) ideal += 1 / Math.log2(i + 2)
    ndcg += gain / ideal
    recall += found / wanted.size
  }
  return { ndcg: (100 * ndcg) / relevant.size, recall: (100 * recall) / relevant.size }
}

const results: Record<string, unknown>[] = []
const served = await serve(values.postgres)
for (const set of readdirSync(folder).filter((name) => existsSync(path.join(folder, name, 'qrels.jsonl')))) {
  const docs = read<Doc>(set, 'docs.jsonl')
  const queries = read<Query>(set, 'queries.jsonl')
  const names = [...new Set(docs.map(({ collection = '' }) => collection))]
  const { tokens } = await served.agents(names.length)
  const docOf = new Map<string, string>()
  const started = performance.now()
  await Promise.all(
    names.map(async (name, i) => {
      for (const { id, title, content, collection = '' } of docs) {
        if (collection !== name) continue
        const made = await served.call<{ id: string }>('POST', '/memories', tokens[i]!, {
          type: 'semantic',
          scope: 'agent',
          title,
          content,
        })
        docOf.set(made.id, id)
      }
    }),
  )
  const stored = performance.now()
  await served.app.memory.embedding.idle()
  const embedded = performance.now()
  const run = new Map<string, string[]>()
  const times: number[] = []
  for (const { id, query, collection = '' } of queries) {
    const asked = performance.now()
    const { results: found } = await served.call<{ results: { memory: { id: string } }[] }>(
      'POST',
      '/memories/search',
      tokens[names.indexOf(collection)]!,
      { query, limit: 10 },
    )
    times.push(performance.now() - asked)
    run.set(
      id,
      found.map(({ memory }) => docOf.get(memory.id)!),
    )
  }
  const relevant = new Map<string, Set<string>>()
  for (const { query, doc, relevance } of read<{ query: string; doc: string; relevance: number }>(set, 'qrels.jsonl')) {
    if (relevance > 0) relevant.set(query, (relevant.get(query) ?? new Set()).add(doc))
  }
  const { ndcg, recall } = score(relevant, run)
  const row = {
    set,
    engine: served.store.dialect.engine,
    docs: docs.length,
    queries: queries.length,
    'nDCG@10': +ndcg.toFixed(1),
    'R@10': +recall.toFixed(1),
    'stored s': +((stored - started) / 1000).toFixed(1),
    'embedded s': +((embedded - started) / 1000).toFixed(1),
    'search p50 ms': +quantile(times, 0.5).toFixed(1),
    'search p99 ms': +quantile(times, 0.99).toFixed(1),
    'RSS MB': Math.round(process.memoryUsage().rss / 1e6),
  }
  results.push(row)
}
await served.stop()
console.table(results)
if (values.json) writeFileSync(values.json, JSON.stringify(results, null, 2))
