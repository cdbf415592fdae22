// What the client adds to an agent that installs it: no dependency, the contract's types, a few kilobytes.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'

const ROOT = path.dirname(import.meta.dirname)
const sources = globSync('src/*.ts', { cwd: ROOT }).map((file) => readFileSync(path.join(ROOT, file), 'utf8'))

/** The whole client as one file, as a page loads it. */
async function bundled(t: TestContext): Promise<string> {
  const { NODE_ENV } = process.env
  t.after(() => {
    // The bundler sets this variable for the whole process.
    if (NODE_ENV === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = NODE_ENV
  })
  const lib = { entry: path.join(ROOT, 'src/index.ts'), formats: ['es' as const] }
  const built = await build({ configFile: false, logLevel: 'silent', build: { write: false, minify: true, lib } })
  return (built as { output: { code: string }[] }[]).flatMap(({ output }) => output.map(({ code }) => code)).join('\n')
}

test('[SDK-16] the client has less than 13 kB gzipped', async (t) => {
  const size = gzipSync(await bundled(t)).length
  assert.ok(size > 1_000 && size < 13_000, `${size} bytes`)
})

test('[SDK-16] the client imports only its own files, and nothing of Node.js', () => {
  const manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as Record<string, unknown>
  assert.equal(manifest['dependencies'], undefined)
  const imported = sources.flatMap((source) => [...source.matchAll(/ from '([^']+)'/g)].map(([, name]) => name!))
  assert.deepEqual(
    imported.filter((name) => !name.startsWith('./')),
    [],
  )
})
