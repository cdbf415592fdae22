import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { between, type Scenario } from '../scenario.ts'

/** Set by `prepare`: the file from which the nodes read by how much their clock is wrong. */
let file = ''

/** The machine's clock is set an hour ahead, an hour back or right, in the middle of everything. */
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
    await progress(between(5, 60))
    writeFileSync(file, String(between(-1, 1) * 3_600_000))
    await progress(between(5, 60))
  },
}
