// GET /v1/agents/{id} with a token: what authentication, limits, scope, metrics, a log line and a read from the
// embedded store cost, compared with a bare Fastify route that returns the same body. Both are measured in turns in one
// run, each alone, so that other work on the machine affects both. The processor time of a request says the same as its
// rate, with less noise. With two clients: a very lean one, and Node's own fetch, which is what an agent uses.
import { Connection, FetchClient, hammer, type Call } from './support/load.ts'
import { cpuOf } from './support/processes.ts'
import { report } from './support/report.ts'
import { startBare, startService, type Running } from './support/servers.ts'

const CONNECTIONS = 64
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5)
const GOAL = 0.7

type Kinds = typeof Connection | typeof FetchClient

interface Measured {
  perSecond: number
  p99: number
  cpuMicros: number
}

async function measure(server: Running, request: Call, Kind: Kinds, seconds = SECONDS): Promise<Measured> {
  const before = cpuOf(server.pid)
  const { perSecond, requests, p99 } = await hammer(server.port, CONNECTIONS, seconds, () => request, [200], Kind)
  return { perSecond, p99, cpuMicros: (1e6 * (cpuOf(server.pid) - before)) / requests }
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

const bare = await startBare()
const service = await startService('sqlite')
const idleRss = service.rssMb()
const agent = await service.agent(['receive'])
const request = { method: 'GET', path: `/v1/agents/${agent.id}`, token: agent.token }

const rows: Record<string, unknown>[] = []
for (const [client, Kind] of [
  ['fetch', FetchClient],
  ['sockets', Connection],
] as const) {
  for (const server of [bare, service]) await measure(server, request, Kind, 1)
  const rounds: { bare: Measured; service: Measured }[] = []
  for (let round = 0; round < ROUNDS; round++)
    rounds.push({ bare: await measure(bare, request, Kind), service: await measure(service, request, Kind) })
  const of = (who: 'bare' | 'service', what: keyof Measured): number => median(rounds.map((round) => round[who][what]))
  rows.push({
    client,
    bare_per_s: Math.round(of('bare', 'perSecond')),
    service_per_s: Math.round(of('service', 'perSecond')),
    ratio: median(rounds.map((round) => round.service.perSecond / round.bare.perSecond)),
    bare_cpu_us: of('bare', 'cpuMicros'),
    service_cpu_us: of('service', 'cpuMicros'),
    cpu_ratio: of('bare', 'cpuMicros') / of('service', 'cpuMicros'),
    service_p99_ms: of('service', 'p99'),
    idle_rss_mb: idleRss,
    goal: GOAL,
  })
}
await service.stop()
await bare.stop()
report('agents', rows)
