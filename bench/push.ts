// 2,000 deliveries a second pushed to a local endpoint, measured from publish to receipt, while 1,000 other agents have
// endpoints that hang.
import { performance } from 'node:perf_hooks'
import { Connection, quantile } from './support/load.ts'
import { inParallel, startEndpoint, startHangingEndpoint, steadily } from './support/far-ends.ts'
import { cpuOf } from './support/processes.ts'
import { report } from './support/report.ts'
import { startService, type Service } from './support/servers.ts'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 10)
const PER_SECOND = Number(process.env['BENCH_RATE'] ?? 2_000)
const HANGING = 1_000
const ENGINES = (process.env['BENCH_ENGINES'] ?? 'sqlite,postgres').split(',') as ('sqlite' | 'postgres')[]
const SCOPES = ['send', 'receive', 'interests:write']

async function pushed(service: Service, url: string, type: string): Promise<{ id: string; token: string }> {
  const agent = await service.agent(SCOPES)
  await service.call('POST', `/v1/agents/${agent.id}/interests`, agent.token, {
    event_type: type,
    filter_expression: null,
    priority: 0,
    enrichment_depth: 'none',
  })
  await service.call('PATCH', `/v1/agents/${agent.id}`, service.admin, {
    delivery_mode: 'push',
    delivery_endpoint: url,
  })
  return agent
}

async function measure(engine: 'sqlite' | 'postgres', agents: number): Promise<Record<string, unknown>> {
  const service = await startService(engine, { PUSH_ALLOW_PRIVATE: 'on', LOG_LEVEL: 'warn' })
  const sentAt = new Map<string, number>()
  const times: number[] = []
  let arrived = 0
  const endpoint = await startEndpoint((body) => {
    arrived++
    const sent = sentAt.get(/"event_id":"([^"]+)"/.exec(body)![1]!)
    if (sent !== undefined) times.push(performance.now() - sent)
  })
  const hanging = await startHangingEndpoint()
  const sender = await service.agent(SCOPES)
  await inParallel(HANGING, 16, async () => void (await pushed(service, hanging.url, 'stuck.*')))
  for (let i = 0; i < agents; i++) await pushed(service, endpoint.url, 'good.*')

  const connections = Array.from({ length: 32 }, () => new Connection(service.port))
  let n = 0
  let opened = connections.length
  const publish = async (type: string, timed: boolean): Promise<void> => {
    const id = `p-${process.pid}-${n++}`
    const body = `{"specversion":"1.0","type":"${type}","source":"/bench","id":"${id}","data":{"n":${n},"text":"${'x'.repeat(200)}"}}`
    const connection = connections.pop() ?? (opened++, new Connection(service.port))
    if (timed) sentAt.set(id, performance.now())
    const { status } = await connection
      .send({ method: 'POST', path: '/v1/events', token: sender.token, body })
      .catch((error: unknown) => {
        throw new Error(`publish ${n} (${opened} connections) failed: ${String(error)}`)
      })
    connections.push(connection)
    if (status !== 202) throw new Error(`publish answered ${status}`)
  }
  const underWay: Promise<void>[] = []
  const rate = PER_SECOND / agents
  // The hanging endpoints get three events each, and one more every second while the others are measured.
  for (let i = 0; i < 3; i++) await publish('stuck.x', false)
  await steadily(rate, 2, () => void underWay.push(publish('good.x', false)))
  await Promise.all(underWay)
  const held = hanging.open()
  const before = arrived
  const cpuBefore = cpuOf(service.pid)
  const started = performance.now()
  await steadily(rate, SECONDS, (i) => {
    underWay.push(publish('good.x', true))
    if (i % Math.round(rate) === 0) underWay.push(publish('stuck.x', false))
  })
  await Promise.all(underWay)
  const wanted = before + rate * SECONDS * agents
  const limit = performance.now() + 20_000
  while (times.length < rate * SECONDS * agents && performance.now() < limit)
    await new Promise((resolve) => setTimeout(resolve, 5))
  const took = (performance.now() - started) / 1000
  const cpu = cpuOf(service.pid) - cpuBefore
  times.sort((a, b) => a - b)
  const row = {
    engine,
    agents,
    hanging: HANGING,
    heldByHanging: held,
    wanted: wanted - before,
    received: times.length,
    perSecond: times.length / took,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    max: times.at(-1),
    cpuShare: cpu / took,
    rssMb: service.rssMb(),
  }
  for (const connection of connections) connection.close()
  endpoint.stop()
  hanging.stop()
  await service.stop()
  return row
}

const rows = []
for (const engine of ENGINES) for (const agents of [1, 20]) rows.push(await measure(engine, agents))
report('push', rows)
