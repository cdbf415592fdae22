// What enrichment adds to a poll: one delivery compared with a hundred, each about something else, without enrichment,
// with `light` and with `full`. They are polled right after the publish, or LATER_MS later, when the searches for them
// have run ahead of the poll. Also shows how many of the hundred carried their block, and the processor time of the
// service from the first publish to the response.
import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { Connection, quantile } from './support/load.ts'
import { readMaterial } from './support/many-memories.ts'
import { report } from './support/report.ts'
import { startService } from './support/servers.ts'

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5)
const MEMORIES = Number(process.env['BENCH_MEMORIES'] ?? 300)
const MANY = 100
const LATER_MS = 2_000
const TICK_MS = 10
const ENGINES = (process.env['BENCH_ENGINES'] ?? 'sqlite,postgres').split(',') as ('sqlite' | 'postgres')[]
const SCOPES = ['send', 'receive', 'interests:write', 'memory:read', 'memory:write']

const { texts } = await readMaterial()
const median = (times: number[]): number =>
  quantile(
    times.sort((a, b) => a - b),
    0.5,
  )

/** Returns the processor time of a process so far, all threads together. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

interface Polled {
  ms: number
  cpu: number
  enriched: number
}

const rows: Record<string, unknown>[] = []
for (const engine of ENGINES) {
  const service = await startService(engine, { LOG_LEVEL: 'warn' })
  for (const depth of ['none', 'light', 'full'] as const) {
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
    /** Publishes that many events and polls them after a pause. */
    async function poll(many: number, pauseMs: number): Promise<Polled> {
      const before = cpuMs(service.pid)
      for (let i = 0; i < many; i++, n++)
        await post('/v1/events', {
          ...{ specversion: '1.0', type: 'enrich.x', source: '/bench', id: `${depth}-${n}` },
          data: { message: texts[(n * 7) % texts.length]!.split(' ').slice(0, 9).join(' '), n },
        })
      if (pauseMs > 0) await sleep(pauseMs)
      const asked = performance.now()
      const { body } = await connection.send({ method: 'GET', path: '/v1/delivery/poll?limit=100', token: agent.token })
      const ms = performance.now() - asked
      const cpu = cpuMs(service.pid) - before
      const { deliveries } = JSON.parse(body.toString()) as {
        deliveries: { id: string; payload: { enrichment?: object } }[]
      }
      if (deliveries.length !== many) throw new Error(`${deliveries.length} of ${many} came`)
      await post('/v1/delivery/ack', { delivery_ids: deliveries.map(({ id }) => id) })
      return { ms, cpu, enriched: deliveries.filter(({ payload }) => payload.enrichment).length }
    }
    for (let i = 0; i < 5; i++) await poll(1, 0)
    for (const pauseMs of [0, LATER_MS]) {
      const one: Polled[] = []
      const many: Polled[] = []
      for (let round = 0; round < ROUNDS; round++) {
        for (let i = 0; i < 5; i++) one.push(await poll(1, pauseMs === 0 ? 0 : 100))
        many.push(await poll(MANY, pauseMs))
      }
      const msOf = (polled: Polled[]): number => median(polled.map(({ ms }) => ms))
      rows.push({
        engine,
        depth,
        polled: pauseMs === 0 ? 'at once' : 'later',
        'one, ms': msOf(one),
        'a hundred, ms': msOf(many),
        ratio: msOf(many) / msOf(one),
        'cpu of a hundred, ms': median(many.map(({ cpu }) => cpu)),
        'with a block, %': (100 * many.reduce((sum, { enriched }) => sum + enriched, 0)) / (ROUNDS * MANY),
      })
    }
    connection.close()
  }
  await service.stop()
}
report('enrich', rows)
