// Retrieval quality through the HTTP interface:
//
//   node bench/recall.ts FOLDER [--postgres URL] [--json FILE] [--reliability SVG]
//
// FOLDER has a folder for each set of judged queries (bench/collections has two small ones, about words that occur in
// passing and words that are the answer), with docs.jsonl {id, title, content, collection?}, queries.jsonl {id, query,
// collection?} and qrels.jsonl {query, doc, relevance}. Each collection is an agent, each document a memory of its own,
// each query a search for ten. Prints nDCG@10, recall@10 and the time of a search; how far the scores lie from the
// share of relevant results; and what the floor of enrichment leaves of the results for a query's own collection, and
// for queries of the other sets, which have nothing to do with it. The SVG is the diagram in docs/images.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { FLOOR } from '../packages/server/src/enrichment/enrich.ts'
import { calibrationError, drawReliability, type Judged } from './support/calibration.ts'
import { quantile, serve } from './support/memory-service.ts'

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
  options: { postgres: { type: 'string' }, json: { type: 'string' }, reliability: { type: 'string' } },
})
const folder = positionals[0]
if (!folder) throw new Error('usage: node bench/recall.ts FOLDER [--postgres URL] [--json FILE] [--reliability SVG]')
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

interface Answer {
  doc: string
  score: number
}

interface Stored {
  set: string
  queries: Query[]
  relevant: Map<string, Set<string>>
  names: string[]
  ask(query: string, collection: string): Promise<Answer[]>
  row: Record<string, unknown>
}

const served = await serve(values.postgres)

async function store(set: string): Promise<Stored> {
  const docs = read<Doc>(set, 'docs.jsonl')
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
  const relevant = new Map<string, Set<string>>()
  for (const { query, doc, relevance } of read<{ query: string; doc: string; relevance: number }>(set, 'qrels.jsonl')) {
    if (relevance > 0) relevant.set(query, (relevant.get(query) ?? new Set()).add(doc))
  }
  return {
    set,
    queries: read<Query>(set, 'queries.jsonl'),
    relevant,
    names,
    async ask(query, collection) {
      const { results } = await served.call<{ results: { memory: { id: string }; score: number }[] }>(
        'POST',
        '/memories/search',
        tokens[names.indexOf(collection)]!,
        { query, limit: 10 },
      )
      return results.map(({ memory, score }) => ({ doc: docOf.get(memory.id)!, score }))
    },
    row: {
      set,
      engine: served.store.dialect.engine,
      docs: docs.length,
      'stored s': +((stored - started) / 1000).toFixed(1),
      'embedded s': +((embedded - started) / 1000).toFixed(1),
    },
  }
}

/** Whether a block of three, after the floor is applied, contains any result, or a relevant one. */
const holds = (answers: readonly Answer[], wanted?: ReadonlySet<string>): boolean =>
  answers.slice(0, 3).some(({ doc, score }) => score >= FLOOR.score && (wanted?.has(doc) ?? true))

const judgedOf: Record<string, Judged[]> = {}

/** Runs the queries of a set in their own collections. */
async function ownQueries({ set, queries, relevant, ask, row }: Stored): Promise<void> {
  const run = new Map<string, string[]>()
  const times: number[] = []
  const judged: Judged[] = (judgedOf[set] = [])
  let answered = 0
  let kept = 0
  for (const { id, query, collection = '' } of queries) {
    const wanted = relevant.get(id)
    const asked = performance.now()
    const answers = await ask(query, collection)
    times.push(performance.now() - asked)
    run.set(
      id,
      answers.map(({ doc }) => doc),
    )
    if (!wanted) continue
    judged.push(...answers.map(({ doc, score }) => ({ score, relevant: wanted.has(doc) })))
    if (!answers.slice(0, 3).some(({ doc }) => wanted.has(doc))) continue
    answered++
    if (holds(answers, wanted)) kept++
  }
  const { ndcg, recall } = score(relevant, run)
  Object.assign(row, {
    queries: queries.length,
    'nDCG@10': +ndcg.toFixed(2),
    'R@10': +recall.toFixed(2),
    'score off by': +calibrationError(judged).toFixed(3),
    'kept %': +((100 * kept) / answered).toFixed(1),
    'search p50 ms': +quantile(times, 0.5).toFixed(1),
    'search p99 ms': +quantile(times, 0.99).toFixed(1),
    'RSS MB': Math.round(process.memoryUsage().rss / 1e6),
  })
}

/** Runs the queries of the other sets, each in one of this set's collections, and adds the share that finds nothing. */
async function strangers({ names, ask, row }: Stored, others: readonly Query[]): Promise<void> {
  let none = 0
  for (const [i, { query }] of others.entries()) if (!holds(await ask(query, names[i % names.length]!))) none++
  if (others.length > 0) row['strangers with none %'] = +((100 * none) / others.length).toFixed(1)
}

const sets: Stored[] = []
for (const set of readdirSync(folder).filter((name) => existsSync(path.join(folder, name, 'qrels.jsonl'))))
  sets.push(await store(set))
for (const set of sets) {
  await ownQueries(set)
  await strangers(
    set,
    sets.filter((other) => other !== set).flatMap(({ queries }) => queries),
  )
}
await served.stop()
const results = sets.map(({ row }) => row)
console.table(results)
if (values.json) writeFileSync(values.json, JSON.stringify(results, null, 2))
if (values.reliability) writeFileSync(values.reliability, drawReliability(judgedOf))
