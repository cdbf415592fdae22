// Which modules may import which. The rule keeps the code readable as the path of a request: from a transport through
// a feature to the store.
//
//   contract, cel ← kernel ← config ← store ← features ← operations ← transports ← app ← serve, workers ← main
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

const PACKAGES = path.resolve(import.meta.dirname, '../../..')
const SRC = path.join(PACKAGES, 'server/src')
const CONTRACT = path.join(PACKAGES, 'contract/src')
const CEL = path.join(PACKAGES, 'cel/src')

const FEATURES = [
  'activity',
  'audit',
  'live',
  'auth',
  'tenants',
  'agents',
  'interests',
  'channels',
  'routing',
  'events',
  'delivery',
  'outbound',
  'streams',
  'ingest',
  'limits',
  'memory',
  'enrichment',
]
const TRANSPORTS = ['http', 'docs-site', 'mcp', 'console', 'cli']
/** The layers from the bottom up. A layer imports from itself and from the layers below. */
const LAYERS: readonly (readonly string[])[] = [
  ['kernel'],
  ['config.ts'],
  ['store'],
  FEATURES,
  ['operations'],
  TRANSPORTS,
  ['app.ts', 'parts.ts', 'background.ts', 'bootstrap.ts', 'welcome.ts'],
  ['serve.ts', 'workers'], // a node, alone or among others behind one port
  ['main.ts', 'cli/main.ts'], // where a process begins: one of the service, one of the command line
]

const SQLITE_FILES = [
  'store/sqlite.ts',
  'store/sqlite-statements.ts',
  'store/sqlite-snapshot.ts',
  'store/sqlite-group-commit.ts',
  'store/checkpoint-thread.ts',
  'store/own-directory.ts',
  'store/backup.ts',
]
const POSTGRES_FILES = [
  'store/postgres.ts',
  'store/postgres-lookups.ts',
  'store/postgres-wire.ts',
  'store/postgres-connections.ts',
  'store/postgres-probe.ts',
  'store/postgres-servers.ts',
  'store/postgres-listen.ts',
  'store/postgres-transaction.ts',
  'store/postgres-sessions.ts',
]

/** Text that only one engine understands: a cast, a name of a catalogue of PostgreSQL, a pragma of SQLite. */
const ENGINE_SQL = /(?:[\w?)\]]|'[^'\n]*')::[a-z]|\bpg_\w|\bpragma\b/i
/** Files that may hold such text, each with its reason. */
const MAY_NAME_AN_ENGINE: Readonly<Record<string, string>> = {
  'cli/operator/backup.ts': 'advises pg_dump, with which PostgreSQL is backed up',
  'cli/operator/restore.ts': 'advises pg_restore',
}

interface Import {
  from: string
  /** A file below src, or the name of a package. */
  to: string
  ours: boolean
}

function importsOf(root: string): Import[] {
  return globSync('**/*.{ts,tsx}', { cwd: root }).flatMap((from) => {
    const text = readFileSync(path.join(root, from), 'utf8')
    const static_ = [
      ...text.matchAll(/^\s*(?:import|export)\b[^'"`;]*?\bfrom\s+'([^']+)'/gm),
      ...text.matchAll(/^\s*import\s+'([^']+)'/gm),
    ]
    const dynamic = [...text.matchAll(/\bimport\('([^']+)'\)/g)]
    return [...static_, ...dynamic].map(([, name]) => {
      const ours = name!.startsWith('.')
      return { from, to: ours ? path.normalize(path.join(path.dirname(from), name!)) : name!, ours }
    })
  })
}

const imports = importsOf(SRC)
const partOf = (file: string): string => (file === 'cli/main.ts' ? file : file.split(path.sep)[0]!)
const layerOf = (file: string): number => LAYERS.findIndex((parts) => parts.includes(partOf(file)))
const shown = ({ from, to }: Import): string => `${from} imports ${to}`

test('the imports are found at all', () => {
  assert.ok(imports.length > 200)
  assert.ok(imports.some(({ from, to }) => from === 'app.ts' && to === 'http/server.ts'))
})

test('every file belongs to a layer', () => {
  const homeless = globSync('**/*.ts', { cwd: SRC }).filter((file) => layerOf(file) < 0)
  assert.deepEqual(homeless, [])
})

test('a layer imports from itself and from layers below, never from above', () => {
  const upwards = imports.filter(({ from, to, ours }) => ours && layerOf(to) > layerOf(from))
  assert.deepEqual(upwards.map(shown), [])
})

test('no relative import leaves src', () => {
  assert.deepEqual(imports.filter(({ to, ours }) => ours && to.startsWith('..')).map(shown), [])
})

test('features know no web framework and no database driver', () => {
  const foreign = /^(find-my-way|pg|pg-.*|node:sqlite)$/
  const wrong = imports.filter(({ from, to }) => FEATURES.includes(partOf(from)) && foreign.test(to))
  assert.deepEqual(wrong.map(shown), [])
})

test('[OPS-11] operations know no protocol: nothing of HTTP, no database driver, no transport', () => {
  const foreign = /^(node:https?|node:http2|node:net|find-my-way|pg|pg-.*|node:sqlite)$/
  const wrong = imports.filter(
    ({ from, to, ours }) =>
      partOf(from) === 'operations' && (foreign.test(to) || (ours && TRANSPORTS.includes(partOf(to)))),
  )
  assert.deepEqual(wrong.map(shown), [])
  assert.ok(imports.some(({ from, to }) => from === 'http/server.ts' && to === 'operations/perform.ts'))
})

test('only the engines know their drivers', () => {
  const users = (name: string): string[] =>
    [...new Set(imports.filter(({ to }) => to === name).map(({ from }) => from))].sort()
  assert.deepEqual(
    users('node:sqlite').filter((file) => !SQLITE_FILES.includes(file)),
    [],
  )
  assert.deepEqual(
    users('pg').filter((file) => !POSTGRES_FILES.includes(file)),
    [],
  )
  assert.deepEqual(
    users('find-my-way').filter((file) => partOf(file) !== 'http'),
    [],
  )
})

test('[STO-7] only the store and the memory index know which engine is used', () => {
  const engines = /^(store|memory\/index)\/([\w-]+-)?(sqlite|postgres|pgvector)[\w-]*\.ts$/
  const may = (file: string): boolean => file.startsWith('store/') || file.startsWith('memory/index/')
  assert.ok(imports.some(({ from, to }) => from === 'memory/index/open-index.ts' && engines.test(to)))
  assert.deepEqual(imports.filter(({ from, to, ours }) => ours && engines.test(to) && !may(from)).map(shown), [])
  // The configuration chooses it.
  const asking = globSync('**/*.ts', { cwd: SRC }).filter(
    (file) =>
      !may(file) &&
      file !== 'config.ts' &&
      /\bdialect\.engine\b|['"`](sqlite|postgres)['"`]/.test(readFileSync(path.join(SRC, file), 'utf8')),
  )
  assert.deepEqual(asking, [], 'ask for isShared, writers, a lock or storeFolder instead')
  const naming = globSync('**/*.ts', { cwd: SRC }).filter(
    (file) => !may(file) && ENGINE_SQL.test(readFileSync(path.join(SRC, file), 'utf8')),
  )
  assert.deepEqual(naming.sort(), Object.keys(MAY_NAME_AN_ENGINE), 'write what both engines understand')
  for (const sql of ['?::double precision', "'x'::text", 'from pg_class', 'pragma user_version'])
    assert.match(sql, ENGINE_SQL)
})

test('what a start need not load is loaded by what needs it', () => {
  const isValue = (file: string, module: string): boolean =>
    new RegExp(`^import (?!type\\b).*from '${module}'`, 'm').test(readFileSync(path.join(SRC, file), 'utf8'))
  const files = globSync('**/*.ts', { cwd: SRC })
  assert.deepEqual(
    files.filter((file) => isValue(file, 'node:http')),
    [],
    'import http from kernel/node-http.ts',
  )
  const opening = readFileSync(path.join(SRC, 'store/open.ts'), 'utf8')
  assert.doesNotMatch(opening, /^import .*postgres/m, 'SQLite needs no driver of PostgreSQL')
})

test('the contract imports no other package of ours, and the kernel only the contract', () => {
  assert.deepEqual(
    importsOf(CONTRACT)
      .filter(({ to, ours }) => !ours || to.startsWith('..'))
      .map(shown),
    [],
  )
  assert.deepEqual(
    imports.filter(({ from, to, ours }) => partOf(from) === 'kernel' && ours && partOf(to) !== 'kernel').map(shown),
    [],
  )
})

test('the filter language imports no package of ours, and only four features import it', () => {
  const within = importsOf(CEL)
  assert.ok(within.length > 30)
  assert.deepEqual(within.filter(({ to, ours }) => (ours ? to.startsWith('..') : to !== 're2js')).map(shown), [])
  const users = new Set(imports.filter(({ to }) => to === '@sensorium/cel').map(({ from }) => partOf(from)))
  // The memory and the dead letters use its linear-time string search.
  assert.deepEqual([...users].sort(), ['delivery', 'ingest', 'memory', 'routing'])
})

/** The first import cycle found, as the path around it. */
function circle(edges: Map<string, Set<string>>): string[] | null {
  const done = new Set<string>()
  const walk = (node: string, above: string[]): string[] | null => {
    if (above.includes(node)) return [...above.slice(above.indexOf(node)), node]
    if (done.has(node)) return null
    for (const next of edges.get(node) ?? []) {
      const found = walk(next, [...above, node])
      if (found) return found
    }
    done.add(node)
    return null
  }
  for (const node of edges.keys()) {
    const found = walk(node, [])
    if (found) return found
  }
  return null
}

const edgesBy = (name: (file: string) => string, among = imports): Map<string, Set<string>> => {
  const edges = new Map<string, Set<string>>()
  for (const { from, to, ours } of among) {
    if (!ours || name(from) === name(to)) continue
    edges.set(name(from), (edges.get(name(from)) ?? new Set()).add(name(to)))
  }
  return edges
}

test('files have no import cycles', () => {
  assert.equal(circle(edgesBy((file) => file))?.join(' → '), undefined)
})

for (const name of ['cel', 'contract', 'sdk', 'console'])
  test(`nor have the files of packages/${name}`, () => {
    const within = importsOf(path.join(PACKAGES, name, 'src'))
    assert.ok(within.some(({ ours }) => ours))
    assert.equal(circle(edgesBy((file) => file, within))?.join(' → '), undefined)
  })

test('in the console, calls of the service know no component and no page, and components no page', () => {
  const ORDER = ['api', 'components', 'pages']
  const rank = (file: string): number => ORDER.indexOf(partOf(file))
  const within = importsOf(path.join(PACKAGES, 'console/src')).filter(({ from, ours }) => ours && rank(from) >= 0)
  assert.ok(within.some(({ from, to }) => rank(from) > rank(to)))
  assert.deepEqual(within.filter(({ from, to }) => rank(to) > rank(from)).map(shown), [])
})

test('nor have the features', () => {
  const edges = edgesBy(partOf)
  const among = new Map(
    FEATURES.map((name) => [name, new Set([...(edges.get(name) ?? [])].filter((to) => FEATURES.includes(to)))]),
  )
  assert.equal(circle(among)?.join(' → '), undefined)
})

test('a turn of the event loop is awaited through kernel/step-turns.ts', () => {
  const others = globSync('**/*.ts', { cwd: SRC }).filter(
    (file) =>
      file !== path.join('kernel', 'step-turns.ts') &&
      /new Promise\(setImmediate|setImmediate as/.test(readFileSync(path.join(SRC, file), 'utf8')),
  )
  assert.deepEqual(others, [])
})
