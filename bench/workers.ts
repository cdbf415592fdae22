// Workers behind one port on PostgreSQL: 64 publishers for each worker, events of 350 bytes to three recipients, with
// different numbers of workers in turns on one database. The processor time of an event shows what a machine with more
// cores would do: it must not grow with the number of workers. BENCH_WORKERS=1,2,4 chooses the numbers, BENCH_CORES=0,1
// pins the service to these cores.
import { execFileSync } from 'node:child_process'
import { startPostgres } from './support/postgres.ts'
import { hammer, type Call } from './support/load.ts'
import { cpuOf, mbOf, tree } from './support/processes.ts'
import { report } from './support/report.ts'
import { startService } from './support/servers.ts'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4)
const WARM_UP = 4
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3)
const NUMBERS = (process.env['BENCH_WORKERS'] ?? '1,2').split(',').map(Number)
const CORES = process.env['BENCH_CORES']

let n = 0
const PADDING = 'x'.repeat(180)
const publishOf = (token: string) => (): Call => ({
  method: 'POST',
  path: '/v1/events',
  token,
  body: `{"specversion":"1.0","type":"com.bench.order.created","source":"/bench","id":"w-${process.pid}-${n++}","data":{"total":${n % 500},"text":"${PADDING}"}}`,
})

const countsWorkers = async (port: number, count: number): Promise<boolean> =>
  (await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).includes(`\nsensorium_workers ${count}\n`)

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

const postgres = await startPostgres()
const measured = new Map<number, { rate: number[]; micros: number[]; idleMb: number[] }>()
try {
  for (let round = 0; round < ROUNDS; round++) {
    for (const workers of NUMBERS) {
      const service = await startService('sqlite', { DATABASE_URL: postgres.url, WORKERS: String(workers) })
      // The address is printed when the first of them listens.
      while (!(await countsWorkers(service.port, workers)));
      if (CORES) for (const pid of tree(service.pid)) execFileSync('taskset', ['-apc', CORES, String(pid)])
      const idleMb = mbOf(service.pid)
      const agents = await Promise.all(
        Array.from({ length: 3 }, () => service.agent(['send', 'receive', 'interests:write'])),
      )
      for (const { id, token } of agents)
        await service.call('POST', `/v1/agents/${id}/interests`, token, {
          event_type: 'com.bench.*',
          priority: 0,
          enrichment_depth: 'none',
        })
      await hammer(service.port, 64 * workers, WARM_UP, publishOf(agents[0]!.token), [202])
      const before = cpuOf(service.pid)
      const sent = n
      const { perSecond } = await hammer(service.port, 64 * workers, SECONDS, publishOf(agents[0]!.token), [202])
      const result = measured.get(workers) ?? { rate: [], micros: [], idleMb: [] }
      measured.set(workers, result)
      result.rate.push(perSecond)
      result.micros.push(((cpuOf(service.pid) - before) / (n - sent)) * 1e6)
      result.idleMb.push(idleMb)
      await service.stop()
    }
  }
} finally {
  await postgres.stop()
}
report(
  'workers',
  [...measured].map(([workers, { rate, micros, idleMb }]) => ({
    workers,
    'publish/s': Math.round(mean(rate)),
    'CPU µs an event': Math.round(mean(micros)),
    'MB when idle': Math.round(mean(idleMb)),
  })),
)
