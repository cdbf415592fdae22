import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { between, type Scenario } from '../scenario.ts'
import { LEASE_S } from '../site.ts'

/** Set by `prepare`: the file from which the nodes read by how much their clock is wrong. */
let file = ''

const HOUR_MS = 3_600_000

/** The machine's clock is set an hour ahead in the middle of everything, then right again, then back, then right. */
export const stepTheClock: Scenario = {
  name: 'the clock steps by an hour',
  engines: ['sqlite', 'postgres'],
  rounds: { long: 20, short: 1 },
  async prepare() {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-clock-'))
    file = path.join(folder, 'off-by-ms')
    writeFileSync(file, '0')
    const moved = fileURLToPath(new URL('../moved-clock.js', import.meta.url))
    return {
      env: { NODE_OPTIONS: `--import=${moved}`, CLOCK_FILE: file },
      drop: async () => rmSync(folder, { recursive: true, force: true }),
    }
  },
  async breakOnce(_site, { progress }) {
    for (const off of [HOUR_MS, 0, -HOUR_MS, 0]) {
      await progress(between(5, 60))
      writeFileSync(file, String(off))
      // Long enough for the nodes to take a step ahead over, with leases that began before it and after.
      if (off > 0) await sleep(1_500 * LEASE_S)
    }
    await progress(between(5, 60))
  },
}
