// The documentation agrees with the code: settings, errors, operations, dependencies; and its links are not broken.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { ERRORS, operations, SCOPES, type Operation } from '@sensorium/contract'
import { readConfig } from '../../src/config.ts'
import { ROOT } from '../support/root.ts'

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8')
const pages = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md', 'bench/**/*.md', 'packages/*/*.md'], { cwd: ROOT })

/** The table row whose first cell is this code. */
const rowOf = (page: string, code: string): string | undefined =>
  page.split('\n').find((line) => line.startsWith(`| \`${code}\` |`))

/** The variables that the configuration reads, with their defaults. */
function settings(): Map<string, unknown> {
  const source = read('packages/server/src/config.ts')
  const names = [...source.matchAll(/\b(?:read(?:<[^(]*>)?|whole|limit|text)\(\s*'([A-Z][A-Z0-9_]+)'/g)].map(
    ([, name]) => name!,
  )
  const config = readConfig({}) as unknown as Record<string, unknown>
  const field = (name: string): string =>
    name.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return new Map(names.map((name) => [name, config[field(name)]]))
}

/** Defaults that are documented differently from the value of the field. */
const SHOWN: Record<string, string> = {
  VISIBILITY_TIMEOUT_S: String(readConfig({}).visibilityTimeoutMs / 1000),
  EMBEDDINGS: readConfig({}).embeddings.kind,
  TRUSTED_PROXIES: 'none',
  WORKERS: `${readConfig({}).workers}, with PostgreSQL auto`,
  CONSOLE: readConfig({}).console ? 'on' : 'off',
  PUSH_ALLOW_PRIVATE: readConfig({}).pushAllowPrivate ? 'on' : 'off',
}

test('every setting is in docs/operations.md with its default, and nothing else is', () => {
  const page = read('docs/operations.md')
  const known = settings()
  assert.ok(known.size > 20)
  for (const [name, value] of known) {
    const row = rowOf(page, name)
    assert.ok(row, `${name} has no row`)
    const expected = SHOWN[name] ?? (value === null || value === undefined ? 'unset' : [value].flat().join(','))
    const shown = row.split('|')[2]!.trim().replaceAll('`', '')
    assert.equal(shown, expected, name)
  }
  const listed = [...page.split('## The first start')[0]!.matchAll(/^\| `([A-Z][A-Z0-9_]+)` \|/gm)].map(
    ([, name]) => name!,
  )
  assert.deepEqual(
    listed.filter((name) => !known.has(name)),
    [],
  )
})

test('every error is in docs/reference.md with its status and details', () => {
  const page = read('docs/reference.md')
  for (const [code, { status, details }] of Object.entries(ERRORS)) {
    const row = rowOf(page, code)
    assert.ok(row, `${code} has no row`)
    assert.ok(row.includes(`| ${status} |`), `${code}: ${status}`)
    for (const name of Object.keys((details as { properties: object }).properties))
      assert.ok(row.includes(`\`${name}\``), `${code}: ${name}`)
  }
})

test('every rule that a request can break is in docs/reference.md', () => {
  const page = read('docs/reference.md')
  const sources = globSync('packages/server/src/**/*.ts', { cwd: ROOT }).map(read)
  const rules = sources.flatMap((text) =>
    [...text.matchAll(/ruleBroken\(\s*'([a-z_]+)'|\brule: '([a-z_]+)'/g)].map(
      ([, thrown, returned]) => thrown ?? returned!,
    ),
  )
  assert.ok(rules.length > 8)
  assert.deepEqual(
    [...new Set(rules)].filter((rule) => !page.includes(`\`${rule}\``)),
    [],
  )
})

test('every operation is in docs/reference.md with its statuses and scopes', () => {
  const page = read('docs/reference.md')
  for (const { method, base, path: route, access, success } of Object.values<Operation>(operations)) {
    const row = rowOf(page, `${method} ${base === 'v1' ? '/v1' : ''}${route}`)
    assert.ok(row, `${method} ${route}`)
    for (const status of Object.keys(success)) assert.ok(row.includes(status), `${method} ${route}: ${status}`)
    for (const scope of [access.scope, access.or, access.self]) {
      if (SCOPES.some((known) => known === scope))
        assert.ok(row.includes(`\`${scope}\``), `${method} ${route}: ${scope}`)
    }
  }
})

test('[DOC-21] the names of one thing in docs/reference.md are those of the code, for each way to reach it', () => {
  const folders = [
    'packages/contract/src',
    'packages/server/src/cli',
    'packages/server/src/mcp',
    'packages/console/src',
  ]
  const sources = folders.map((folder) =>
    globSync(`${folder}/**/*.{ts,tsx}`, { cwd: ROOT })
      .map((file) => readFileSync(path.join(ROOT, file), 'utf8'))
      .join('\n'),
  )
  const table = /### One thing, several names\n[^]*?\n\|---\|.*\n([^]*?)\n\n/.exec(read('docs/reference.md'))![1]!
  for (const row of table.split('\n'))
    for (const [i, cell] of row.split(' | ').entries())
      for (const [, code, shown] of cell.matchAll(/`(?:POST \/v1)?([^`]+)`|"([^"]+)"/g)) {
        const name = shown ?? code!.replace(/^(?:push|enrichment)\.| .*/g, '')
        assert.ok(sources[i]!.includes(name), `${name} in ${folders[i]}`)
      }
})

test('every metric of ours is in docs/operations.md', () => {
  const page = read('docs/operations.md')
  const names = [
    'packages/server/src/app.ts',
    'packages/server/src/parts.ts',
    'packages/server/src/http/metrics.ts',
  ].flatMap((file) => read(file).match(/\bsensorium_[a-z_]+/g) ?? [])
  assert.ok(names.length > 10)
  assert.deepEqual(
    [...new Set(names)].filter((name) => !page.includes(`\`${name}\``)),
    [],
  )
})

test('every direct dependency is in docs/dependencies.md', () => {
  const page = read('docs/dependencies.md')
  const names = globSync(['package.json', 'packages/*/package.json'], { cwd: ROOT }).flatMap((file) => {
    const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read(file)) as Record<
      string,
      Record<string, string> | undefined
    >
    return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })
  })
  assert.ok(names.length > 15)
  assert.deepEqual(
    [...new Set(names)].filter((name) => !page.includes(`\`${name}\``)),
    [],
  )
})

test('every guide is listed once in docs/README.md: two would have one address, and the service would not start', () => {
  const listed = [...read('docs/README.md').matchAll(/^- \[[^\]]+\]\(([\w-]+\.md)\)/gm)].map(([, name]) => name!)
  assert.ok(listed.length > 10)
  assert.deepEqual(
    listed.filter((name, i) => listed.indexOf(name) !== i),
    [],
  )
})

/** Anchors of headings, as GitHub makes them. */
const anchorsOf = (text: string): string[] =>
  [...text.replace(/^```[^]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )

for (const page of pages) {
  test(`the links of ${page} are not broken`, () => {
    for (const [, link] of read(page)
      .replace(/^```[^]*?^```/gm, '')
      .matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(link!)) continue
      const [file, anchor] = link!.split('#') as [string, string | undefined]
      const target = file === '' ? page : path.join(path.dirname(page), file)
      assert.ok(existsSync(path.join(ROOT, target)), `${link} in ${page}`)
      if (anchor !== undefined) assert.ok(anchorsOf(read(target)).includes(anchor), `${link} in ${page}`)
    }
  })
}
