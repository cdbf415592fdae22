// What the parts of `scale` share: their events, their interests, and filling a store.
import { performance } from 'node:perf_hooks'
import { Connection, hammer, quantile, type Call } from '../support/load.ts'
import { startService, type Service } from '../support/servers.ts'

export type Engine = 'sqlite' | 'postgres'
/** What was measured of the small store and of the large one. */
export type Row = Record<string, unknown>

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4)
const ROUNDS = 4
export const SCOPES = ['send', 'receive', 'interests:write']

let n = 0
const event = (type: string): string =>
  `{"specversion":"1.0","type":"${type}","source":"/bench","id":"s-${process.pid}-${n++}","data":{"total":${n % 500},"text":"${'x'.repeat(200)}"}}`
export const publish = (token: string, type: string): Call => ({
  method: 'POST',
  path: '/v1/events',
  token,
  body: event(type),
})

export const interest = (
  id: string,
  token: string,
  event_type: string,
  filter_expression: string | null = null,
): Call => ({
  method: 'POST',
  path: `/v1/agents/${id}/interests`,
  token,
  body: JSON.stringify({ event_type, filter_expression, priority: 0, enrichment_depth: 'none' }),
})

/** Sends `count` requests, sixteen at a time. */
export async function sendAll(
  service: Service,
  count: number,
  make: (i: number) => Call,
  status: number,
): Promise<void> {
  let i = 0
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      const connection = new Connection(service.port)
      while (i < count) {
        const answer = await connection.send(make(i++))
        if (answer.status !== status)
          throw new Error(`answered ${answer.status}: ${answer.body.toString('utf8', 0, 300)}`)
      }
      connection.close()
    }),
  )
}

export interface Prepared {
  service: Service
  sender: string
  agents: { id: string; token: string }[]
}

export async function withFewInterests(engine: Engine, env: Record<string, string> = {}): Promise<Prepared> {
  const service = await startService(engine, { LOG_LEVEL: 'warn', ...env })
  const agents = await Promise.all(Array.from({ length: 100 }, () => service.agent(SCOPES)))
  const { id, token } = agents[0]!
  await sendAll(service, 1, () => interest(id, token, 'com.bench.*'), 201)
  await sendAll(service, 10, (i) => interest(id, token, `com.other.few${i}.*`), 201)
  return { service, sender: token, agents }
}

/** Publishes events in batches of a hundred. */
export const fill = ({ service, sender }: Pick<Prepared, 'service' | 'sender'>, type: string, events: number) =>
  sendAll(
    service,
    events / 100,
    () => ({
      method: 'POST',
      path: '/v1/events',
      token: sender,
      contentType: 'application/cloudevents-batch+json',
      body: `[${Array.from({ length: 100 }, () => event(type)).join(',')}]`,
    }),
    200,
  )

/** Sends a request again and again, one at a time. Returns the median of its times. */
export async function timeOf(service: Service, times: number, next: () => Call): Promise<number> {
  const connection = new Connection(service.port)
  const taken: number[] = []
  for (let i = 0; i < times; i++) {
    const sent = performance.now()
    await connection.send(next())
    taken.push(performance.now() - sent)
  }
  connection.close()
  return quantile(
    taken.sort((a, b) => a - b),
    0.5,
  )
}

/** Measures two services in turns, since both grow while they are measured. Returns the rate of each. */
export async function inTurns(
  small: Service,
  large: Service,
  next: Record<'small' | 'large', () => Call>,
): Promise<{ small: number; large: number; ratio: number }> {
  const sums = { small: 0, large: 0 }
  const measure = async (which: 'small' | 'large'): Promise<number> =>
    (await hammer((which === 'small' ? small : large).port, 64, SECONDS, next[which], [202])).perSecond
  for (const which of ['small', 'large'] as const) await measure(which)
  for (let round = 0; round < ROUNDS; round++)
    for (const which of ['small', 'large'] as const) sums[which] += await measure(which)
  return { small: sums.small / ROUNDS, large: sums.large / ROUNDS, ratio: sums.large / sums.small }
}
