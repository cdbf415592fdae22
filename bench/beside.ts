// How memories affect events in the same service: the time from publish to receipt by long poll at a steady rate, in
// turns alone, during searches over memories of the same tenant, and while a burst of new memories is embedded.
import { performance } from 'node:perf_hooks'
import { Connection, quantile, type Call } from './support/load.ts'
import { steadily } from './support/far-ends.ts'
import { report } from './support/report.ts'
import { startService } from './support/servers.ts'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 6)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 4)
const PER_SECOND = Number(process.env['BENCH_RATE'] ?? 200)
const MEMORIES = Number(process.env['BENCH_MEMORIES'] ?? 3_000)
const SEARCHES_PER_SECOND = Number(process.env['BENCH_SEARCHES'] ?? 10)
/** New memories in a burst: at some 400 a second, about as many as can be embedded while the events are measured. */
const BURST = SECONDS * 400
const ENGINES = (process.env['BENCH_ENGINES'] ?? 'sqlite,postgres').split(',') as ('sqlite' | 'postgres')[]
const SCOPES = ['send', 'receive', 'interests:write', 'memory:read', 'memory:write']
const WORDS =
  'order invoice server garden music train report customer deploy backup password meeting lunch printer badge coffee river engine'.split(
    ' ',
  )
const sentence = (n: number): string =>
  Array.from({ length: n }, () => WORDS[Math.floor(Math.random() * WORDS.length)]).join(' ')

const rows: Record<string, unknown>[] = []
for (const engine of ENGINES) {
  const service = await startService(engine, { LOG_LEVEL: 'warn' })
  const agent = await service.agent(SCOPES)
  await service.call('POST', `/v1/agents/${agent.id}/interests`, agent.token, {
    event_type: 'beside.*',
    filter_expression: null,
    priority: 0,
    enrichment_depth: 'none',
  })
  const creators = Array.from({ length: 16 }, () => new Connection(service.port))
  const memory = (): string =>
    JSON.stringify({ type: 'semantic', scope: 'agent', title: sentence(3), content: sentence(15) })
  let created = 0
  const create = (many: number): Promise<unknown> =>
    Promise.all(
      creators.map(async (creator, i) => {
        for (let n = i; n < many; n += creators.length, created++) {
          await creator.send({ method: 'POST', path: '/v1/memories', token: agent.token, body: memory() })
        }
      }),
    )
  /** Waits until the model has nothing left to do. Of two memories that say the same it may embed only one. */
  async function embedded(): Promise<void> {
    let last = -1
    for (let unchanged = 0; unchanged < 20; unchanged++) {
      const { body } = await creators[0]!.send({ method: 'GET', path: '/metrics' })
      const count = Number(/^sensorium_memories_embedded_total (\d+)/m.exec(body.toString())?.[1] ?? 0)
      if (count >= created) return
      if (count !== last) unchanged = 0
      last = count
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  await create(MEMORIES)
  await embedded()
  const search = (): Promise<{ results: unknown[] }> =>
    service.call('POST', '/v1/memories/search', agent.token, { query: sentence(4), limit: 10 })
  await search()

  const sentAt = new Map<string, number>()
  let times: number[] = []
  let done = false
  let n = 0
  const receiving = (async () => {
    const connection = new Connection(service.port)
    while (!done) {
      const { body } = await connection.send({
        method: 'GET',
        path: '/v1/delivery/poll?limit=100&wait=2',
        token: agent.token,
      })
      const text = body.toString('latin1')
      const now = performance.now()
      for (const [, id] of text.matchAll(/"event_id":"([^"]+)"/g)) times.push(now - sentAt.get(id!)!)
      const ids = text.match(/"dlv_[0-9a-z]+"/g) ?? []
      if (ids.length > 0)
        await connection.send({
          method: 'POST',
          path: '/v1/delivery/ack',
          token: agent.token,
          body: `{"delivery_ids":[${ids.join(',')}]}`,
        })
    }
    connection.close()
  })()
  const senders = Array.from({ length: 16 }, () => new Connection(service.port))
  const publish = (): Call => {
    const id = `b-${process.pid}-${n++}`
    sentAt.set(id, performance.now())
    return {
      method: 'POST',
      path: '/v1/events',
      token: agent.token,
      body: `{"specversion":"1.0","type":"beside.x","source":"/bench","id":"${id}","data":{"n":${n}}}`,
    }
  }
  async function events(withSearches: boolean, burst = 0): Promise<number[]> {
    times = []
    const underWay: Promise<unknown>[] = [create(burst)]
    const every = Math.round(PER_SECOND / SEARCHES_PER_SECOND)
    await steadily(PER_SECOND, SECONDS, (i) => {
      underWay.push(senders[i % senders.length]!.send(publish()))
      if (withSearches && i % every === 0) underWay.push(search())
    })
    await Promise.all(underWay)
    while (times.length < PER_SECOND * SECONDS) await new Promise((resolve) => setTimeout(resolve, 5))
    await embedded()
    return times
  }
  await events(true)
  const alone: number[] = []
  const beside: number[] = []
  const burst: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    alone.push(...(await events(false)))
    beside.push(...(await events(true)))
    burst.push(...(await events(false, BURST)))
  }
  done = true
  await receiving
  const at = (values: number[], q: number): number =>
    quantile(
      values.toSorted((a, b) => a - b),
      q,
    )
  rows.push({
    engine,
    memories: MEMORIES,
    searches_per_s: SEARCHES_PER_SECOND,
    alone_p50_ms: at(alone, 0.5),
    beside_p50_ms: at(beside, 0.5),
    alone_p99_ms: at(alone, 0.99),
    beside_p99_ms: at(beside, 0.99),
    p99_ratio: at(beside, 0.99) / at(alone, 0.99),
    goal: 'at most 1.2',
    burst_p50_ms: at(burst, 0.5),
    burst_p99_ms: at(burst, 0.99),
    rss_mb: service.rssMb(),
  })
  for (const connection of [...senders, ...creators]) connection.close()
  await service.stop()
}
report('beside', rows)
