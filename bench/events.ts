// One event of 350 bytes to three recipients, 64 publishers; each recipient pulls 100 at a time and acknowledges them.
// Every rate is a multiple of that of a bare Fastify route that stores nothing, measured in turns in the same run and
// with the same client: Node's own fetch, which is what an agent uses, and a very lean one, with which the bare route
// is four times as fast. `sql` is the rate of the store alone with the same rows in groups of 64, without anything in
// front of it.
import { performance } from 'node:perf_hooks'
import { rawPublish } from './support/raw-publish.ts'
import { Connection, FetchClient, hammer, quantile, type Call } from './support/load.ts'
import { report } from './support/report.ts'
import { startBare, startService, type Service } from './support/servers.ts'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3)
const ENGINES = (process.env['BENCH_ENGINES'] ?? 'sqlite,postgres').split(',') as ('sqlite' | 'postgres')[]

let n = 0
const PADDING = 'x'.repeat(180)
const event = (type = 'com.bench.order.created'): string =>
  `{"specversion":"1.0","type":"${type}","source":"/bench","id":"e-${process.pid}-${n++}","time":"2030-01-01T00:00:00Z","data":{"total":${n % 500},"region":"eu","text":"${PADDING}"}}`

const publishRequest = (token: string) => (): Call => ({ method: 'POST', path: '/v1/events', token, body: event() })
const batchRequest = (token: string) => (): Call => ({
  method: 'POST',
  path: '/v1/events',
  token,
  contentType: 'application/cloudevents-batch+json',
  body: `[${Array.from({ length: 100 }, () => event()).join(',')}]`,
})
const pollOf = (token: string, query: string): Call => ({ method: 'GET', path: `/v1/delivery/poll?${query}`, token })
const ackOf = (token: string, ids: readonly string[]): Call => ({
  method: 'POST',
  path: '/v1/delivery/ack',
  token,
  body: `{"delivery_ids":[${ids.map((id) => id.slice('"id":'.length)).join(',')}]}`,
})
const idsIn = (body: string): string[] => body.match(/"id":"dlv_[0-9a-z]+"/g) ?? []

type Kinds = typeof Connection | typeof FetchClient

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** Pulls until the mailbox is empty or the time is up. Returns deliveries a second. */
async function drain(service: Service, tokens: string[], seconds: number, Kind: Kinds): Promise<number> {
  const until = performance.now() + seconds * 1000
  const started = performance.now()
  let settled = 0
  await Promise.all(
    tokens.map(async (token) => {
      const connection = new Kind(service.port)
      while (performance.now() < until) {
        const ids = idsIn((await connection.send(pollOf(token, 'limit=100'))).body.toString('latin1'))
        if (ids.length === 0) break
        const { status } = await connection.send(ackOf(token, ids))
        if (status !== 200) throw new Error(`ack answered ${status}`)
        settled += ids.length
      }
      connection.close()
    }),
  )
  return settled / ((performance.now() - started) / 1000)
}

/** Measures the time from publish to receipt by long poll at a steady rate. */
async function latency(
  service: Service,
  sender: string,
  receiver: string,
  perSecond: number,
  seconds: number,
): Promise<number[]> {
  const sentAt = new Map<string, number>()
  const times: number[] = []
  let done = false
  const receive = async (): Promise<void> => {
    const connection = new Connection(service.port)
    while (!done) {
      const body = (await connection.send(pollOf(receiver, 'limit=100&wait=2'))).body.toString('latin1')
      const now = performance.now()
      const ids = idsIn(body)
      for (const [, id] of body.matchAll(/"event_id":"([^"]+)"/g)) {
        const sent = sentAt.get(id!)
        if (sent !== undefined) times.push(now - sent)
      }
      if (ids.length > 0) {
        await connection.send(ackOf(receiver, ids))
      }
    }
    connection.close()
  }
  const receiving = receive()
  const senders = Array.from({ length: 32 }, () => new Connection(service.port))
  const started = performance.now()
  const publishes: Promise<unknown>[] = []
  for (let i = 0; i < perSecond * seconds; i++) {
    const due = started + (i * 1000) / perSecond
    while (performance.now() < due)
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())))
    const body = event('com.latency.probe')
    sentAt.set(/"id":"([^"]+)"/.exec(body)![1]!, performance.now())
    publishes.push(senders[i % senders.length]!.send({ method: 'POST', path: '/v1/events', token: sender, body }))
  }
  await Promise.all(publishes)
  done = true
  await receiving
  for (const connection of senders) connection.close()
  return times.sort((a, b) => a - b)
}

const rows: Record<string, unknown>[] = []
const bare = await startBare()
for (const engine of ENGINES) {
  const limit = await rawPublish(engine, SECONDS)
  const service = await startService(engine)
  const sender = await service.agent(['send'])
  const receivers = await Promise.all([1, 2, 3].map(() => service.agent(['receive', 'interests:write'])))
  for (const receiver of receivers) {
    await service.call('POST', `/v1/agents/${receiver.id}/interests`, receiver.token, {
      event_type: 'com.bench.*',
      filter_expression: 'data.total >= 0',
      priority: 0,
      enrichment_depth: 'none',
    })
  }
  const probe = await service.agent(['receive', 'interests:write'])
  await service.call('POST', `/v1/agents/${probe.id}/interests`, probe.token, {
    event_type: 'com.latency.*',
    priority: 0,
    enrichment_depth: 'none',
  })

  for (const [client, Kind] of [
    ['fetch', FetchClient],
    ['sockets', Connection],
  ] as const) {
    await hammer(bare.port, 64, 1, publishRequest('none'), [202], Kind)
    await hammer(service.port, 64, 1, publishRequest(sender.token), [202], Kind)
    const bareRates: number[] = []
    const single: number[] = []
    const batch: number[] = []
    const pulled: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      bareRates.push((await hammer(bare.port, 64, SECONDS, publishRequest('none'), [202], Kind)).perSecond)
      single.push((await hammer(service.port, 64, SECONDS, publishRequest(sender.token), [202], Kind)).perSecond)
      batch.push(100 * (await hammer(service.port, 8, SECONDS, batchRequest(sender.token), [200], Kind)).perSecond)
      pulled.push(
        await drain(
          service,
          receivers.flatMap(({ token }) => [token, token]),
          SECONDS,
          Kind,
        ),
      )
    }
    const times = await latency(service, sender.token, probe.token, 500, SECONDS)
    const base = mean(bareRates)
    rows.push({
      engine,
      client,
      bare_per_s: Math.round(base),
      publish: mean(single) / base,
      batch_events: mean(batch) / base,
      pull_ack: mean(pulled) / base,
      sql: limit / base,
      publish_per_s: Math.round(mean(single)),
      batch_per_s: Math.round(mean(batch)),
      pull_per_s: Math.round(mean(pulled)),
      receipt_p50_ms: quantile(times, 0.5),
      receipt_p99_ms: quantile(times, 0.99),
      rss_mb: service.rssMb(),
    })
  }
  await service.stop()
}
await bare.stop()
report('events', rows)
