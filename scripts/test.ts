// `npm test`: the type check, the linter, and every test file in a process of its own, with one PostgreSQL for all.
// Arguments choose files whose path contains one of them; `types` and `lint` choose those checks; `--coverage` prints
// which share of the sources' lines ran.
import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, constants, tmpdir } from 'node:os'
import path from 'node:path'
import { run } from 'node:test'
import type { TestEvent } from 'node:test/reporters'
import { inspect, styleText } from 'node:util'
import { makeCoverage } from './coverage.ts'
import { CPU_FOLDER, cpuFile, cpuSeconds } from './cpu-time.ts'
import { makeMigratedStores } from './migrated-stores.ts'
import { startPostgres, type PostgresServer } from '../packages/server/test/support/postgres-server.ts'

const root = path.dirname(import.meta.dirname)
// A file that hangs must fail by name rather than hold the whole run.
const fileLimitMs = 10 * 60_000

interface Failure {
  name: string
  where: string
  text: string
}
interface Result {
  title: string
  passed: string[]
  failures: Failure[]
  /** Why each skipped test was skipped. */
  skipped: string[]
  /** What the file printed: shown when it fails or was asked for by name. */
  output: string
  ms: number
  /** Seconds of CPU that it and its processes took; null when it ended before it could say. */
  cpu: number | null
}

const coverage = process.argv.includes('--coverage') ? makeCoverage() : null
const filters = process.argv.slice(2).filter((argument) => argument !== '--coverage')
const files = globSync(['packages/*/test/**/*.test.ts', 'examples/**/*.test.ts'], {
  cwd: root,
  exclude: (name) => name === 'node_modules' || name.endsWith('/node_modules'),
})
  .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
  .sort()
const isAlone = (file: string) => file.split(path.sep).includes('alone')
const results: Result[] = []
const interrupted = new AbortController()
let exitCode: number | undefined

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    exitCode = 128 + constants.signals[signal]
    interrupted.abort()
  })
}

// Tests must never meet a server that this run did not start.
for (const name of ['TEST_POSTGRES_URL', 'TEST_POSTGRES_MIGRATED', 'TEST_POSTGRES_SHARDED', 'TEST_SQLITE_MIGRATED'])
  delete process.env[name]
const starting = files.length > 0 ? startPostgres().catch((error: Error) => error) : undefined
let postgres: PostgresServer | undefined
let removeStores = (): void => {}
const cpuFolder = mkdtempSync(path.join(tmpdir(), 'sensorium-cpu-'))
process.env[CPU_FOLDER] = cpuFolder
// Compiling what a test imports takes twice as long as running it. Coverage needs to see it compiled.
if (!coverage) process.env.NODE_COMPILE_CACHE = path.join(root, 'node_modules', '.cache', 'sensorium')
try {
  const isChosen = (check: string): boolean => filters.length === 0 || filters.includes(check)
  const checks = [
    isChosen('types') ? checkTypes().then(report) : null,
    isChosen('lint') ? checkLint().then(report) : null,
  ]
  const started = await starting
  if (started instanceof Error) withoutPostgres(started)
  else postgres = started
  if (postgres !== undefined) process.env.TEST_POSTGRES_URL = postgres.url
  if (files.length > 0) removeStores = await makeMigratedStores(postgres?.url).catch(withoutMigratedStores)
  await runAll(
    files.filter((file) => !isAlone(file)),
    // One more than there are processors: files wait for the disk, for PostgreSQL and for processes they start.
    Math.min(4, availableParallelism() + 1),
  )
  await Promise.all(checks)
  // Two at a time: one of them alone leaves a processor idle, and what they start is watched by state and not by time.
  await runAll(files.filter(isAlone), 2)
} finally {
  await postgres?.stop()
  removeStores()
  rmSync(cpuFolder, { recursive: true, force: true })
}
// The loop may still hold what an interrupted run left open.
process.exit(conclude())

/** The console is a project of its own: it knows the browser's types and not those of Node.js. */
async function checkTypes(): Promise<Result> {
  const tsc = path.join('typescript', 'bin', 'tsc')
  const [all, console] = await Promise.all([
    checkWith('types', tsc, '--noEmit'),
    checkWith('types of the console', tsc, '--noEmit', '--project', 'packages/console'),
  ])
  return { ...all, passed: [...all.passed, ...console.passed], failures: [...all.failures, ...console.failures] }
}

function checkLint(): Promise<Result> {
  return checkWith('lint', path.join('@biomejs', 'biome', 'bin', 'biome'), 'check')
}

/** A tool of node_modules that says nothing is wrong by its exit code. */
async function checkWith(title: string, tool: string, ...given: string[]): Promise<Result> {
  const result = newResult(title)
  const since = performance.now()
  const options = { cwd: root, signal: interrupted.signal, maxBuffer: 1 << 26 }
  const text = await new Promise<string | undefined>((resolve) => {
    execFile(process.execPath, [path.join(root, 'node_modules', tool), ...given], options, (error, stdout, stderr) => {
      resolve(error ? `${stdout}${stderr}`.trim() || error.message : undefined)
    })
  })
  result.ms = performance.now() - since
  if (text === undefined) result.passed.push(title)
  else result.failures.push({ name: title, where: `${path.basename(tool)} ${given.join(' ')}`, text })
  return result
}

/** On a build machine every part must run; elsewhere the part that cannot run is named and left out. */
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

/** Tests then begin with empty stores, and say themselves what is wrong with migrating one. */
function withoutMigratedStores(error: Error): () => void {
  const result = newResult('migrations')
  result.failures.push({ name: 'migrations', where: 'scripts/migrated-stores.ts', text: inspect(error) })
  report(result)
  return () => {}
}

async function runAll(queue: string[], concurrency: number): Promise<void> {
  const next = async (): Promise<void> => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      if (interrupted.signal.aborted) return
      const result = await runFile(file)
      // What an interrupted file has to say is only that it was interrupted.
      if (!interrupted.signal.aborted) report(result)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, next))
}

// One run() per file: tests that a file takes from a shared module name that module as their file, so the
// events of several files in one stream could not be told apart.
async function runFile(file: string): Promise<Result> {
  const result = newResult(file)
  const absolute = path.join(root, file)
  const limit = AbortSignal.timeout(fileLimitMs)
  const signal = AbortSignal.any([interrupted.signal, limit])
  const since = performance.now()
  const names: string[] = []
  // How many tests were reported on each level below the one that is still open: none makes it a leaf.
  const reported: number[] = []
  let finished = false
  const events: AsyncIterable<TestEvent> = run({
    files: [absolute],
    cwd: root,
    isolation: 'process',
    execArgv: ['--import', path.join(import.meta.dirname, 'cpu-time.ts')],
    signal,
    ...(coverage ? { coverage: true, coverageIncludeGlobs: ['packages/*/src/**'] } : {}),
  })
  for await (const { type, data } of events) {
    if (type === 'test:stdout' || type === 'test:stderr') result.output += data.message
    // Node's own totals come as diagnostics too.
    const told = type === 'test:diagnostic' && !/^[a-z_]+ [\d.]+$/.test(data.message)
    if (told) result.output += `${data.message}\n`
    if (type === 'test:summary' && data.file !== undefined) finished = true
    if (type === 'test:coverage') coverage?.add(data.summary.files)
    if (type === 'test:start') names[data.nesting] = data.name
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const { nesting } = data
    if (nesting === 0 && path.resolve(root, data.name) === absolute) {
      // The process as a whole: reported when it fails, and when it ends without a test.
      if (type === 'test:fail') fail('the test process', absolute, { cause: howItEnded(data.details.error) })
      continue
    }
    const leaf = (reported[nesting + 1] ?? 0) === 0
    reported[nesting + 1] = 0
    reported[nesting] = (reported[nesting] ?? 0) + 1
    const name = [...names.slice(0, nesting), data.name].join(' > ')
    const set = (mark: string | boolean | undefined) => mark !== undefined && mark !== false
    if (set(data.skip) || set(data.todo)) {
      const why = set(data.skip) ? data.skip : 'to do'
      result.skipped.push(typeof why === 'string' && why !== '' ? why : 'no reason given')
    } else if (type === 'test:fail') {
      // A parent fails with its children; it counts only when its own code or one of its hooks failed.
      const { error } = data.details
      const own = 'failureType' in error && error.failureType !== 'subtestsFailed'
      if (leaf || own) fail(name, `${data.file}:${data.line}`, error)
    } else if (leaf && data.details.type !== 'suite') {
      result.passed.push(name)
    }
  }
  result.ms = performance.now() - since
  result.cpu = cpuOf(absolute)
  // A call to process.exit() in a test drops every result, and Node counts the file as passed.
  if (!finished && result.failures.length === 0) {
    fail('the test process', absolute, { cause: 'it ended before its tests did, or has none' })
  }
  return result

  function fail(name: string, where: string, error: { cause?: unknown }): void {
    const cause = error.cause ?? error
    const text = limit.aborted
      ? `took longer than ${fileLimitMs / 1000} s`
      : typeof cause === 'string'
        ? cause
        : inspect(cause, { depth: 8, colors: process.stdout.isTTY === true })
    result.failures.push({ name, where: path.relative(root, where), text })
  }
}

function cpuOf(file: string): number | null {
  try {
    return Number(readFileSync(cpuFile(cpuFolder, file), 'utf8'))
  } catch {
    return null
  }
}

function howItEnded(error: Error): string {
  const signal = 'signal' in error && typeof error.signal === 'string' ? `, signal ${error.signal}` : ''
  return 'exitCode' in error ? `it ended with exit code ${String(error.exitCode)}${signal}` : error.message
}

function newResult(title: string): Result {
  return { title, passed: [], failures: [], skipped: [], output: '', ms: 0, cpu: null }
}

function report(result: Result): void {
  results.push(result)
  const { title, passed, failures, skipped, output, ms, cpu } = result
  const bad = failures.length > 0
  const parts = [`${passed.length} passed`]
  if (bad) parts.push(`${failures.length} failed`)
  if (skipped.length > 0) parts.push(`${skipped.length} skipped`)
  const mark = bad ? styleText('red', '✗') : styleText('green', '✔')
  console.log(
    `${mark} ${title}  ${parts.join(', ')}  ${styleText('gray', cpu === null ? time(ms) : `${time(ms)}, CPU ${time(cpu * 1000)}`)}`,
  )
  if (filters.length > 0) for (const name of passed) console.log(`    ${styleText('green', '✔')} ${name}`)
  for (const failure of failures) {
    console.log(`\n    ${styleText('red', `✗ ${failure.name}`)}  ${styleText('gray', failure.where)}`)
    console.log(indent(failure.text))
  }
  const shown = (bad || filters.length > 0) && output !== ''
  if (shown) console.log(`\n    Its output:\n${indent(output.trimEnd())}`)
  if (bad) console.log('')
}

/** Prints what the run comes to, the counts last, and gives the exit code. */
function conclude(): number {
  const passed = results.flatMap((result) => result.passed).length
  const skipped = results.flatMap((result) => result.skipped)
  const failed = results.flatMap(({ title, failures }) => failures.map(({ name }) => `${title}: ${name}`))
  console.log('')
  for (const [why, tests] of Object.entries(Object.groupBy(skipped, (reason) => reason))) {
    console.log(`Left out: ${tests?.length} (${why})`)
  }
  if (results.length > 1) for (const line of failed) console.log(`Failed: ${line}`)
  if (exitCode !== undefined) console.log('Interrupted: not every test ran')
  else if (passed + failed.length === 0) {
    const about = filters.length > 0 ? ` of those chosen by ${filters.join(' ')}` : ''
    console.log(`No test${about} ran, which counts as a failure of the run`)
  }
  const costly = results.toSorted((one, other) => (other.cpu ?? 0) - (one.cpu ?? 0)).slice(0, 10)
  if (results.length > costly.length) {
    console.log(`CPU of the whole run: ${time(cpuSeconds() * 1000)}. The costliest files:`)
    for (const { title, cpu } of costly) console.log(`  ${time((cpu ?? 0) * 1000).padStart(7)}  ${title}`)
  }
  if (coverage) console.log(`Lines that ran:\n${coverage.table(root)}\n`)
  console.log(`${passed} passed, ${failed.length} failed`)
  return exitCode ?? (failed.length > 0 || passed === 0 ? 1 : 0)
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '      ')
}

function time(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}
