// A throw-away pgbouncer for tests: Debian's own, with its own folder and port, removed afterwards.
import { spawn, type ChildProcess } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { installPackages } from './debian-packages.ts'

export interface Pooler {
  /** The address of the database behind it. */
  readonly url: string
  /** Changes the mode: by a restart, or without one, in which connections stay open. */
  change(mode: PoolMode, how: 'restarted' | 'reloaded'): Promise<void>
  stop(): Promise<void>
}

export type PoolMode = 'session' | 'transaction'

const PROGRAM = '/usr/sbin/pgbouncer'
const READY_WITHIN_MS = 20_000

function install(): boolean {
  installPackages('pgbouncer')
  return existsSync(PROGRAM)
}

/** For the `skip` of a test: false where pgbouncer is available. On a build machine a missing one is a failure. */
export const noPooler: string | false =
  existsSync(PROGRAM) || install() ? false : 'pgbouncer is missing (Debian package pgbouncer)'
if (noPooler && process.env['CI'] === 'true') throw new Error(`${noPooler}: required because CI=true`)

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer()
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })

/** Starts one in front of the server of `url`, with so many sessions. */
export async function startPooler(url: string, mode: PoolMode, sessions = 20): Promise<Pooler> {
  const server = new URL(url)
  const folder = mkdtempSync(path.join(tmpdir(), 'sensorium-pooler-'))
  const port = await freePort()
  const account = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
  if ('uid' in account) chownSync(folder, 65534, 65534)
  const log = path.join(folder, 'log')
  const configure = (mode: PoolMode): void =>
    writeFileSync(
      path.join(folder, 'ini'),
      [
        '[databases]',
        `* = host=${server.hostname} port=${server.port} user=${server.username}`,
        '[pgbouncer]',
        'listen_addr = 127.0.0.1',
        `listen_port = ${port}`,
        'unix_socket_dir =',
        'auth_type = any',
        `pool_mode = ${mode}`,
        `default_pool_size = ${sessions}`,
        `logfile = ${log}`,
        '',
      ].join('\n'),
    )
  async function start(): Promise<() => Promise<void>> {
    rmSync(log, { force: true })
    child = spawn(PROGRAM, [path.join(folder, 'ini')], { ...account, cwd: folder, stdio: 'ignore' })
    const started = child
    const ended = new Promise<void>((resolve) => started.once('exit', () => resolve()))
    await said(/process up/)
    return async () => {
      started.kill('SIGKILL')
      await ended
    }
  }
  async function said(what: RegExp): Promise<void> {
    const all = (): string => (existsSync(log) ? readFileSync(log, 'utf8') : '')
    for (const since = Date.now(); !what.test(all()); await sleep(20)) {
      if (child!.exitCode !== null || Date.now() - since > READY_WITHIN_MS)
        throw new Error(`pgbouncer did not say ${what}: ${all()}`)
    }
  }
  let child: ChildProcess | undefined
  const killAtExit = (): void => void child?.kill('SIGKILL')
  process.once('exit', killAtExit)
  configure(mode)
  let kill = await start()
  return {
    url: Object.assign(new URL(url), { port: String(port) }).href,
    async change(mode, how) {
      configure(mode)
      if (how === 'restarted') {
        await kill()
        kill = await start()
      } else {
        writeFileSync(log, '')
        child!.kill('SIGHUP')
        await said(/SIGHUP/)
      }
    },
    async stop() {
      await kill()
      process.off('exit', killAtExit)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
