// One process of test files, seen from the runner: hands it files, and turns what it reports into a result for each.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { run } from 'node:test'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'
import type { Coverage } from './coverage.ts'
import { LEFT_BEHIND, newResult, type Result } from './results.ts'

const root = path.resolve(import.meta.dirname, '../..')
const LANE = path.join(import.meta.dirname, 'lane.ts')
/**
 * Four processes share the cores, so each gets one thread for V8's own work, and a larger space for new objects: 7 %
 * less CPU in all, and 6 % less time.
 */
const NODE_FLAGS = ['--v8-pool-size=1', '--max-semi-space-size=32']
/** A file that hangs must fail by name rather than block the whole run. It counts as hung after this long a silence. */
const SILENCE_MS = 10 * 60_000
/** Sockets and processes take a moment to close. */
const PATIENCE_MS = 30_000

export interface LaneOptions {
  /** Returns the next file, or undefined if there is none for this lane. */
  take(): string | undefined
  report(result: Result): void
  signal: AbortSignal
  coverage: Coverage | null
  /** How long the resources that a file opened may take to close. */
  patienceMs?: number
}

interface Taken {
  result: Result
  since: number
  limit: NodeJS.Timeout
}

/** Resolves when no file is left, or when the process ends; the file it was running has then failed. */
export async function runLane(options: LaneOptions): Promise<void> {
  const { take, report, signal, coverage, patienceMs = PATIENCE_MS } = options
  // Files are requested over one channel and results arrive over another, so two files may be open for a moment.
  const taken: Taken[] = []
  const stop = new AbortController()
  let end = 'it ended before its tests did'
  let hasStarted = false

  const server = await listen(() => {
    hasStarted = true
    const file = signal.aborted ? undefined : take()
    if (file === undefined) return ''
    const limit = setTimeout(() => {
      end = `said nothing for ${SILENCE_MS / 1000} s`
      stop.abort()
    }, SILENCE_MS)
    taken.push({ result: newResult(file), since: performance.now(), limit })
    return file
  })
  const finish = (): void => {
    const { result, since, limit } = taken.shift()!
    clearTimeout(limit)
    result.ms = performance.now() - since
    if (result.passed.length + result.failures.length + result.skipped.length === 0)
      result.failures.push({ name: 'the file', where: result.title, text: 'it has no tests' })
    // The result of an interrupted file would only say that it was interrupted.
    if (!signal.aborted) report(result)
  }

  const events: AsyncIterable<TestEvent> = run({
    files: [LANE],
    cwd: root,
    isolation: 'process',
    execArgv: [...NODE_FLAGS],
    env: {
      ...process.env,
      TEST_LANE: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      TEST_LANE_PATIENCE_MS: String(patienceMs),
    },
    signal: AbortSignal.any([signal, stop.signal]),
    ...(coverage ? { coverage: true, coverageIncludeGlobs: ['packages/*/src/**'] } : {}),
  })
  const read = makeReader()
  for await (const event of events) {
    for (const { limit } of taken) limit.refresh()
    if (event.type === 'test:coverage') coverage?.add(event.data.summary.files)
    else if (event.type === 'test:stdout' || event.type === 'test:stderr') {
      const last = taken.at(-1)
      if (last) last.result.output += event.data.message
    } else if (isOfLane(event)) {
      if (event.type === 'test:fail' && !stop.signal.aborted) end = howItEnded(event.data.details.error)
    } else if (taken[0] && read(event, taken[0].result)) finish()
  }
  server.close()
  // Another process would fail like this one, and so would the next.
  if (!hasStarted && !signal.aborted) throw new Error(`The test process did not start: ${end}`)
  while (taken[0]) {
    taken[0].result.failures.push({ name: 'the test process', where: path.relative(root, LANE), text: end })
    finish()
  }
}

/** Whether an event is about the process as a whole, reported when it fails and when it ends without a test. */
const isOfLane = ({ type, data }: TestEvent): boolean =>
  (type === 'test:pass' || type === 'test:fail') && data.nesting === 0 && path.resolve(root, data.name) === LANE

/** Returns a function that adds an event of a file to its result, and returns true if it was the last one. */
function makeReader(): (event: TestEvent, result: Result) => boolean {
  const names: string[] = []
  // How many tests were reported on each level below the open one: a test with none below it is a leaf.
  const reported: number[] = []

  return ({ type, data }, result) => {
    if (type === 'test:start') names[data.nesting] = data.name
    if (type === 'test:diagnostic') {
      // The diagnostic comes after the test's result.
      const isLast = names[0] === LEFT_BEHIND
      if (isLast) {
        result.cpu = Number(data.message)
        names.length = 0
        // Node's own totals come as diagnostics too.
      } else if (!/^[a-z_]+ [\d.]+$/.test(data.message)) {
        result.output += `${data.message}\n`
      }
      return isLast
    }
    if (type !== 'test:pass' && type !== 'test:fail') return false
    const { nesting } = data
    const isLeaf = (reported[nesting + 1] ?? 0) === 0
    reported[nesting + 1] = 0
    reported[nesting] = (reported[nesting] ?? 0) + 1
    // The first name is that of the file.
    const name = [...names.slice(1, nesting), data.name].join(' > ')
    if (isMarked(data.skip) || isMarked(data.todo)) {
      const why = isMarked(data.skip) ? data.skip : 'to do'
      result.skipped.push(typeof why === 'string' && why !== '' ? why : 'no reason given')
    } else if (type === 'test:fail') {
      // A parent fails with its children; it counts only when its own code or one of its hooks failed.
      const { error } = data.details
      const isOwn = 'failureType' in error && error.failureType !== 'subtestsFailed'
      const where = path.relative(root, `${data.file ?? LANE}:${data.line}`)
      if (isLeaf || isOwn) result.failures.push({ name, where, text: textOf(error) })
    } else if (isLeaf && nesting > 0 && data.details.type !== 'suite') {
      result.passed.push(name)
    }
    return false
  }
}

const isMarked = (mark: string | boolean | undefined): boolean => mark !== undefined && mark !== false

function textOf(error: { cause?: unknown }): string {
  const cause = error.cause ?? error
  return typeof cause === 'string' ? cause : inspect(cause, { depth: 8, colors: process.stdout.isTTY === true })
}

function howItEnded(error: Error): string {
  const signal = 'signal' in error && typeof error.signal === 'string' ? `, signal ${error.signal}` : ''
  return 'exitCode' in error ? `it ended with exit code ${String(error.exitCode)}${signal}` : error.message
}

/** Responds to every request with what `next` returns. */
async function listen(next: () => string): Promise<Server> {
  const server = createServer((_, response) => response.end(next()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
