// When the console is built, and that the build matches the sources.
import assert from 'node:assert/strict'
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { buildConsole, consoleHash } from '../../../scripts/build-console.mjs'

const ROOT = path.resolve(import.meta.dirname, '../../..')

test('[UI-23] set-up has built the console, and builds it again only when a source has changed', (t) => {
  assert.equal(buildConsole(ROOT, process.execPath), false, 'this run was set up')
  const copy = mkdtempSync(path.join(os.tmpdir(), 'sensorium-console-'))
  t.after(() => rmSync(copy, { recursive: true, force: true }))
  const filter = (file: string): boolean => !['node_modules', 'dist', 'test'].includes(path.basename(file))
  for (const part of ['package-lock.json', 'packages/cel', 'packages/console', 'packages/sdk'])
    cpSync(path.join(ROOT, part), path.join(copy, part), { recursive: true, filter })
  const before = consoleHash(copy)
  assert.equal(before, consoleHash(ROOT))
  for (const source of ['packages/console/src/app.tsx', 'packages/sdk/src/request.ts', 'package-lock.json']) {
    const earlier = consoleHash(copy)
    appendFileSync(path.join(copy, source), '\n')
    assert.notEqual(consoleHash(copy), earlier, source)
  }
})

test('[UI-23] the licences of bundled packages are included, and large files are compressed', () => {
  const dist = path.join(ROOT, 'packages/console/dist')
  const licences = readFileSync(path.join(dist, 'licences.md'), 'utf8')
  for (const name of ['react', 'react-dom', '@tanstack/react-query', 'uplot']) assert.ok(licences.includes(name), name)
  const html = readFileSync(path.join(dist, 'index.html'), 'utf8')
  const [, script] = /src="\/console\/([^"]+\.js)"/.exec(html)!
  for (const suffix of ['.gz', '.br']) assert.ok(existsSync(path.join(dist, script! + suffix)))
})
