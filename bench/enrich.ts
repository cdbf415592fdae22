// What enrichment adds to a poll: one delivery against a hundred at once, each about something else, with `light` and
// with `full`, and how many of the hundred carried their block.
import { performance } from 'node:perf_hooks'
import { Connection, quantile } from './support/load.ts'
import { readMaterial } from './support/many-memories.ts'
import { report } from './support/report.ts'
import { startService } from './support/servers.ts'

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5)
const MEMORIES = Number(process.env['BENCH_MEMORIES'] ?? 300)
const MANY = 100
const ENGINES = (process.env['BENCH_ENGINES'] ?? 'sqlite,postgres').split(',') as ('sqlite' | 'postgres')[]
const SCOPES = ['send', 'receive', 'interests:write', 'memory:read', 'memory:write']

const { texts } = await readMaterial()
const median = (times: number[]): number =>
  quantile(
    times.sort((a, b) => a - b),
    0.5,
  )

const rows: Record<string, unknown>[] = []
for (const engine of ENGINES) {
  const service = await startService(engine, { LOG_LEVEL: 'warn' })
  for (const depth of ['light', 'full'] as const) {
    const agent = await service.agent(SCOPES)
    const connection = new Connection(service.port)
    const post = (path: string, body: object): ReturnType<Connection['send']> =>
      connection.send({ method: 'POST', path, token: agent.token, body: JSON.stringify(body) })
    await post(`/v1/agents/${agent.id}/interests`, {
      ...{ event_type: 'enrich.*', filter_expression: null, priority: 0, enrichment_depth: depth },
    })
    for (let i = 0; i < MEMORIES; i++)
      await post('/v1/memories', {
        type: 'semantic',
        scope: 'agent',
        title: `Note ${i}`,
        content: texts[i % texts.length],
      })
    let n = 0
    /** Publishes so many and polls them: the time of the poll, and how many came with a block. */
    async function poll(many: number): Promise<{ ms: number; enriched: number }> {
      for (let i = 0; i < many; i++, n++)
        await post('/v1/events', {
          ...{ specversion: '1.0', type: 'enrich.x', source: '/bench', id: `${depth}-${n}` },
          data: { message: texts[(n * 7) % texts.length]!.split(' ').slice(0, 9).join(' '), n },
        })
      const asked = performance.now()
      const { body } = await connection.send({ method: 'GET', path: '/v1/delivery/poll?limit=100', token: agent.token })
      const ms = performance.now() - asked
      const { deliveries } = JSON.parse(body.toString()) as {
        deliveries: { id: string; payload: { enrichment?: object } }[]
      }
      if (deliveries.length !== many) throw new Error(`${deliveries.length} of ${many} came`)
      await post('/v1/delivery/ack', { delivery_ids: deliveries.map(({ id }) => id) })
      return { ms, enriched: deliveries.filter(({ payload }) => payload.enrichment).length }
    }
    for (let i = 0; i < 5; i++) await poll(1)
    const one: number[] = []
    const many: number[] = []
    let enriched = 0
    for (let round = 0; round < ROUNDS; round++) {
      for (let i = 0; i < 5; i++) one.push((await poll(1)).ms)
      const polled = await poll(MANY)
      many.push(polled.ms)
      enriched += polled.enriched
    }
    connection.close()
    rows.push({
      engine,
      depth,
      memories: MEMORIES,
      'one, ms': median(one),
      'a hundred, ms': median(many),
      ratio: median(many) / median(one),
      'with a block, %': (100 * enriched) / (ROUNDS * MANY),
    })
  }
  await service.stop()
}
report('enrich', rows)
