// Costs that must not grow with the size of the store: that of a publish with the number of interests that do not
// match, and that of a poll with the number of waiting deliveries. `ratio` compares the large store with the small one
// of the same run.
import { performance } from 'node:perf_hooks'
import { Connection, hammer, quantile, type Call } from './support/load.ts'
import { report } from './support/report.ts'
import { startService, type Service } from './support/servers.ts'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4)
const INTERESTS = Number(process.env['BENCH_INTERESTS'] ?? 100_000)
const PENDING = 1_000_000
const ENGINES = (process.env['BENCH_ENGINES'] ?? 'sqlite,postgres').split(',') as ('sqlite' | 'postgres')[]
const SCOPES = ['send', 'receive', 'interests:write']
const MAILBOXES = 20

let n = 0
const event = (type: string): string =>
  `{"specversion":"1.0","type":"${type}","source":"/bench","id":"s-${process.pid}-${n++}","data":{"total":${n % 500},"text":"${'x'.repeat(200)}"}}`
const publish = (token: string, type: string) => (): Call => ({
  method: 'POST',
  path: '/v1/events',
  token,
  body: event(type),
})

const interest = (id: string, token: string, event_type: string, filter_expression: string | null = null): Call => ({
  method: 'POST',
  path: `/v1/agents/${id}/interests`,
  token,
  body: JSON.stringify({ event_type, filter_expression, priority: 0, enrichment_depth: 'none' }),
})

/** Sends `count` requests, sixteen at a time. */
async function sendAll(service: Service, count: number, make: (i: number) => Call, status: number): Promise<void> {
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

interface Prepared {
  service: Service
  sender: string
  agents: { id: string; token: string }[]
}

async function withFewInterests(engine: 'sqlite' | 'postgres'): Promise<Prepared> {
  const service = await startService(engine, { LOG_LEVEL: 'warn' })
  const agents = await Promise.all(Array.from({ length: 100 }, () => service.agent(SCOPES)))
  const { id, token } = agents[0]!
  await sendAll(service, 1, () => interest(id, token, 'com.bench.*'), 201)
  await sendAll(service, 10, (i) => interest(id, token, `com.other.few${i}.*`), 201)
  return { service, sender: token, agents }
}

// Two services side by side, measured in turns: published events accumulate in both, interests in only one.
async function interestsThatDoNotMatch(engine: 'sqlite' | 'postgres'): Promise<Record<string, unknown>> {
  const small = await withFewInterests(engine)
  const large = await withFewInterests(engine)
  await sendAll(
    large.service,
    INTERESTS,
    (i) => {
      const { id, token } = large.agents[i % large.agents.length]!
      return interest(
        id,
        token,
        i % 2 === 0 ? `com.other.kind${i}.*` : `com.bench.kind${i}`,
        i % 4 === 0 ? `data.total > ${i % 1000}` : null,
      )
    },
    201,
  )
  const measure = async ({ service, sender }: Prepared): Promise<number> =>
    (await hammer(service.port, 64, SECONDS, publish(sender, 'com.bench.order'), [202])).perSecond
  await measure(small)
  await measure(large)
  const rates: { small: number; large: number }[] = []
  for (let round = 0; round < 4; round++) rates.push({ small: await measure(small), large: await measure(large) })
  const mean = (of: 'small' | 'large'): number => rates.reduce((sum, rate) => sum + rate[of], 0) / rates.length
  const rss = large.service.rssMb()
  await small.service.stop()
  await large.service.stop()
  return {
    engine,
    what: `publish beside ${INTERESTS} interests that do not match`,
    small: mean('small'),
    large: mean('large'),
    ratio: mean('large') / mean('small'),
    goal: 'at least 0.9',
    rss_mb: rss,
  }
}

async function matchingFilters(engine: 'sqlite' | 'postgres'): Promise<Record<string, unknown>> {
  const service = await startService(engine, { LOG_LEVEL: 'warn' })
  const sender = await service.agent(SCOPES)
  const receiver = await service.agent(SCOPES)
  // One recipient, so that the evaluation of the filters is measured, not the writing of deliveries.
  const time = async (): Promise<number> => {
    const connection = new Connection(service.port)
    const times: number[] = []
    for (let i = 0; i < 400; i++) {
      const sent = performance.now()
      await connection.send(publish(sender.token, 'com.bench.order')())
      times.push(performance.now() - sent)
    }
    connection.close()
    return quantile(
      times.sort((a, b) => a - b),
      0.5,
    )
  }
  await sendAll(service, 1, () => interest(receiver.id, receiver.token, 'com.bench.*', 'data.total >= 0'), 201)
  await time()
  const one = await time()
  await sendAll(
    service,
    999,
    (i) => interest(receiver.id, receiver.token, 'com.bench.*', `data.total >= 0 && data.text != "${i}"`),
    201,
  )
  await time()
  const thousand = await time()
  await service.stop()
  return {
    engine,
    what: 'publish beside 1,000 filters that match, p50 ms',
    small: one,
    large: thousand,
    ratio: thousand - one,
    goal: 'at most 2 (µs each)',
  }
}

/** Returns the median time of polls that each return ten, one at a time. The deliveries are then acknowledged. */
async function pollTime(service: Service, token: string, polls: number): Promise<number> {
  const connection = new Connection(service.port)
  const times: number[] = []
  for (let i = 0; i < polls; i++) {
    const sent = performance.now()
    const { body } = await connection.send({ method: 'GET', path: '/v1/delivery/poll?limit=10', token })
    times.push(performance.now() - sent)
    const ids = body.toString('latin1').match(/"dlv_[0-9a-z]+"/g) ?? []
    if (ids.length < 10) throw new Error(`a poll found ${ids.length}`)
    await connection.send({
      method: 'POST',
      path: '/v1/delivery/ack',
      token,
      body: `{"delivery_ids":[${ids.join(',')}]}`,
    })
  }
  connection.close()
  return quantile(
    times.sort((a, b) => a - b),
    0.5,
  )
}

async function pending(engine: 'sqlite' | 'postgres'): Promise<Record<string, unknown>[]> {
  const service = await startService(engine, { LOG_LEVEL: 'warn' })
  const sender = await service.agent(SCOPES)
  const other = await service.agent(SCOPES)
  await sendAll(service, 1, () => interest(other.id, other.token, 'com.small.*'), 201)
  const fill = (type: string, events: number): Promise<void> =>
    sendAll(
      service,
      events / 100,
      () => ({
        method: 'POST',
        path: '/v1/events',
        token: sender.token,
        contentType: 'application/cloudevents-batch+json',
        body: `[${Array.from({ length: 100 }, () => event(type)).join(',')}]`,
      }),
      200,
    )
  await fill('com.small.x', 10_000)
  await pollTime(service, other.token, 100)
  const small = await pollTime(service, other.token, 200)
  const agents = await Promise.all(Array.from({ length: MAILBOXES }, () => service.agent(SCOPES)))
  await sendAll(service, MAILBOXES, (i) => interest(agents[i]!.id, agents[i]!.token, 'com.large.*'), 201)
  await fill('com.large.x', PENDING / MAILBOXES)
  await pollTime(service, agents[0]!.token, 100)
  const large = await pollTime(service, agents[0]!.token, 200)
  const beside = await pollTime(service, other.token, 200)
  await service.stop()
  return [
    {
      engine,
      what: `poll of 10 in a store of ${PENDING} pending, p50 ms`,
      small,
      large,
      ratio: large / small,
      goal: 'at most 1.3',
    },
    {
      engine,
      what: `the same of a mailbox beside them, p50 ms`,
      small,
      large: beside,
      ratio: beside / small,
      goal: 'at most 1.3',
    },
  ]
}

const rows: Record<string, unknown>[] = []
const PARTS = (process.env['BENCH_PARTS'] ?? 'interests,filters,pending').split(',')
for (const engine of ENGINES) {
  if (PARTS.includes('interests')) rows.push(await interestsThatDoNotMatch(engine))
  if (PARTS.includes('filters')) rows.push(await matchingFilters(engine))
  if (PARTS.includes('pending')) rows.push(...(await pending(engine)))
}
report('scale', rows)
