// Builds the console if its sources have changed since the last build; otherwise it takes a few milliseconds.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** Files and folders of the repository that the console is built from. */
const SOURCES = [
  'package-lock.json',
  'packages/cel/src',
  'packages/console/build.ts',
  'packages/console/index.html',
  'packages/console/public',
  'packages/console/src',
  'packages/console/vite.config.ts',
  'packages/sdk/src',
]

/** @param {string} root @returns {string} */
export function consoleHash(root) {
  const hash = createHash('sha256')
  for (const source of SOURCES) {
    const at = path.join(root, source)
    if (!existsSync(at)) continue
    const files = source.includes('.') ? [''] : readdirSync(at, { recursive: true, encoding: 'utf8' }).sort()
    for (const name of files) {
      const file = path.join(at, name)
      if (!/\.[a-z]+$/.test(file)) continue
      hash.update(`${source}/${name}\0`).update(readFileSync(file)).update('\0')
    }
  }
  return hash.digest('hex')
}

/**
 * Builds `packages/console/dist` unless it was built from these sources.
 * @param {string} root @param {string} node The Node.js to build with.
 * @returns {boolean} Whether it was built now.
 */
export function buildConsole(root, node) {
  const folder = path.join(root, 'packages/console')
  const stamp = path.join(folder, 'dist/.built-from')
  const hash = consoleHash(root)
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return false
  rmSync(stamp, { force: true })
  execFileSync(node, [path.join(folder, 'build.ts')], { cwd: folder, stdio: ['ignore', 2, 2] })
  writeFileSync(stamp, hash)
  return true
}
