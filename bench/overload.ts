// Five times the load that the service can take, with three hundred recipients for each event: what is refused, how
// long a neighbour in another tenant waits meanwhile, how much memory the service uses, and how soon it is calm again.
// The neighbour keeps its connections. A second neighbour, the newcomer, opens a connection for each event. It is
// accepted behind the connections that the flood opens meanwhile, one in a turn of the event loop, so its time shows
// how many those were.
//
// It fails past one of its goals, after everything is stopped. The times count the work of other processes too: repeat
// a failure on a machine that is quiet before you believe it.
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkGoals } from './support/check-goals.ts'
import { Connection, quantile } from './support/load.ts'
import { inParallel, steadily } from './support/far-ends.ts'
import { report } from './support/report.ts'
import { startService, type Service } from './support/servers.ts'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 8)
const RECIPIENTS = Number(process.env['BENCH_RECIPIENTS'] ?? 300)
const TIMES = 5
const ENGINES = (process.env['BENCH_ENGINES'] ?? 'sqlite,postgres').split(',') as ('sqlite' | 'postgres')[]
const OPERATOR_TOKEN = 'operator-token-of-the-bench'
const NEIGHBOUR_PER_SECOND = 20
/** A client that gets no response for this long gives up. */
const GIVE_UP_MS = 10_000
const NEIGHBOUR_CONNECTIONS = 4
/** What the service cannot take is refused at once, and only the flood is refused. */
const GOALS = {
  gave_up: 1,
  refused_p99_ms: 200,
  neighbour_refused: 1,
  neighbour_p99_ms: 200,
  peak_rss_mb: 400,
  calm_after_s: 5,
}
/** A service that is not calm by then is not waited for. */
const CALM_WITHIN_MS = 60_000

async function neighbourOf(service: Service): Promise<{ token: string }> {
  const made = await service.call<{ admin_key: string }>('POST', '/operator/tenants', OPERATOR_TOKEN, {
    slug: 'neighbour',
  })
  const { access_token } = await service.call<{ access_token: string }>('POST', '/v1/auth/token', null, {
    api_key: made.admin_key,
  })
  return { token: access_token }
}

let n = 0
const eventOf = (type: string): string =>
  `{"specversion":"1.0","type":"${type}","source":"/bench","id":"o-${process.pid}-${n++}","data":{"text":"${'x'.repeat(200)}"}}`

/** The status, 0 if there was no response, and the milliseconds. */
type Answered = [number, number]

async function publish(connections: Connection[], port: number, token: string, type: string): Promise<Answered> {
  const connection = connections.pop() ?? new Connection(port)
  const started = performance.now()
  const answer = await Promise.race([
    connection.send({ method: 'POST', path: '/v1/events', token, body: eventOf(type) }).catch(() => null),
    sleep(GIVE_UP_MS, null, { ref: false }),
  ])
  if (answer) connections.push(connection)
  else connection.close()
  return [answer?.status ?? 0, performance.now() - started]
}

async function measure(engine: 'sqlite' | 'postgres'): Promise<Record<string, unknown>> {
  const service = await startService(engine, { OPERATOR_TOKEN, LOG_LEVEL: 'warn' })
  const sender = await service.agent(['send'])
  await inParallel(RECIPIENTS, 16, async () => {
    const agent = await service.agent(['interests:write'])
    await service.call('POST', `/v1/agents/${agent.id}/interests`, agent.token, {
      event_type: 'flood.*',
      priority: 0,
      enrichment_depth: 'none',
    })
  })
  const neighbour = await neighbourOf(service)
  const connections: Connection[] = []
  const kept = Array.from({ length: NEIGHBOUR_CONNECTIONS }, () => new Connection(service.port))
  const flood = (): Promise<Answered> => publish(connections, service.port, sender.token, 'flood.x')
  const publishAsNeighbour = (): Promise<Answered> => publish(kept, service.port, neighbour.token, 'quiet.x')
  const publishAsNewcomer = async (): Promise<Answered> => {
    const own: Connection[] = []
    const answered = await publish(own, service.port, neighbour.token, 'quiet.x')
    for (const connection of own) connection.close()
    return answered
  }

  // The capacity of the service: the rate at which eight clients get responses.
  let done = 0
  const until = performance.now() + 3_000
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (performance.now() < until) if ((await flood())[0] === 202) done++
    }),
  )
  const capacity = done / 3

  const floods: Promise<Answered>[] = []
  const asked: Promise<Answered>[] = []
  const came: Promise<Answered>[] = []
  let peakMb = 0
  const watching = setInterval(() => (peakMb = Math.max(peakMb, service.rssMb())), 100)
  await Promise.all([
    steadily(Math.round(capacity * TIMES), SECONDS, () => void floods.push(flood())),
    steadily(NEIGHBOUR_PER_SECOND, SECONDS, () => void asked.push(publishAsNeighbour())),
    steadily(NEIGHBOUR_PER_SECOND, SECONDS, () => void came.push(publishAsNewcomer())),
  ])
  const ended = performance.now()
  // The service is calm when ten publishes in a row take less than a tenth of a second each.
  for (let quick = 0; quick < 10 && performance.now() - ended < CALM_WITHIN_MS; ) {
    const [status, ms] = await flood()
    quick = status === 202 && ms < 100 ? quick + 1 : 0
  }
  const calmAfterS = (performance.now() - ended) / 1_000
  clearInterval(watching)
  const flooded = await Promise.all(floods)
  const sorted = async (all: readonly Promise<Answered>[]): Promise<number[]> =>
    (await Promise.all(all)).map(([, ms]) => ms).sort((a, b) => a - b)
  const refused = flooded.filter(([status]) => status === 503).map(([, ms]) => ms)
  const row = {
    engine,
    recipients: RECIPIENTS,
    capacity_per_s: capacity,
    offered_per_s: capacity * TIMES,
    accepted: flooded.filter(([status]) => status === 202).length,
    refused: refused.length,
    gave_up: flooded.filter(([status]) => status === 0).length,
    // 0 if none was refused.
    refused_p99_ms:
      quantile(
        refused.sort((a, b) => a - b),
        0.99,
      ) || 0,
    neighbour_refused: (await Promise.all(asked)).filter(([status]) => status !== 202).length,
    neighbour_p99_ms: quantile(await sorted(asked), 0.99),
    newcomer_p99_ms: quantile(await sorted(came), 0.99),
    connections: connections.length,
    peak_rss_mb: peakMb,
    calm_after_s: calmAfterS,
  }
  for (const connection of [...connections, ...kept]) connection.close()
  await service.stop()
  return row
}

const rows: Record<string, unknown>[] = []
for (const engine of ENGINES) rows.push(await measure(engine))
report('overload', rows)
checkGoals(rows, GOALS)
process.exit()
