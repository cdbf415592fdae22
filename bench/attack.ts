// What a neighbour feels of an attack: it publishes and polls at a steady rate, quietly, during each attack of somebody
// else, and quietly again. The number is the p99 during the attack as a multiple of the quiet one in the same run.
//
// Attackers run on machines of their own. Here they share the cores, so they are given what nobody else wants
// (support/as-outsider.ts): what is measured is what the service does to the neighbour, not what the scheduler does.
// How hard the attack was is told by what it sent, and by the CPU that the service spent meanwhile.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startAsOutsider } from './support/as-outsider.ts'
import { ATTACKS, type Target } from './support/attacks.ts'
import { steadily } from './support/far-ends.ts'
import { Connection, quantile } from './support/load.ts'
import { report } from './support/report.ts'
import { startService, type Service } from './support/servers.ts'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 6)
/** 1,200 requests in six seconds: twelve lie above the p99. */
const PER_SECOND = Number(process.env['BENCH_RATE'] ?? 200)
const ENGINES = (process.env['BENCH_ENGINES'] ?? 'sqlite,postgres').split(',') as ('sqlite' | 'postgres')[]
/** A part of the name of the one that is wanted. */
const ONLY = process.env['BENCH_ATTACK']
const OPERATOR_TOKEN = 'operator-token-of-the-bench'
const GOAL = 3
/** BENCH_LIMITS=off: the attacker is not stopped by the limit of requests, so that what is left is seen. */
const LIMITS_OFF = process.env['BENCH_LIMITS'] === 'off' ? { RATE_LIMIT_AGENT: 'off', RATE_LIMIT_TENANT: 'off' } : {}
/** What a node is given to come to rest before it is called quiet again. */
const REST_MS = 3_000
/** Of /proc/PID/stat, a second. */
const TICKS_PER_SECOND = 100

interface Felt {
  /** Milliseconds of each publish and poll. */
  times: number[]
  refused: number
  /** Of the service meanwhile, as a share of one core. */
  cpu: number
}

/** Seconds of CPU that the service has used, in all its threads; its database not counted. */
function cpuSeconds({ pid }: Service): number {
  if (process.platform !== 'linux') return NaN
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** A neighbour publishes and polls, in turns. */
async function neighbour(service: Service, token: string, seconds = SECONDS): Promise<Felt> {
  const connections = Array.from({ length: 8 }, () => new Connection(service.port))
  const times: number[] = []
  let refused = 0
  const underWay: Promise<void>[] = []
  const cpuBefore = cpuSeconds(service)
  await steadily(PER_SECOND, seconds, (i) => {
    const connection = connections[i % connections.length]!
    const began = performance.now()
    const call =
      i % 2 === 0
        ? {
            method: 'POST',
            path: '/v1/events',
            token,
            body: `{"specversion":"1.0","type":"neighbour.x","source":"/b","id":"n-${process.pid}-${began}-${i}","data":{}}`,
          }
        : { method: 'GET', path: '/v1/delivery/poll', token }
    underWay.push(
      connection.send(call).then(({ status }) => {
        times.push(performance.now() - began)
        if (status >= 300) refused++
      }),
    )
  })
  const cpu = (cpuSeconds(service) - cpuBefore) / seconds
  await Promise.all(underWay)
  for (const connection of connections) connection.close()
  return { times, refused, cpu }
}

const p99 = (...all: readonly Felt[]): number =>
  quantile(
    all.flatMap(({ times }) => times).sort((a, b) => a - b),
    0.99,
  )

/** An agent in a tenant of its own, whose limit of requests is unused. */
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
 * An attack lasts: what is measured begins when it has been under way for this long. Before that the node runs code that
 * it never ran, and how slow that is says nothing about the attack.
 */
const UNDER_WAY_SECONDS = 3

/** Attacks for as long as the neighbour works: what that felt, and the bytes that were sent. */
async function under(
  name: string,
  target: Target,
  work: (seconds?: number) => Promise<Felt>,
): Promise<Felt & { sent: number }> {
  const attacker = startAsOutsider(fileURLToPath(import.meta.url), [name, JSON.stringify(target)])
  const said = createInterface({ input: attacker.stdout! })
  await once(said, 'line')
  await work(UNDER_WAY_SECONDS)
  const felt = await work()
  if (attacker.exitCode !== null) throw new Error(`the attacker ended by itself: ${attacker.exitCode}`)
  attacker.kill('SIGTERM')
  const [sent] = (await once(said, 'line')) as [string]
  await once(attacker, 'exit')
  return { ...felt, sent: Number(sent) }
}

async function measure(engine: 'sqlite' | 'postgres'): Promise<Record<string, unknown>[]> {
  // The limits of a node as it comes; only the neighbour's tenant may send as much as is measured here.
  const limits = { RATE_LIMIT_AGENT: '6000', RATE_LIMIT_TENANT: '60000' }
  const service = await startService(engine, { LOG_LEVEL: 'error', OPERATOR_TOKEN, ...limits, ...LIMITS_OFF })
  const unlimited = { rate_limit_agent: 'off', rate_limit_tenant: 'off' }
  await service.call('PATCH', '/operator/tenants/default/settings', OPERATOR_TOKEN, unlimited)
  const victim = await service.agent(['send', 'receive', 'interests:write'])
  await neighbour(service, victim.token)
  const rows: Record<string, unknown>[] = []
  for (const [name, attack] of Object.entries(ATTACKS)) {
    if (ONLY && !name.includes(ONLY)) continue
    const target = await attackerOf(service, `attacker-${rows.length}`)
    await attack.prepare?.((method, path, body) => service.call(method, path, target.token, body), target)
    await sleep(REST_MS)
    const before = await neighbour(service, victim.token)
    const during = await under(name, target, (seconds) => neighbour(service, victim.token, seconds))
    await sleep(REST_MS)
    const after = await neighbour(service, victim.token)
    const row = {
      engine,
      attack: name,
      quiet_p99_ms: p99(before, after),
      during_p99_ms: p99(during),
      ratio: p99(during) / p99(before, after),
      goal: `under ${GOAL}`,
      refused: during.refused,
      sent_mb_per_s: during.sent / 1e6 / (UNDER_WAY_SECONDS + SECONDS),
      quiet_cpu: before.cpu,
      during_cpu: during.cpu,
      healthy: (await fetch(`http://127.0.0.1:${service.port}/healthz`)).status === 200,
      rss_mb: service.rssMb(),
    }
    process.stderr.write(
      `${name}: before ${p99(before).toFixed(1)}, during ${p99(during).toFixed(1)}, after ${p99(after).toFixed(1)} ms\n`,
    )
    rows.push(row)
  }
  await service.stop()
  return rows
}

const [attack, target] = process.argv.slice(2)
if (attack && target) {
  console.log('attacks')
  const sentBytes = ATTACKS[attack]!.run(JSON.parse(target) as Target)
  process.once('SIGTERM', () => {
    console.log(sentBytes())
    process.exit()
  })
  // Sockets that nobody reads keep no process alive.
  setInterval(() => {}, 1_000)
} else {
  const rows: Record<string, unknown>[] = []
  for (const engine of ENGINES) rows.push(...(await measure(engine)))
  report('attack', rows)
}
