// The size of the first load: the page, and everything that its script imports statically.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'

const DIST = path.resolve(import.meta.dirname, '../dist')
const LIMIT = 200_000
const read = (name: string): Buffer => readFileSync(path.join(DIST, name))

/** Files that are imported by a statement, with their own imports; `import()` loads later and does not count. */
function withImports(name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen
  seen.add(name)
  const text = read(`assets/${name}`).toString()
  for (const [, imported] of text.matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g)) withImports(imported!, seen)
  return seen
}

const html = (): string => read('index.html').toString()
const stylesOf = (page: string): string[] =>
  [...page.matchAll(/href="\/console\/assets\/([^"]+\.css)"/g)].map(([, name]) => name!)

test('[UI-44] the first load has all styles, so that a page has its own at whichever attempt it is loaded', () => {
  const all = readdirSync(path.join(DIST, 'assets')).filter((name) => name.endsWith('.css'))
  assert.ok(all.length > 0)
  assert.deepEqual(stylesOf(html()), all)
})

test('[UI-4] the first load is under 200 kB gzipped, without chart, graph and filter language', (t) => {
  const [, script] = /src="\/console\/assets\/([^"]+\.js)"/.exec(html())!
  const scripts = [...withImports(script!)]
  const names = [...scripts, ...stylesOf(html())]
  const bytes = names.reduce((sum, name) => sum + gzipSync(read(`assets/${name}`), { level: 9 }).length, 0)
  t.diagnostic(`${Math.round(bytes / 1000)} kB in ${names.length} files`)
  assert.ok(bytes < LIMIT, `${bytes}`)
  const text = scripts.map((name) => read(`assets/${name}`).toString()).join()
  const later = readdirSync(path.join(DIST, 'assets'))
    .filter((name) => name.endsWith('.js') && !names.includes(name))
    .map((name) => read(`assets/${name}`).toString())
    .join()
  for (const mark of ['u-legend', 'CelSyntaxError', 'graphology-layout-forceatlas2']) {
    assert.ok(!text.includes(mark), `${mark} is loaded at once`)
    assert.ok(later.includes(mark), `${mark} is loaded later`)
  }
})
