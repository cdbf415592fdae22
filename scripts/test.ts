// `npm test`: the type check, the linter, and every test file, in a few processes with one PostgreSQL for all.
// Arguments choose files whose path contains one of them; `types` and `lint` choose those checks; `--coverage` prints
// the share of source lines that ran.
import { globSync } from 'node:fs'
import { availableParallelism, constants } from 'node:os'
import path from 'node:path'
import { inspect, styleText } from 'node:util'
import {
  startPostgres,
  WITHOUT_POWER_CUTS,
  type PostgresServer,
} from '../packages/server/test/support/postgres-server.ts'
import { checkLint, checkTypes } from './test/checks.ts'
import { makeCoverage } from './test/coverage.ts'
import { cpuSeconds } from './test/cpu-time.ts'
import { useFolderInMemory } from './test/folder-in-memory.ts'
import { makeMigratedStores } from './test/migrated-stores.ts'
import { newResult, printCosts, printResult, printTroubles, type Result } from './test/results.ts'
import { runLane } from './test/run-lane.ts'

const root = path.dirname(import.meta.dirname)
// The longest files start first, so that no processor is idle at the end while the last of them runs.
const LONGEST = ['e2e/', 'fuzz/', 'process/', 'outbound/fairness', 'memory/', 'cli/', 'store/']

const coverage = process.argv.includes('--coverage') ? makeCoverage() : null
const filters = process.argv.slice(2).filter((argument) => argument !== '--coverage')
const files = globSync(['packages/*/test/**/*.test.ts', 'examples/**/*.test.ts'], {
  cwd: root,
  exclude: (name) => name === 'node_modules' || name.endsWith('/node_modules'),
})
  .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
  .sort((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1))
const results: Result[] = []
const interrupted = new AbortController()
let exitCode: number | undefined

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    exitCode = 128 + constants.signals[signal]
    interrupted.abort()
  })
}

// Tests must never use a server that this run did not start.
for (const name of ['POSTGRES_URL', 'POSTGRES_MIGRATED', 'POSTGRES_SHARDED', 'POSTGRES_PLANNED', 'SQLITE_MIGRATED'])
  delete process.env[`TEST_${name}`]
const removeFolder = files.length > 0 ? useFolderInMemory() : () => {}
const starting = files.length > 0 ? startPostgres(WITHOUT_POWER_CUTS).catch((error: Error) => error) : undefined
let postgres: PostgresServer | undefined
let removeStores = (): void => {}
// Compiling the modules that a test imports takes twice as long as running it. Coverage has to see them compiled.
if (!coverage) process.env.NODE_COMPILE_CACHE = path.join(root, 'node_modules', '.cache', 'sensorium')
try {
  const isChosen = (check: string): boolean => filters.length === 0 || filters.includes(check)
  const checks = [
    isChosen('types') ? checkTypes(interrupted.signal).then(report) : null,
    isChosen('lint') ? checkLint(interrupted.signal).then(report) : null,
  ]
  const started = await starting
  if (started instanceof Error) withoutPostgres(started)
  else postgres = started
  if (postgres !== undefined) process.env.TEST_POSTGRES_URL = postgres.url
  if (files.length > 0) removeStores = await makeMigratedStores(postgres?.url).catch(withoutMigratedStores)
  await runAll()
  await Promise.all(checks)
} finally {
  await postgres?.stop()
  removeStores()
  removeFolder()
}
// The event loop may still hold resources that an interrupted run left open.
process.exit(conclude())

function rank(file: string): number {
  const at = LONGEST.findIndex((part) => file.includes(part))
  return at < 0 ? LONGEST.length : at
}

/** Groups files that one process runs in a row: the browser tests are one group, every other file is its own. */
function inGroups(all: readonly string[]): string[][] {
  const isOfBrowser = (file: string): boolean => file.split(path.sep).includes('e2e')
  const ofBrowser = all.filter(isOfBrowser)
  const others = all.filter((file) => !isOfBrowser(file)).map((file) => [file])
  return ofBrowser.length > 0 ? [ofBrowser, ...others] : others
}

/**
 * Runs two processes more than there are processors, but four at most: files wait for the disk, for PostgreSQL and for
 * processes they start, and with only one more, two cores were idle for a fifth of the run. The first process begins
 * with the files that need most of the machine, one after the other and each in a process of its own.
 */
async function runAll(): Promise<void> {
  const isAlone = (file: string) => file.split(path.sep).includes('alone')
  const alone = files.filter(isAlone)
  const waiting = inGroups(files.filter((file) => !isAlone(file)))
  const lane = (take: () => string | undefined) => runLane({ take, report, signal: interrupted.signal, coverage })
  const inLanes = async (): Promise<void> => {
    // A lane that crashed leaves its files to other lanes, or to the next one here.
    while (waiting.length > 0 && !interrupted.signal.aborted) {
      let group: string[] = []
      await lane(() => {
        if (group.length === 0) group = waiting.shift() ?? []
        return group.shift()
      })
      if (group.length > 0) waiting.unshift(group)
    }
  }
  const oneByOne = async (): Promise<void> => {
    for (const file of alone) {
      const only = [file]
      if (!interrupted.signal.aborted) await lane(() => only.shift())
    }
  }
  const lanes = Math.min(4, availableParallelism() + 2)
  await Promise.all([oneByOne().then(inLanes), ...Array.from({ length: lanes - 1 }, inLanes)])
}

/** On a build machine every part must run; elsewhere a part that cannot run is named and left out. */
function withoutPostgres(error: Error): void {
  if (process.env.CI === 'true') {
    const result = newResult('PostgreSQL')
    result.failures.push({ name: 'PostgreSQL', where: 'required because CI=true', text: error.message })
    report(result)
  } else {
    const notice = `PostgreSQL is missing: the tests that need it are left out. ${error.message}`
    console.log(styleText('yellow', notice))
  }
}

/** Tests then start with empty stores, and report for themselves why migrating one fails. */
function withoutMigratedStores(error: Error): () => void {
  const result = newResult('migrations')
  result.failures.push({ name: 'migrations', where: 'scripts/test/migrated-stores.ts', text: inspect(error) })
  report(result)
  return () => {}
}

function report(result: Result): void {
  results.push(result)
  printResult(result, filters.length > 0)
}

/** Prints the outcome of the run, the counts last, and returns the exit code. */
function conclude(): number {
  const passed = results.flatMap((result) => result.passed).length
  const failed = results.flatMap((result) => result.failures).length
  console.log('')
  printTroubles(results)
  if (exitCode !== undefined) console.log('Interrupted: not every test ran')
  else if (passed + failed === 0) {
    const about = filters.length > 0 ? ` of those chosen by ${filters.join(' ')}` : ''
    console.log(`No test${about} ran, which counts as a failure of the run`)
  }
  printCosts(results, cpuSeconds())
  if (coverage) console.log(`Lines that ran:\n${coverage.table(root)}\n`)
  console.log(`${passed} passed, ${failed} failed`)
  return exitCode ?? (failed > 0 || passed === 0 ? 1 : 0)
}
