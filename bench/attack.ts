// How an attack affects a neighbour, which publishes and polls at a steady rate before, during and after each attack by
// another client. The result is the p99 during the attack as a multiple of the quiet p99, before and after, in the same
// run. The neighbour also searches now and then; that is reported, and has no goal of its own.
//
// Real attackers run on machines of their own. Here they share the cores, so they get only the CPU time that no other
// process wants (support/as-outsider.ts): the measurement shows what the service does to the neighbour, not what the
// scheduler does. The bytes sent and the CPU that the service used meanwhile show how hard the attack was.
//
// It fails past a goal, after everything is stopped. A quiet p99 of a few milliseconds is soon tripled by other work on
// the machine, or by what the attack before left to do. So repeat a failure alone, with BENCH_ATTACK and more
// BENCH_SECONDS, on a machine with nothing else to do. If it fails again, the attack holds up the neighbour.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startAsOutsider } from './support/as-outsider.ts'
import { ATTACKS } from './support/attacks/all.ts'
import type { Done, Target } from './support/attacks/attack.ts'
import { checkGoals } from './support/check-goals.ts'
import { steadily } from './support/far-ends.ts'
import { Connection, quantile, type Call } from './support/load.ts'
import { report } from './support/report.ts'
import { startService, type Service } from './support/servers.ts'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 6)
/** This makes 1,200 requests in six seconds, of which twelve lie above the p99. */
const PER_SECOND = Number(process.env['BENCH_RATE'] ?? 200)
const ENGINES = (process.env['BENCH_ENGINES'] ?? 'sqlite,postgres').split(',') as ('sqlite' | 'postgres')[]
/** Runs only attacks whose name contains this. */
const ONLY = process.env['BENCH_ATTACK']
const OPERATOR_TOKEN = 'operator-token-of-the-bench'
/**
 * What an attack leaves to do makes the time after it longer, and so `ratio` smaller: `after_ratio` shows it.
 * `unhealthy` is 1 if the service does not respond to a health check after the attack.
 */
const GOALS = { ratio: 3, after_ratio: 10, refused: 1, unhealthy: 1, during_rss_mb: 1_000, after_rss_mb: 1_000 }
/** BENCH_LIMITS=off: the rate limit does not stop the attacker, so that the effect of everything else shows. */
const LIMITS_OFF = process.env['BENCH_LIMITS'] === 'off' ? { RATE_LIMIT_AGENT: 'off', RATE_LIMIT_TENANT: 'off' } : {}
/** How long a node gets to come to rest before it counts as quiet again. */
const REST_MS = 3_000
/** The unit of times in /proc/PID/stat. */
const TICKS_PER_SECOND = 100

interface Measurement {
  /** The milliseconds that each publish and poll took. */
  times: number[]
  /** The same of searches, of which there are few and which take longer: they are reported apart, by their median. */
  searches: number[]
  refused: number
  /** The CPU that the service used meanwhile, as a share of one core. */
  cpu: number
}

/** Returns the seconds of CPU that the service has used in all its threads, without its database. */
function cpuSeconds({ pid }: Service): number {
  if (process.platform !== 'linux') return NaN
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** With each so many publishes and polls the neighbour makes a search. */
const A_SEARCH_EVERY = 50

/** Runs a neighbour that publishes and polls in turns, and searches now and then. */
async function neighbour(service: Service, token: string, seconds = SECONDS): Promise<Measurement> {
  const connections = Array.from({ length: 8 }, () => new Connection(service.port))
  const searching = new Connection(service.port)
  const times: number[] = []
  const searches: number[] = []
  let refused = 0
  const underWay: Promise<void>[] = []
  const send = (connection: Connection, call: Call, taken: number[]): void => {
    const began = performance.now()
    underWay.push(
      connection.send(call).then(({ status }) => {
        taken.push(performance.now() - began)
        if (status >= 300) refused++
      }),
    )
  }
  const cpuBefore = cpuSeconds(service)
  await steadily(PER_SECOND, seconds, (i) => {
    const now = performance.now()
    const call =
      i % 2 === 0
        ? {
            method: 'POST',
            path: '/v1/events',
            token,
            body: `{"specversion":"1.0","type":"neighbour.x","source":"/b","id":"n-${process.pid}-${now}-${i}","data":{}}`,
          }
        : { method: 'GET', path: '/v1/delivery/poll', token }
    send(connections[i % connections.length]!, call, times)
    // A query of its own: the vector of a repeated one is known.
    const body = JSON.stringify({ query: `what is known of pump ${Math.round(now)}?` })
    if (i % A_SEARCH_EVERY === 0)
      send(searching, { method: 'POST', path: '/v1/memories/search', token, body }, searches)
  })
  const cpu = (cpuSeconds(service) - cpuBefore) / seconds
  await Promise.all(underWay)
  for (const connection of [...connections, searching]) connection.close()
  return { times, searches, refused, cpu }
}

const quantileOf = (times: readonly number[], q: number): number =>
  quantile(
    [...times].sort((a, b) => a - b),
    q,
  )
const p99 = (...all: readonly Measurement[]): number =>
  quantileOf(
    all.flatMap(({ times }) => times),
    0.99,
  )
const medianSearch = (...all: readonly Measurement[]): number =>
  quantileOf(
    all.flatMap(({ searches }) => searches),
    0.5,
  )

/** Creates an agent in a tenant of its own, whose rate limit is unused. */
async function attackerOf(service: Service, slug: string): Promise<Target> {
  const { admin_key } = await service.call<{ admin_key: string }>('POST', '/operator/tenants', OPERATOR_TOKEN, {
    slug,
  })
  const exchange = async (api_key: string): Promise<string> =>
    (await service.call<{ access_token: string }>('POST', '/v1/auth/token', null, { api_key })).access_token
  const admin = await exchange(admin_key)
  const shape = { name: 'Attacker', delivery_mode: 'poll', client_type: 'other' }
  const { id } = await service.call<{ id: string }>('POST', '/v1/agents', admin, shape)
  const scopes = ['send', 'receive', 'interests:write', 'memory:read', 'memory:write']
  const { key } = await service.call<{ key: string }>('POST', `/v1/agents/${id}/keys`, admin, { scopes })
  return { port: service.port, token: await exchange(key), agentId: id }
}

/**
 * The measurement begins when the attack has been under way for this long. Before that, the node runs code for the
 * first time, and how slow that is says nothing about the attack.
 */
const UNDER_WAY_SECONDS = 3

/** Attacks for as long as the neighbour works. Returns the neighbour's measurements and what the attack has done. */
async function duringAttack(
  service: Service,
  name: string,
  target: Target,
  work: (seconds?: number) => Promise<Measurement>,
): Promise<Measurement & { done: Done; rssMb: number }> {
  const attacker = startAsOutsider(fileURLToPath(import.meta.url), [name, JSON.stringify(target)])
  const said = createInterface({ input: attacker.stdout! })
  await once(said, 'line')
  await work(UNDER_WAY_SECONDS)
  const felt = await work()
  const rssMb = service.rssMb()
  if (attacker.exitCode !== null) throw new Error(`the attacker ended by itself: ${attacker.exitCode}`)
  attacker.kill('SIGTERM')
  const [done] = (await once(said, 'line')) as [string]
  await once(attacker, 'exit')
  return { ...felt, rssMb, done: JSON.parse(done) as Done }
}

async function measure(engine: 'sqlite' | 'postgres'): Promise<Record<string, unknown>[]> {
  // The default limits of a node. Only the neighbour's tenant has none, so that it may send as much as is measured.
  const limits = { RATE_LIMIT_AGENT: '6000', RATE_LIMIT_TENANT: '60000' }
  const service = await startService(engine, { LOG_LEVEL: 'error', OPERATOR_TOKEN, ...limits, ...LIMITS_OFF })
  const unlimited = { rate_limit_agent: 'off', rate_limit_tenant: 'off' }
  await service.call('PATCH', '/operator/tenants/default/settings', OPERATOR_TOKEN, unlimited)
  const victim = await service.agent(['send', 'receive', 'interests:write', 'memory:read', 'memory:write'])
  for (const title of ['Pump 7 runs hot', 'The valve of pump 3 sticks', 'Who to call about the plant'])
    await service.call('POST', '/v1/memories', victim.token, {
      type: 'semantic',
      scope: 'agent',
      title,
      content: title,
    })
  await neighbour(service, victim.token)
  const rows: Record<string, unknown>[] = []
  for (const [name, attack] of Object.entries(ATTACKS)) {
    if (ONLY && !name.includes(ONLY)) continue
    const target = await attackerOf(service, `attacker-${rows.length}`)
    await attack.prepare?.((method, path, body) => service.call(method, path, target.token, body), target)
    await sleep(REST_MS)
    const before = await neighbour(service, victim.token)
    const during = await duringAttack(service, name, target, (seconds) => neighbour(service, victim.token, seconds))
    await sleep(REST_MS)
    const after = await neighbour(service, victim.token)
    const row = {
      engine,
      attack: name,
      quiet_p99_ms: p99(before, after),
      during_p99_ms: p99(during),
      ratio: p99(during) / p99(before, after),
      after_ratio: p99(after) / p99(before),
      quiet_search_ms: medianSearch(before, after),
      during_search_ms: medianSearch(during),
      refused: during.refused,
      sent_mb_per_s: during.done.bytes / 1e6 / (UNDER_WAY_SECONDS + SECONDS),
      quiet_cpu: before.cpu,
      during_cpu: during.cpu,
      unhealthy: (await fetch(`http://127.0.0.1:${service.port}/healthz`)).status === 200 ? 0 : 1,
      during_rss_mb: during.rssMb,
      after_rss_mb: service.rssMb(),
    }
    process.stderr.write(
      `${name}: before ${p99(before).toFixed(1)}, during ${p99(during).toFixed(1)}, after ${p99(after).toFixed(1)} ms, ` +
        `the attacker read ${JSON.stringify(during.done.statuses)}\n`,
    )
    rows.push(row)
  }
  await service.stop()
  return rows
}

const [attack, target] = process.argv.slice(2)
if (attack && target) {
  console.log('attacks')
  const done = ATTACKS[attack]!.run(JSON.parse(target) as Target)
  process.once('SIGTERM', () => {
    console.log(JSON.stringify(done()))
    process.exit()
  })
  // Sockets that nobody reads do not keep a process alive.
  setInterval(() => {}, 1_000)
} else {
  const rows: Record<string, unknown>[] = []
  for (const engine of ENGINES) rows.push(...(await measure(engine)))
  report('attack', rows)
  checkGoals(rows, GOALS)
}
