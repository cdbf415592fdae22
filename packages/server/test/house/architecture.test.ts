// Every file that ARCHITECTURE.md names is there, and no file outgrows a reader. The contract is left out of the latter:
// its schemas are lists.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

const ROOT = path.resolve(import.meta.dirname, '../../../..')
/** Where a path of ARCHITECTURE.md may begin. */
const BASES = ['', 'packages/server', 'packages/server/src'].map((base) => path.join(ROOT, base))
const GENERATED = ['packages/sdk/src/contract.ts']
const MAX_LINES = 350

test('every file and folder that ARCHITECTURE.md names is there', () => {
  const text = readFileSync(path.join(ROOT, 'ARCHITECTURE.md'), 'utf8')
  const named = [...text.matchAll(/`([a-z][\w.-]*(?:\/[\w.-]+)+)`/g)].map(([, name]) => name!)
  assert.ok(named.length > 100, 'the pattern still finds them')
  const missing = named.filter((name) => !BASES.some((base) => existsSync(path.join(base, name))))
  assert.deepEqual([...new Set(missing)], [])
})

test(`no source file has more than ${MAX_LINES} lines`, () => {
  const long = globSync('packages/{server,cel,sdk}/src/**/*.ts', { cwd: ROOT })
    .filter((file) => !GENERATED.includes(file.replaceAll(path.sep, '/')))
    .filter((file) => readFileSync(path.join(ROOT, file), 'utf8').split('\n').length - 1 > MAX_LINES)
  assert.deepEqual(long, [])
})
