// Set-up before `npm start`, `npm test` and `npm run bench`: installs what the lock file names, once.
// Runs on the machine's own Node (20 or newer); everything after it runs on the Node pinned in package.json.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import path from 'node:path'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const stamp = path.join(root, 'node_modules', '.sensorium-setup')
const wanted = createHash('sha256').update(readFileSync(path.join(root, 'package-lock.json'))).digest('hex')

const installed = existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted && existsSync(path.join(root, 'node_modules', '.bin', 'node'))
if (!installed) {
  console.error('Installing dependencies (once)…')
  // npm_execpath is the npm that runs this script; its output goes to stderr so that stdout stays the service's own.
  const npm = process.env.npm_execpath
  const [command, args] = npm ? [process.execPath, [npm]] : ['npm', []]
  execFileSync(command, [...args, 'ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    // The embedding runtime carries its CPU binaries; its install step would only fetch GPU ones from elsewhere.
    env: { ...process.env, ONNXRUNTIME_NODE_INSTALL: 'skip' },
  })
  // Compiled once here, so that the first start is as quick and as small as the second.
  const warmUp = `import module from 'node:module'; module.enableCompileCache('node_modules/.cache/sensorium')
    for (const file of ['app', 'start', 'bootstrap']) await import('./packages/server/src/' + file + '.ts')`
  execFileSync(path.join(root, 'node_modules', '.bin', 'node'), ['--input-type=module', '-e', warmUp], { cwd: root, stdio: ['ignore', 2, 2] })
  writeFileSync(stamp, wanted)
}
