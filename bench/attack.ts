// What a neighbour feels of an attack: it publishes and polls at a steady rate, quietly and then during each attack of
// somebody else. The number is the p99 during the attack as a multiple of the quiet one in the same run.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import { ATTACKS, type Target } from './support/attacks.ts'
import { steadily } from './support/far-ends.ts'
import { Connection, quantile } from './support/load.ts'
import { report } from './support/report.ts'
import { startService, type Service } from './support/servers.ts'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4)
const PER_SECOND = Number(process.env['BENCH_RATE'] ?? 100)
const ENGINES = (process.env['BENCH_ENGINES'] ?? 'sqlite,postgres').split(',') as ('sqlite' | 'postgres')[]
/** A part of the name of the one that is wanted. */
const ONLY = process.env['BENCH_ATTACK']
const OPERATOR_TOKEN = 'operator-token-of-the-bench'
const GOAL = 3
/** BENCH_LIMITS=off: the attacker is not stopped by the limit of requests, so that what is left is seen. */
const LIMITS_OFF = process.env['BENCH_LIMITS'] === 'off' ? { RATE_LIMIT_AGENT: 'off', RATE_LIMIT_TENANT: 'off' } : {}

/** p99 of a neighbour's publish and poll, in milliseconds, and what it was refused. */
async function neighbour(service: Service, token: string): Promise<{ p99: number; refused: number }> {
  const connections = Array.from({ length: 8 }, () => new Connection(service.port))
  const times: number[] = []
  let refused = 0
  const underWay: Promise<void>[] = []
  await steadily(PER_SECOND, SECONDS, (i) => {
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
  await Promise.all(underWay)
  for (const connection of connections) connection.close()
  return {
    p99: quantile(
      times.toSorted((a, b) => a - b),
      0.99,
    ),
    refused,
  }
}

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
    const quiet = await neighbour(service, victim.token)
    // In a process of its own: what the attack costs the attacker is not what the neighbour feels.
    const attacker = fork(new URL(import.meta.url), [name, JSON.stringify(target)])
    const during = await neighbour(service, victim.token)
    if (attacker.exitCode !== null) throw new Error(`the attacker ended by itself: ${attacker.exitCode}`)
    attacker.kill('SIGKILL')
    await once(attacker, 'exit')
    process.stderr.write(`${name}: ${quiet.p99.toFixed(1)} -> ${during.p99.toFixed(1)} ms\n`)
    const health = await fetch(`http://127.0.0.1:${service.port}/healthz`)
    rows.push({
      engine,
      attack: name,
      quiet_p99_ms: quiet.p99,
      during_p99_ms: during.p99,
      ratio: during.p99 / quiet.p99,
      goal: `under ${GOAL}`,
      refused: during.refused,
      healthy: health.status === 200,
      rss_mb: service.rssMb(),
    })
  }
  await service.stop()
  return rows
}

const [attack, target] = process.argv.slice(2)
if (attack && target) {
  ATTACKS[attack]!.run(JSON.parse(target) as Target)
  // Sockets that nobody reads keep no process alive.
  setInterval(() => {}, 1_000)
} else {
  const rows: Record<string, unknown>[] = []
  for (const engine of ENGINES) rows.push(...(await measure(engine)))
  report('attack', rows)
}
