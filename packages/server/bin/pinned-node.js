// Which Node.js runs the service. A clone is TypeScript, which Node.js 24 runs as it is. The lock file pins one release
// with its hash: a package for each platform, of which npm installs the one that fits. The published package is
// JavaScript for the Node.js that is there. This file is plain JavaScript that older releases can run too, because they
// are the ones that need it.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** A clone has its sources; a build has none. */
const isClone = existsSync(fileURLToPath(new URL('../src/main.ts', import.meta.url)))

/** 22.16 is the first release with `node:sqlite` as the service uses it: no flag, timeouts, copies of a live store. */
export const OLDEST = isClone ? '24.0' : '22.16'

/** Whether a version, such as `24.21.0`, is `oldest` or later. */
export function isNewEnough(version, oldest = OLDEST) {
  const [major, minor] = version.split('.').map(Number)
  const [leastMajor, leastMinor] = oldest.split('.').map(Number)
  return major > leastMajor || (major === leastMajor && minor >= leastMinor)
}

/**
 * Returns the file of the pinned Node.js, or of the running one if none is pinned here and it is new enough; otherwise
 * null.
 */
export function pinnedNode() {
  const name = `node-${process.platform}-${process.arch}`
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
    const file = path.join(path.dirname(manifest), 'bin', 'node')
    if (existsSync(file)) return file
  } catch {
    // not installed: another platform, or before the set-up
  }
  return isNewEnough(process.versions.node) ? process.execPath : null
}
