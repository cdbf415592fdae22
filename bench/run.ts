// `npm run bench`: every scenario in turn, each in a process of its own, but for those that need data or programs of
// their own. Arguments choose scenarios by name.
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import path from 'node:path'

const ONLY_BY_NAME = ['recall.ts', 'peers.ts', 'memories.ts']

const folder = import.meta.dirname
const wanted = process.argv.slice(2)
const scenarios = globSync('*.ts', { cwd: folder, exclude: [path.basename(import.meta.filename)] })
  .filter((file) => (wanted.length > 0 ? wanted.includes(path.basename(file, '.ts')) : !ONLY_BY_NAME.includes(file)))
  .sort()

const failed = scenarios.filter((file) => {
  console.log(`\n== ${path.basename(file, '.ts')}`)
  return spawnSync(process.execPath, [path.join(folder, file)], { stdio: 'inherit' }).status !== 0
})
if (failed.length > 0) console.error(`\nFailed: ${failed.join(', ')}`)
process.exit(failed.length > 0 || scenarios.length === 0 ? 1 : 0)
