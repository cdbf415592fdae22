// What an agent that installs the client takes on: no dependency, the contract's types, a few kilobytes.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import path from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'

const ROOT = path.dirname(import.meta.dirname)
const sources = globSync('src/*.ts', { cwd: ROOT }).map((file) => readFileSync(path.join(ROOT, file), 'utf8'))

/** The code alone, as a bundler leaves it before it shortens names: an upper bound of what a page loads. */
const bare = (source: string): string =>
  stripTypeScriptTypes(source)
    .replace(/\/\*\*[^]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '')
    .replace(/\s*\n\s*/g, '\n')

test('[SDK-16] it weighs less than 12 kB gzipped', () => {
  const code = sources.map(bare).join('\n')
  assert.ok(gzipSync(code).length < 12_000, `${gzipSync(code).length} bytes`)
})

test('[SDK-16] it imports nothing but its own files, and nothing of Node.js', () => {
  const manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as Record<string, unknown>
  assert.equal(manifest['dependencies'], undefined)
  const imported = sources.flatMap((source) => [...source.matchAll(/ from '([^']+)'/g)].map(([, name]) => name!))
  assert.deepEqual(
    imported.filter((name) => !name.startsWith('./')),
    [],
  )
})
