// `npm run bench`: every scenario in turn, each in a process of its own. Arguments choose scenarios by name.
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import path from 'node:path'

/** Files that scenarios share, and files that are run by hand because they need data of their own. */
const NOT_A_SCENARIO = ['run.ts', 'tools.ts', 'recall.ts', 'peers.ts', 'memories.ts']

const folder = import.meta.dirname
const wanted = process.argv.slice(2)
const scenarios = globSync('*.ts', { cwd: folder })
  .filter((file) => (wanted.length > 0 ? wanted.includes(path.basename(file, '.ts')) : !NOT_A_SCENARIO.includes(file)))
  .sort()

const failed = scenarios.filter((file) => {
  console.log(`\n== ${path.basename(file, '.ts')}`)
  return spawnSync(process.execPath, [path.join(folder, file)], { stdio: 'inherit' }).status !== 0
})
if (failed.length > 0) console.error(`\nFailed: ${failed.join(', ')}`)
process.exit(failed.length > 0 || scenarios.length === 0 ? 1 : 0)
