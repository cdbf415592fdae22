// What searches do to the events beside them: publish to receipt by long poll at a steady rate, in turns without searches and with
// them, over memories of the same tenant.
import { performance } from 'node:perf_hooks'
import { Connection, quantile, type Call } from './support/load.ts'
import { inParallel, steadily } from './support/far-ends.ts'
import { report } from './support/report.ts'
import { startService } from './support/servers.ts'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 6)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 4)
const PER_SECOND = Number(process.env['BENCH_RATE'] ?? 200)
const MEMORIES = Number(process.env['BENCH_MEMORIES'] ?? 3_000)
const SEARCHES_PER_SECOND = Number(process.env['BENCH_SEARCHES'] ?? 10)
const ENGINES = (process.env['BENCH_ENGINES'] ?? 'sqlite,postgres').split(',') as ('sqlite' | 'postgres')[]
const SCOPES = ['send', 'receive', 'interests:write', 'memory:read', 'memory:write']
const WORDS = 'order invoice server garden music train report customer deploy backup password meeting lunch printer badge coffee river engine'.split(' ')
const sentence = (n: number): string => Array.from({ length: n }, () => WORDS[Math.floor(Math.random() * WORDS.length)]).join(' ')

const rows: Record<string, unknown>[] = []
for (const engine of ENGINES) {
  const service = await startService(engine, { LOG_LEVEL: 'warn' })
  const agent = await service.agent(SCOPES)
  await service.call('POST', `/v1/agents/${agent.id}/interests`, agent.token, { event_type: 'beside.*', filter_expression: null, priority: 0, enrichment_depth: 'none' })
  await inParallel(MEMORIES, 16, async () => {
    await service.call('POST', '/v1/memories', agent.token, { type: 'semantic', scope: 'agent', title: sentence(3), content: sentence(15) })
  })
  const search = (): Promise<{ results: unknown[] }> => service.call('POST', '/v1/memories/search', agent.token, { query: sentence(4), limit: 10 })
  await search()

  const sentAt = new Map<string, number>()
  let times: number[] = []
  let done = false
  let n = 0
  const receiving = (async () => {
    const connection = new Connection(service.port)
    while (!done) {
      const { body } = await connection.send({ method: 'GET', path: '/v1/delivery/poll?limit=100&wait=2', token: agent.token })
      const text = body.toString('latin1')
      const now = performance.now()
      for (const [, id] of text.matchAll(/"event_id":"([^"]+)"/g)) times.push(now - sentAt.get(id!)!)
      const ids = text.match(/"dlv_[0-9a-z]+"/g) ?? []
      if (ids.length > 0) await connection.send({ method: 'POST', path: '/v1/delivery/ack', token: agent.token, body: `{"delivery_ids":[${ids.join(',')}]}` })
    }
    connection.close()
  })()
  const senders = Array.from({ length: 16 }, () => new Connection(service.port))
  const publish = (): Call => {
    const id = `b-${process.pid}-${n++}`
    sentAt.set(id, performance.now())
    return { method: 'POST', path: '/v1/events', token: agent.token, body: `{"specversion":"1.0","type":"beside.x","source":"/bench","id":"${id}","data":{"n":${n}}}` }
  }
  async function events(withSearches: boolean): Promise<number[]> {
    times = []
    const underWay: Promise<unknown>[] = []
    const every = Math.round(PER_SECOND / SEARCHES_PER_SECOND)
    await steadily(PER_SECOND, SECONDS, (i) => {
      underWay.push(senders[i % senders.length]!.send(publish()))
      if (withSearches && i % every === 0) underWay.push(search())
    })
    await Promise.all(underWay)
    while (times.length < PER_SECOND * SECONDS) await new Promise((resolve) => setTimeout(resolve, 5))
    return times
  }
  await events(true)
  const alone: number[] = []
  const beside: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    alone.push(...(await events(false)))
    beside.push(...(await events(true)))
  }
  done = true
  await receiving
  const at = (values: number[], q: number): number => quantile(values.toSorted((a, b) => a - b), q)
  rows.push({
    engine, memories: MEMORIES, searches_per_s: SEARCHES_PER_SECOND,
    alone_p50_ms: at(alone, 0.5), beside_p50_ms: at(beside, 0.5), alone_p99_ms: at(alone, 0.99), beside_p99_ms: at(beside, 0.99),
    p99_ratio: at(beside, 0.99) / at(alone, 0.99), goal: 'at most 1.2', rss_mb: service.rssMb(),
  })
  for (const sender of senders) sender.close()
  await service.stop()
}
report('beside', rows)
