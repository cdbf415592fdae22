// The long run of the fuzzer: `node scripts/fuzz.ts [sqlite|postgres] [requests]`, a million requests by default,
// against a service in a process of its own. It fails on a 5xx that is not 503, on anything else that the documents do
// not describe, on an operation of the contract that never succeeded, and when memory keeps growing: in a run of
// 100,000 requests or more, the memory held after the last tenth may be at most 1.3 times that held after the second
// tenth. In a shorter run, caches and threads are still filling up. A million requests take about ten minutes of one
// core for the script, and as long for the service. FUZZ_SEED repeats a run, FUZZ_PER_SECOND slows it down.
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import {
  attack,
  byOperation,
  byStatus,
  ENVIRONMENT,
  neverDone,
  type Counts,
} from '../packages/server/test/fuzz/attack.ts'
import { makeWorld } from '../packages/server/test/fuzz/callers.ts'
import { inFlight } from '../packages/server/test/support/in-flight.ts'
import { startPostgres } from '../packages/server/test/support/postgres-server.ts'
import { startProcess } from '../packages/server/test/support/process.ts'
import { heldMb, INSPECTED } from './collect-garbage.ts'

const [engine = 'sqlite', requests = '1000000'] = process.argv.slice(2)
const seed = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31))
const PARTS = 10
const GROWTH = 1.3
const WARM_AFTER = 100_000

const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-fuzz-'))
const postgres = engine === 'postgres' ? await startPostgres() : null
const service = await startProcess({
  DATA_DIR: folder,
  SENSORIUM_SECRET: 'a-secret-for-the-fuzz',
  ...(postgres ? { DATABASE_URL: postgres.url } : {}),
  ...ENVIRONMENT,
  NODE_OPTIONS: INSPECTED,
})

console.log(`${engine}, ${requests} requests, FUZZ_SEED=${seed}`)
const world = await makeWorld(service.url)
const problems: string[] = []
const used: number[] = []
const counts: Counts = new Map()
for (let part = 0; part < PARTS && problems.length === 0; part++) {
  const began = performance.now()
  const count = Math.ceil(Number(requests) / PARTS)
  problems.push(
    ...(await attack(Number(new URL(service.url).port), world, {
      seed: seed + part,
      count,
      seconds: Infinity,
      perSecond: Number(process.env['FUZZ_PER_SECOND'] ?? Infinity),
      counts,
      isFine: (status) => status === 503,
    })),
  )
  used.push(await heldMb(service))
  const rate = Math.round(count / ((performance.now() - began) / 1000))
  console.log(`part ${part + 1} of ${PARTS}: ${used.at(-1)} MB, ${rate} a second; so far ${byStatus(counts)}`)
}
for (const line of byOperation(counts)) console.log(line)
const missing = neverDone(counts)
if (missing.length > 0) problems.push(`never answered with success: ${missing.join(', ')}`)
const inHand = await inFlight(service.url)
if (inHand !== 1) problems.push(`${inHand - 1} requests are still in hand`)
if (used.length === PARTS && Number(requests) >= WARM_AFTER && used.at(-1)! > GROWTH * used[1]!)
  problems.push(`memory grew from ${used[1]} to ${used.at(-1)} MB`)
const errors = service
  .output()
  .split('\n')
  .filter((line) => line.includes('"level":"error"'))
problems.push(...errors.slice(0, 5))
await service.stop()
await postgres?.stop()
rmSync(folder, { recursive: true, force: true })
for (const problem of problems) console.error(`\n${problem}`)
console.log(problems.length === 0 ? 'nothing found' : `${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1
