// The same work on other systems, in one run: events of 350 bytes to three recipients that acknowledge each event.
// Measures how many events a second 64 publishers get confirmed, how long an event takes from its publisher to a
// recipient at 500 a second, and what an event costs the server. Systems that are not installed are named and left out.
import { performance } from 'node:perf_hooks'
import { startBullMq } from './peers/bullmq.ts'
import { startGraphileWorker } from './peers/graphile-worker.ts'
import { startNats } from './peers/nats.ts'
import { RECIPIENTS, type Peer, type StartPeer } from './peers/peer.ts'
import { startPgBoss } from './peers/pg-boss.ts'
import { startRabbitMq } from './peers/rabbitmq.ts'
import { startSensorium } from './peers/sensorium.ts'
import { steadily } from './support/far-ends.ts'
import { quantile } from './support/load.ts'
import { cpuOf } from './support/processes.ts'
import { report } from './support/report.ts'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 5)
const PER_SECOND = Number(process.env['BENCH_RATE'] ?? 500)
const PUBLISHERS = 64
/** Servers run for days. Code that V8 compiles as it runs takes this long at this rate to reach its full speed. */
const WARM_UP_SECONDS = 12
/** Runs only systems whose name contains this. No name contains another, so that each can be chosen alone. */
const ONLY = process.env['BENCH_PEER']
const TEXT = 'x'.repeat(350)

const PEERS: Record<string, StartPeer> = {
  'sensorium-sqlite-polls': () => startSensorium('sqlite', 'polls'),
  'sensorium-sqlite-streams': () => startSensorium('sqlite', 'streams'),
  'sensorium-postgres-polls': () => startSensorium('postgres', 'polls'),
  'sensorium-postgres-streams': () => startSensorium('postgres', 'streams'),
  rabbitmq: startRabbitMq,
  nats: startNats,
  bullmq: startBullMq,
  'pg-boss': startPgBoss,
  'graphile-worker': startGraphileWorker,
}

let n = 0
const message = () => ({ id: `m-${process.pid}-${n++}`, text: TEXT })

/** Measures confirmed publishes a second, without receivers. */
async function rate(peer: Peer): Promise<number> {
  const until = performance.now() + SECONDS * 1_000
  const started = performance.now()
  let count = 0
  await Promise.all(
    Array.from({ length: PUBLISHERS }, async () => {
      while (performance.now() < until) {
        await peer.publish(message())
        count++
      }
    }),
  )
  return count / ((performance.now() - started) / 1_000)
}

async function latency(peer: Peer): Promise<{ p50: number; p99: number; cpu: number }> {
  const sent = new Map<string, number>()
  const times: number[] = []
  for (let i = 0; i < RECIPIENTS; i++)
    await peer.receive(i, (id) => {
      const at = sent.get(id)
      if (at !== undefined) times.push(performance.now() - at)
    })
  const send = (underWay: Promise<void>[]) => (): void => {
    const next = message()
    sent.set(next.id, performance.now())
    underWay.push(peer.publish(next))
  }
  async function run(seconds: number): Promise<number> {
    const underWay: Promise<void>[] = []
    await steadily(PER_SECOND, seconds, send(underWay))
    await Promise.all(underWay)
    return underWay.length
  }
  await run(WARM_UP_SECONDS)
  times.length = 0
  const before = cpuOf(peer.pid())
  const count = await run(SECONDS)
  const cpu = ((cpuOf(peer.pid()) - before) * 1e6) / count
  while (times.length < count * RECIPIENTS) await new Promise((resolve) => setTimeout(resolve, 10))
  times.sort((a, b) => a - b)
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), cpu }
}

const rows: Record<string, unknown>[] = []
for (const [name, start] of Object.entries(PEERS)) {
  if (ONLY && !name.includes(ONLY)) continue
  // A new instance for each measurement: events left over from the first would be received in the second.
  const measured: Peer | string = await start()
  if (typeof measured === 'string') {
    console.log(`left out: ${measured}`)
    continue
  }
  const { p50, p99, cpu } = await latency(measured)
  await measured.stop()
  const fresh = (await start()) as Peer
  const published = await rate(fresh)
  await fresh.stop()
  const row = {
    system: measured.name,
    'publish/s': Math.round(published),
    'p50 ms at 500/s': p50,
    'p99 ms': p99,
    'cpu µs/event': Math.round(cpu),
    durability: measured.durability,
  }
  rows.push(row)
  console.log(JSON.stringify(row))
}
report('peers', rows)
process.exit(0)
