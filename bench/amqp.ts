// Messages of 250 bytes from a durable queue of a real RabbitMQ into the store, one delivery each; every message is
// settled after its event is on disk. Measures messages a second, from the first to the last that is stored.
import { performance } from 'node:perf_hooks'
import { jsonMessage, sendAll } from '../packages/server/test/alone/amqp-tools.ts'
import { startRabbit } from '../packages/server/test/support/rabbitmq.ts'
import { cpuOf } from './support/processes.ts'
import { report } from './support/report.ts'
import { startService } from './support/servers.ts'

const COUNT = Number(process.env['BENCH_MESSAGES'] ?? 30_000)
const ENGINES = (process.env['BENCH_ENGINES'] ?? 'sqlite,postgres').split(',') as ('sqlite' | 'postgres')[]
const CREDIT = 200
const OPERATOR_TOKEN = 'operator-token-of-the-bench'
const PADDING = 'x'.repeat(150)

const rabbit = await startRabbit()
const rows: Record<string, unknown>[] = []
for (const engine of ENGINES) {
  const queue = `bench-${engine}`
  await sendAll(
    rabbit,
    queue,
    Array.from({ length: COUNT }, (_, i) =>
      jsonMessage({ entity: 'order', action: 'created', id: `o-${i}`, text: PADDING }),
    ),
  )
  const service = await startService(engine, { OPERATOR_TOKEN, LOG_LEVEL: 'warn' })
  const agent = await service.agent(['receive', 'interests:write'])
  await service.call('POST', `/v1/agents/${agent.id}/interests`, agent.token, {
    event_type: 'com.erp.*',
    priority: 0,
    enrichment_depth: 'none',
  })
  const stored = async (): Promise<number> =>
    (
      await service.call<{ days: { events: number }[] }>('GET', '/operator/usage?tenant=default', OPERATOR_TOKEN)
    ).days.reduce((sum, { events }) => sum + events, 0)
  await service.call('POST', '/operator/connectors', OPERATOR_TOKEN, {
    tenant: 'default',
    source: 'erp',
    url: rabbit.url,
    address: `/amq/queue/${queue}`,
    credit: CREDIT,
  })
  let first = 0
  while (first === 0) first = await stored()
  const started = performance.now()
  const cpuBefore = cpuOf(service.pid)
  let now = first
  while (now < COUNT) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    now = await stored()
  }
  const seconds = (performance.now() - started) / 1000
  // On a machine that others use too, the CPU time says more than the elapsed time.
  const cpu_us = Math.round(((cpuOf(service.pid) - cpuBefore) * 1e6) / (COUNT - first))
  rows.push({
    engine,
    messages: COUNT,
    seconds,
    per_s: Math.round((COUNT - first) / seconds),
    service_cpu_us: cpu_us,
    rss_mb: service.rssMb(),
  })
  await service.stop()
}
await rabbit.stop()
report('amqp', rows)
process.exit(0)
