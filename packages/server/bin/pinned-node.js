// Where the Node.js lies that the lock file pins, with its hash: a package for each platform, of which npm installs the
// one that fits. Plain JavaScript that older releases run too, since they are who needs to know.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const OLDEST = 24

/** Whether a release, such as `24.21.0`, runs the sources as they are. */
export const isNewEnough = (version) => Number(version.split('.')[0]) >= OLDEST

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
