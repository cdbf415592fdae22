// What a search costs among many memories of one agent: alone and eight at once, with the processor time of the service
// and of PostgreSQL, and resident memory. How many of the exact nearest neighbours the signatures keep is tested among
// 800 vectors (test/memory/index/find.test.ts).
//
//   BENCH_SIZES=10000,100000 BENCH_ENGINES=sqlite,postgres node bench/memories.ts
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { readConfig } from '../packages/server/src/config.ts'
import { systemClock } from '../packages/server/src/kernel/clock.ts'
import { openIndex } from '../packages/server/src/memory/index/open-index.ts'
import { openStore } from '../packages/server/src/store/open.ts'
import { startPostgres } from './support/postgres.ts'
import { Connection, quantile } from './support/load.ts'
import { seededRandom, fillMemories, readMaterial, type Material } from './support/many-memories.ts'
import { cpuOf } from './support/processes.ts'
import { report } from './support/report.ts'
import { startService, type Service } from './support/servers.ts'

const SIZES = (process.env['BENCH_SIZES'] ?? '10000,100000').split(',').map(Number)
const ENGINES = (process.env['BENCH_ENGINES'] ?? 'sqlite,postgres').split(',')
const SEARCHES = Number(process.env['BENCH_SEARCHES'] ?? 200)
const AT_ONCE = 8
const SCOPES = ['memory:read', 'memory:write']

const sorted = (times: readonly number[]): number[] => times.toSorted((a, b) => a - b)

/** Returns questions of five to nine words from sentences of the material. */
function questions({ texts }: Material, many: number, random: () => number): string[] {
  return Array.from({ length: many }, () => {
    const words = texts[Math.floor(random() * texts.length)]!.split(' ')
    const first = Math.floor(random() * Math.max(1, words.length - 9))
    return words.slice(first, first + 5 + Math.floor(random() * 5)).join(' ')
  })
}

async function search(connection: Connection, token: string, query: string): Promise<number> {
  const asked = performance.now()
  const { status, body } = await connection.send({
    method: 'POST',
    path: '/v1/memories/search',
    token,
    body: JSON.stringify({ query, limit: 10 }),
  })
  if (status !== 200) throw new Error(`answered ${status}: ${body.toString()}`)
  return performance.now() - asked
}

async function atOnce(service: Service, token: string, queries: readonly string[]): Promise<number[]> {
  const next = queries.values()
  const times: number[] = []
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      const connection = new Connection(service.port)
      for (const query of next) times.push(await search(connection, token, query))
      connection.close()
    }),
  )
  return times
}

interface Measured {
  service: Service
  database: number | null
  token: string
  material: Material
}

async function measure({ service, database, token, material }: Measured) {
  const connection = new Connection(service.port)
  const random = seededRandom(7)
  const first = await search(connection, token, 'the first search reads what the others find in memory')
  for (const query of questions(material, 20, random)) await search(connection, token, query)
  const before = [cpuOf(service.pid), database === null ? 0 : cpuOf(database)] as const
  const alone: number[] = []
  for (const query of questions(material, SEARCHES, random)) alone.push(await search(connection, token, query))
  const micros = (after: number, since: number): number => ((after - since) / SEARCHES) * 1000
  const cpu = [micros(cpuOf(service.pid), before[0]), database === null ? 0 : micros(cpuOf(database), before[1])]
  const together = await atOnce(service, token, questions(material, SEARCHES * 2, random))
  connection.close()
  return {
    'first ms': Math.round(first),
    'p50 ms': quantile(sorted(alone), 0.5),
    'p99 ms': quantile(sorted(alone), 0.99),
    'service CPU ms': cpu[0],
    'database CPU ms': cpu[1],
    'eight at once, p50 ms': quantile(sorted(together), 0.5),
    'eight at once, p99 ms': quantile(sorted(together), 0.99),
    'RSS MB': Math.round(service.rssMb()),
  }
}

async function postmaster(url: string): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  const folder = (await client.query<{ data_directory: string }>('show data_directory')).rows[0]!.data_directory
  await client.end()
  return Number(readFileSync(`${folder}/postmaster.pid`, 'utf8').split('\n')[0])
}

const material = await readMaterial()
const rows: Record<string, unknown>[] = []
for (const engine of ENGINES) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-bench-'))
  const postgres = engine === 'postgres' ? await startPostgres() : null
  const env = {
    DATA_DIR: folder,
    LOG_LEVEL: 'warn',
    SENSORIUM_SECRET: 'a-secret-for-benchmarks',
    ...(postgres ? { DATABASE_URL: postgres.url } : {}),
  }
  const service = await startService('sqlite', env)
  const agent = await service.agent(SCOPES)
  const config = readConfig(env)
  const { store } = await openStore(config, systemClock)
  const index = openIndex(config, store, () => {})
  const [tenant] = await store.rows<{ tenant_id: string }>('select tenant_id from agents where id = ?', [agent.id])
  const database = postgres && (await postmaster(postgres.url))
  let from = 0
  for (const to of SIZES) {
    const started = performance.now()
    await fillMemories(material, { store, index, tenantId: tenant!.tenant_id, agentId: agent.id, from, to })
    const filled = Math.round((performance.now() - started) / 1000)
    from = to
    if (postgres) await store.tx((tx) => tx.run('analyze'))
    const row = {
      engine,
      memories: to,
      'filled s': filled,
      ...(await measure({ service, database, token: agent.token, material })),
    }
    console.log(row)
    rows.push(row)
  }
  await index.close()
  await store.close()
  await service.stop()
  await postgres?.stop()
  rmSync(folder, { recursive: true, force: true })
}
report('memories', rows)
