// Every file and rule that ARCHITECTURE.md and docs/internals.md name exists, and so do the parts that the console's
// README names. No source file is too long to read; the contract is exempt from that, because its schemas are lists. No
// comment is too wide.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../support/root.ts'

/** Where a path of these pages may begin. */
const BASES = ['', 'packages/server', 'packages/server/src'].map((base) => path.join(ROOT, base))
const GENERATED = ['packages/sdk/src/contract.ts']
const MAX_LINES = 350
const MAX_WIDTH = 120

test('every file and folder that ARCHITECTURE.md and docs/internals.md name exists', () => {
  const pages = ['ARCHITECTURE.md', 'docs/internals.md'].map((page) => readFileSync(path.join(ROOT, page), 'utf8'))
  const text = pages.join('\n')
  const named = [...text.matchAll(/`([a-z][\w.-]*(?:\/[\w.-]+)+)`/g)].map(([, name]) => name!)
  assert.ok(named.length > 100, 'the pattern still finds them')
  const missing = named.filter((name) => !BASES.some((base) => existsSync(path.join(base, name))))
  assert.deepEqual([...new Set(missing)], [])
})

test('every invariant names files and rules that exist', () => {
  const text = readFileSync(path.join(ROOT, 'ARCHITECTURE.md'), 'utf8')
  const invariants = text
    .split('## Invariants')[1]!
    .split('\n## ')[0]!
    .match(/^\d+\. .*$/gm)!
  const files = globSync('packages/contract/requirements/*.json', { cwd: ROOT })
  const known = new Set(
    files.flatMap((file) => readFileSync(path.join(ROOT, file), 'utf8').match(/(?<="id": ")[^"]+/g)!),
  )
  assert.ok(invariants.length > 20)
  for (const invariant of invariants) {
    const rules = [...invariant.matchAll(/\[([A-Z]+-[A-Z0-9-]+)\]/g)].map(([, id]) => id!)
    assert.ok(rules.length > 0 && /`[\w./-]+\.\w+`/.test(invariant), invariant)
    assert.deepEqual(
      rules.filter((id) => !known.has(id)),
      [],
      invariant,
    )
  }
})

test('every part and function that the README of the console names is exported there', () => {
  const text = readFileSync(path.join(ROOT, 'packages/console/README.md'), 'utf8').replaceAll(/```[^]*?```/g, '')
  const code = [...text.matchAll(/`([^`]+)`/g)].map(([, one]) => one!)
  const named = code.flatMap((one) => one.match(/\b(?:[A-Z][a-z]\w*|(?:use|show|loaded)[A-Z]\w*)/g) ?? [])
  assert.ok(named.length > 40, 'the pattern still finds them')
  const source = globSync('packages/console/src/**/*.{ts,tsx}', { cwd: ROOT })
    .map((file) => readFileSync(path.join(ROOT, file), 'utf8'))
    .join()
  const missing = named.filter((name) => !new RegExp(`export (?:const|function) ${name}\\b`).test(source))
  assert.deepEqual(missing, [])
})

test(`no source file has more than ${MAX_LINES} lines`, () => {
  const long = globSync('packages/{server,cel,sdk}/src/**/*.ts', { cwd: ROOT })
    .filter((file) => !GENERATED.includes(file.replaceAll(path.sep, '/')))
    .filter((file) => readFileSync(path.join(ROOT, file), 'utf8').split('\n').length - 1 > MAX_LINES)
  assert.deepEqual(long, [])
})

test(`no line of a comment has more than ${MAX_WIDTH} characters: the formatter leaves comments as they are`, () => {
  const files = globSync('{bench,examples,packages,scripts}/**/*.{ts,tsx}', {
    cwd: ROOT,
    exclude: (name) => ['node_modules', 'dist'].includes(path.basename(name)),
  }).filter((file) => !GENERATED.includes(file.replaceAll(path.sep, '/')))
  assert.ok(files.length > 1000)
  const wide = files.flatMap((file) =>
    readFileSync(path.join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line, i) => (/^\s*(?:\/[/*]|\*)/.test(line) && line.length > MAX_WIDTH ? [`${file}:${i + 1}`] : [])),
  )
  assert.deepEqual(wide, [])
})
