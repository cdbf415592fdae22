// Which Node.js runs the service. A clone is TypeScript that Node.js 24 runs as it is, and the lock file pins one, with
// its hash: a package for each platform, of which npm installs the one that fits. The package that is installed is
// JavaScript for the Node.js that is there. Plain JavaScript that older releases run too, since they are who needs to
// know.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** A clone has its sources; what is built has none. */
const isClone = existsSync(fileURLToPath(new URL('../src/main.ts', import.meta.url)))

/** 22.16 is the first with `node:sqlite` as the service uses it: no flag, time limits, copies of a live store. */
export const OLDEST = isClone ? '24.0' : '22.16'

/** Whether a release, such as `24.21.0`, is that one or a later one. */
export function isNewEnough(version, oldest = OLDEST) {
  const [major, minor] = version.split('.').map(Number)
  const [leastMajor, leastMinor] = oldest.split('.').map(Number)
  return major > leastMajor || (major === leastMajor && minor >= leastMinor)
}

/** The file of the pinned Node.js; where the platform has none, this one if it is new enough; else null. */
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
