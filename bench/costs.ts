// What an operation costs: the processor time of the service and of its PostgreSQL, for each operation alone and with
// enough callers to fill a core, and the disk space of events. docs/scaling.md is calculated from this.
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { startPostgres } from './support/postgres.ts'
import { Connection, hammer, type Call } from './support/load.ts'
import { cpuOf } from './support/processes.ts'
import { report } from './support/report.ts'
import { ADMIN_KEY, startService, type Service } from './support/servers.ts'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3)
const WARM_UP = 1
const CALLERS = 32
const MEMORIES = 500
/** How often the service is asked how many memories are embedded. */
const LOOK_EVERY_MS = 100
const SCOPES = ['send', 'receive', 'interests:write', 'memory:read', 'memory:write']

let n = 0
const PADDING = 'x'.repeat(180)
const eventOf = (type: string): string =>
  `{"specversion":"1.0","type":"${type}","source":"/bench","id":"c-${process.pid}-${n++}","data":{"total":${n % 500},"text":"${PADDING}"}}`
const post = (path: string, token: string | null, body: string, contentType?: string): Call => ({
  method: 'POST',
  path,
  ...(token === null ? {} : { token }),
  body,
  ...(contentType === undefined ? {} : { contentType }),
})
const idsIn = (body: string): string[] => body.match(/"id":"dlv_[0-9a-z]+"/g) ?? []

async function measure(
  service: Service,
  database: number | null,
  what: string,
  work: (seconds: number) => Promise<number>,
) {
  await work(WARM_UP)
  const before = [cpuOf(service.pid), database === null ? 0 : cpuOf(database)] as const
  const began = performance.now()
  const done = await work(SECONDS)
  const seconds = (performance.now() - began) / 1000
  const micros = (after: number, since: number): number => Math.round(((after - since) / done) * 1e6)
  return {
    store: database === null ? 'sqlite' : 'postgres',
    what,
    'a second': Math.round(done / seconds),
    'service µs': micros(cpuOf(service.pid), before[0]),
    'database µs': database === null ? null : micros(cpuOf(database), before[1]),
  }
}

/** Sends requests as fast as responses arrive. Returns how many. */
const calls = (service: Service, next: () => Call, expected: number[]) => async (seconds: number) =>
  (await hammer(service.port, CALLERS, seconds, next, expected)).requests

/** Stores memories as fast as responses arrive, until all are embedded. Returns how many. */
const memories = (service: Service, token: string, callers: number) => async (seconds: number) => {
  const before = await embeddedBy(service)
  const next = (): Call => post('/v1/memories', token, memory())
  const { requests } = await hammer(service.port, callers, seconds, next, [201])
  await until(async () => (await embeddedBy(service)) >= before + requests)
  return requests
}

/** How many memories the service has embedded since its start. */
async function embeddedBy({ port }: Service): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return Number(/^sensorium_memories_embedded_total (\d+)$/m.exec(metrics)![1])
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
}

async function pullAndAcknowledge(service: Service, token: string, limit: number, seconds: number): Promise<number> {
  const until = performance.now() + seconds * 1000
  let done = 0
  const connection = new Connection(service.port)
  while (performance.now() < until) {
    const { body } = await connection.send({ method: 'GET', path: `/v1/delivery/poll?limit=${limit}`, token })
    const ids = idsIn(body.toString('latin1'))
    if (ids.length === 0) break
    await connection.send(
      post('/v1/delivery/ack', token, `{"delivery_ids":[${ids.map((id) => id.slice('"id":'.length)).join(',')}]}`),
    )
    done += ids.length
  }
  connection.close()
  return done
}

async function costs(service: Service, database: number | null): Promise<Record<string, unknown>[]> {
  const agents = await Promise.all(Array.from({ length: 3 }, () => service.agent(SCOPES)))
  const [{ token }] = agents as [{ id: string; token: string }]
  for (const agent of agents)
    await service.call('POST', `/v1/agents/${agent.id}/interests`, agent.token, {
      event_type: 'com.bench.*',
      priority: 0,
      enrichment_depth: 'none',
    })
  const rows: Record<string, unknown>[] = []
  const add = async (what: string, work: (seconds: number) => Promise<number>) =>
    rows.push(await measure(service, database, what, work))
  const events = (count: number): string =>
    `[${Array.from({ length: count }, () => eventOf('com.bench.made')).join(',')}]`
  await add(
    'exchange of a key',
    calls(service, () => post('/v1/auth/token', null, `{"api_key":"${ADMIN_KEY}"}`), [200]),
  )
  await add(
    'poll that finds nothing',
    calls(service, () => ({ method: 'GET', path: '/v1/delivery/poll', token }), [200]),
  )
  await add(
    'publish to nobody',
    calls(service, () => post('/v1/events', token, eventOf('com.other.made')), [202]),
  )
  await add(
    'publish to three',
    calls(service, () => post('/v1/events', token, eventOf('com.bench.made')), [202]),
  )
  await add('event of a batch of 100 to three', async (seconds) => {
    const next = () => post('/v1/events', token, events(100), 'application/cloudevents-batch+json')
    return (await hammer(service.port, 4, seconds, next, [200, 202, 207])).requests * 100
  })
  const pulled = (of: number, pullers: number, limit: number) => async (seconds: number) => {
    const { token: its } = agents[of]!
    const done = await Promise.all(
      Array.from({ length: pullers }, () => pullAndAcknowledge(service, its, limit, seconds)),
    )
    return done.reduce((sum, one) => sum + one, 0)
  }
  await add('delivery pulled and acknowledged, 100 at once', pulled(1, 4, 100))
  await add('delivery pulled and acknowledged, one by one', pulled(2, CALLERS, 1))
  for (let i = 0; i < MEMORIES; i++) await service.call('POST', '/v1/memories', token, JSON.parse(memory()))
  await until(async () => (await embeddedBy(service)) >= MEMORIES)
  // Each query is another one: the meaning of a recent one is cached.
  const search = (): Call => post('/v1/memories/search', token, `{"query":"${someWords(3)} ${n++}"}`)
  await add(`search among ${MEMORIES} memories`, calls(service, search, [200]))
  await add('memory stored and embedded', memories(service, token, CALLERS))
  await add('memory stored and embedded, one after the other', memories(service, token, 1))
  return rows
}

const WORDS =
  'order invoice server garden music train report customer deploy backup password meeting river engine'.split(' ')
const someWords = (count: number): string =>
  Array.from({ length: count }, () => WORDS[Math.floor(Math.random() * WORDS.length)]).join(' ')
const memory = (): string =>
  JSON.stringify({
    type: 'semantic',
    scope: 'agent',
    title: `memory ${n++}`,
    content: someWords(12),
  })

/** Returns the bytes on disk of what was published, by table. */
async function onDisk(url: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query('analyze')
  const { rows } = await client.query<{ name: string; bytes: string; rows: number }>(
    `select relname as name, pg_total_relation_size(oid) as bytes, cast(reltuples as integer) as rows from pg_class
      where relname in ('events', 'deliveries', 'acknowledged_deliveries', 'memories', 'memory_vectors', 'memory_words', 'memory_texts')`,
  )
  await client.end()
  return rows.map(({ name, bytes, rows: count }) => ({
    table: name,
    rows: count,
    'bytes a row': Math.round(Number(bytes) / Math.max(1, count)),
  }))
}

const postgres = await startPostgres()
try {
  const client = new pg.Client(postgres.url)
  await client.connect()
  const folder = (await client.query<{ data_directory: string }>('show data_directory')).rows[0]!.data_directory
  await client.end()
  const database = Number(readFileSync(`${folder}/postmaster.pid`, 'utf8').split('\n')[0])
  const embedded = await startService('sqlite', { LOG_LEVEL: 'warn' })
  const rows = await costs(embedded, null)
  await embedded.stop()
  const shared = await startService('sqlite', { DATABASE_URL: postgres.url, LOG_LEVEL: 'warn' })
  rows.push(...(await costs(shared, database)))
  await shared.stop()
  report('costs', rows)
  report('costs-on-disk', await onDisk(postgres.url))
} finally {
  await postgres.stop()
}
