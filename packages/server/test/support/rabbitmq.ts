// A throw-away RabbitMQ for tests: Debian's own binaries with the AMQP 1.0 plugin, own node name, folder, ports and
// epmd on the loopback address, removed afterwards. It may run as root, and beside a broker of the machine.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { installPackages } from './debian-packages.ts'

export interface RabbitServer {
  /** `amqp://user:password@127.0.0.1:port` */
  readonly url: string
  /** The same over TLS, with a certificate that only `ca` vouches for. */
  readonly tlsUrl: string
  readonly ca: string
  readonly password: string
  /** The process that started all others of the broker. */
  readonly pid: number
  /** Sends SIGKILL and nothing else: connections break, durable messages stay on disk. */
  kill(): Promise<void>
  /** Starts it again after a kill, with the same port and data. */
  start(): Promise<void>
  stop(): Promise<void>
}

const READY_WITHIN_MS = 60_000
const TLS = fileURLToPath(new URL('./tls/', import.meta.url))
const USER = 'tester'
const PASSWORD = 'a/very:secret@password'

// Ends the whole process group when its standard input ends, so that a killed test process leaves nothing behind.
const GUARD = `
  exec 3<&0
  epmd -port "$ERL_EPMD_PORT" -address 127.0.0.1 </dev/null >/dev/null 2>&1 3<&- &
  "$1" </dev/null >>log 2>&1 3<&- &
  ( read -r _ <&3; kill -KILL 0 ) &
  wait
`

/** The folder with the scripts of an installed broker, or null if there is none. */
function installed(): string | null {
  const base = '/usr/lib/rabbitmq/lib'
  const version = existsSync(base) ? readdirSync(base).find((name) => name.startsWith('rabbitmq_server-')) : undefined
  const script = version === undefined ? null : path.join(base, version, 'sbin', 'rabbitmq-server')
  return script !== null && existsSync(script) && spawnSync('epmd', ['-help']).error === undefined ? script : null
}

function install(): string | null {
  installPackages('rabbitmq-server')
  return installed()
}

const script = installed() ?? install()

/** For the `skip` of a test: false where a broker is available. On a build machine a missing broker is a failure. */
export const noBroker: string | false = script !== null ? false : 'RabbitMQ is missing (Debian package rabbitmq-server)'
if (noBroker && process.env['CI'] === 'true') throw new Error(`${noBroker}: required because CI=true`)

async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) {
    // Below the ephemeral ports, so that no client that retries can take one while the broker is down.
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    const free = await new Promise<boolean>((resolve) => {
      const probe = createServer()
      probe.once('error', () => resolve(false))
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
    })
    if (free) ports.add(port)
  }
  return [...ports]
}

export async function startRabbit(): Promise<RabbitServer> {
  if (script === null) throw new Error(String(noBroker))
  const folder = mkdtempSync(path.join(tmpdir(), 'sensorium-rabbit-'))
  const [port, tlsPort, epmdPort, distPort] = (await freePorts(4)) as [number, number, number, number]
  const at = (name: string): string => path.join(folder, name)
  for (const name of ['mnesia', 'logs', 'home']) mkdirSync(at(name))
  writeFileSync(at('plugins'), '[rabbitmq_amqp1_0].\n')
  writeFileSync(at('home/.erlang.cookie'), randomBytes(16).toString('hex'), { mode: 0o400 })
  writeFileSync(
    at('rabbitmq.conf'),
    [
      `listeners.tcp.1 = 127.0.0.1:${port}`,
      `listeners.ssl.1 = 127.0.0.1:${tlsPort}`,
      `ssl_options.cacertfile = ${TLS}ca.pem`,
      `ssl_options.certfile = ${TLS}server.pem`,
      `ssl_options.keyfile = ${TLS}server-key.pem`,
      'ssl_options.verify = verify_none',
      `default_user = ${USER}`,
      `default_pass = ${PASSWORD}`,
      'disk_free_limit.absolute = 1MB',
      'log.console.level = error',
      '',
    ].join('\n'),
  )
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: at('home'),
    LC_ALL: 'C.UTF-8',
    RABBITMQ_NODENAME: `sensorium-${path.basename(folder)}@localhost`,
    RABBITMQ_MNESIA_BASE: at('mnesia'),
    RABBITMQ_LOG_BASE: at('logs'),
    RABBITMQ_PID_FILE: at('pid'),
    RABBITMQ_ENABLED_PLUGINS_FILE: at('plugins'),
    RABBITMQ_CONFIG_FILE: at('rabbitmq.conf'),
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_DIST_PORT: String(distPort),
    ERL_EPMD_PORT: String(epmdPort),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1}',
  }
  const log = (): string => (existsSync(at('log')) ? readFileSync(at('log'), 'utf8') : '')
  let guard: ChildProcess | null = null

  async function start(): Promise<void> {
    const before = log().length
    const started = spawn('sh', ['-c', GUARD, 'sh', script!], {
      cwd: folder,
      env,
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    guard = started
    started.stdin!.on('error', () => {})
    const deadline = Date.now() + READY_WITHIN_MS
    while (!/completed with \d+ plugins/.test(log().slice(before))) {
      if (started.exitCode !== null || Date.now() > deadline) {
        await kill()
        throw new Error(`RabbitMQ did not start: ${log().slice(before) || 'it said nothing'}`)
      }
      await sleep(50)
    }
  }

  async function kill(): Promise<void> {
    const running = guard
    guard = null
    if (!running || running.exitCode !== null || running.signalCode !== null) return
    const exited = new Promise((resolve) => running.once('exit', resolve))
    process.kill(-running.pid!, 'SIGKILL')
    await exited
  }

  try {
    await start()
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
  const login = `${USER}:${encodeURIComponent(PASSWORD)}`
  return {
    url: `amqp://${login}@127.0.0.1:${port}`,
    tlsUrl: `amqps://${login}@127.0.0.1:${tlsPort}`,
    ca: readFileSync(`${TLS}ca.pem`, 'utf8'),
    password: PASSWORD,
    get pid() {
      return guard!.pid!
    },
    kill,
    start,
    async stop() {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
