// What a neighbour feels of an attack: it publishes and polls at a steady rate, quietly and then during each attack of
// somebody else. The number is the p99 during the attack as a multiple of the quiet one in the same run.
import net from 'node:net'
import { performance } from 'node:perf_hooks'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { steadily } from './support/far-ends.ts'
import { Connection, quantile } from './support/load.ts'
import { report } from './support/report.ts'
import { startService, type Service } from './support/servers.ts'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 8)
const PER_SECOND = Number(process.env['BENCH_RATE'] ?? 50)
const ENGINES = (process.env['BENCH_ENGINES'] ?? 'sqlite,postgres').split(',') as ('sqlite' | 'postgres')[]
const ONLY = process.env['BENCH_ATTACK']
const GOAL = 3

/** Where the attackers come from: their address is not the neighbour's. */
const ATTACKERS = '127.0.0.2'

interface Target {
  port: number
  /** Of the attacker's own agent. */
  token: string
}

type Attack = (target: Target) => void

/** Connections that send what `bytes` says and read nothing unless told to; a new one for each that is closed. */
function flood(
  port: number,
  connections: number,
  bytes: () => string,
  options: { read?: boolean; every?: number } = {},
) {
  const sockets = new Set<net.Socket>()
  const open = (): void => {
    const socket = net.connect({ port, host: '127.0.0.1', localAddress: ATTACKERS })
    sockets.add(socket)
    socket.on('connect', () => socket.write(bytes()))
    if (options.read ?? true) socket.resume()
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      setTimeout(open, 50)
    })
  }
  for (let i = 0; i < connections; i++) open()
  if (options.every === undefined) return
  setInterval(() => {
    for (const socket of sockets) if (!socket.destroyed) socket.write(bytes())
  }, options.every)
}

const get = (path: string, token?: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\n${token ? `Authorization: Bearer ${token}\r\n` : ''}\r\n`

const ATTACKS: Record<string, Attack> = {
  'CONNECT behind pipelined requests': ({ port }) =>
    flood(port, 12, () => `${get('/healthz').repeat(500)}CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n`),
  'a Content-Type of spaces': ({ port }) =>
    flood(
      port,
      8,
      () =>
        `POST /v1/auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json; charset=${' '.repeat(15_000)}a b\r\nContent-Length: 2\r\n\r\n{}`,
      { every: 100 },
    ),
  'bodies that never come': ({ port }) =>
    flood(
      port,
      3_000,
      () => 'POST /v1/auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n',
    ),
  'pipelined long polls': ({ port, token }) =>
    flood(port, 100, () => get('/v1/delivery/poll?wait=20', token).repeat(100)),
  'large responses that nobody reads': ({ port, token }) =>
    flood(port, 4, () => get('/v1/delivery/poll?limit=100', token).repeat(40), { read: false }),
  'escaped paths and two Hosts': ({ port }) =>
    flood(port, 16, () => (get('/%6detrics') + 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n').repeat(10), {
      every: 100,
    }),
}

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

async function measure(engine: 'sqlite' | 'postgres'): Promise<Record<string, unknown>[]> {
  const service = await startService(engine, { LOG_LEVEL: 'error' })
  const scopes = ['send', 'receive', 'interests:write']
  const victim = await service.agent(scopes)
  const { token } = await service.agent(scopes)
  await neighbour(service, victim.token)
  const rows: Record<string, unknown>[] = []
  for (const attack of Object.keys(ATTACKS)) {
    if (ONLY && !attack.includes(ONLY)) continue
    const quiet = await neighbour(service, victim.token)
    // In a thread of its own: what the attack costs the attacker is not what the neighbour feels.
    const attacker = new Worker(new URL(import.meta.url), { workerData: { attack, port: service.port, token } })
    const during = await neighbour(service, victim.token)
    await attacker.terminate()
    const health = await fetch(`http://127.0.0.1:${service.port}/healthz`)
    rows.push({
      engine,
      attack,
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

if (isMainThread) {
  const rows: Record<string, unknown>[] = []
  for (const engine of ENGINES) rows.push(...(await measure(engine)))
  report('attack', rows)
} else {
  const { attack, ...target } = workerData as Target & { attack: string }
  ATTACKS[attack]!(target)
}
