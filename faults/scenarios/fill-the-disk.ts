import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { between, type Scenario } from '../scenario.ts'

/** Set by `prepare`: a file system of its own, small enough to be filled at once. */
let folder = ''

function fill(file: string): void {
  const descriptor = openSync(file, 'w')
  const block = Buffer.alloc(1 << 16)
  try {
    for (;;) writeSync(descriptor, block)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    closeSync(descriptor)
  }
}

/** No byte is left, for a while; then there is room again. */
export const fillTheDisk: Scenario = {
  name: 'the disk is full',
  engines: ['sqlite'],
  rounds: { long: 20, short: 0 },
  async prepare() {
    folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-full-'))
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256m', 'tmpfs', folder])
    if (mounted.status !== 0) {
      rmSync(folder, { recursive: true })
      return 'a file system of its own needs the rights of root'
    }
    return {
      folder,
      async drop() {
        spawnSync('umount', [folder])
        rmSync(folder, { recursive: true, force: true })
      },
    }
  },
  async breakOnce(_site, { progress }) {
    await progress(between(5, 60))
    const file = path.join(folder, 'everything-else')
    fill(file)
    await sleep(between(200, 2_000))
    rmSync(file)
  },
}
