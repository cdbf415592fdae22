// A process that runs one test file after another, as the runner hands them out. Starting Node.js and loading the
// service takes a second of CPU, and the first service in a process takes four times as much as later ones; here
// hundreds of files share that cost. Each file is a suite, and must leave the process as it found it. Resources shared
// by the files of a folder are closed after the last of them.
import assert from 'node:assert/strict'
import asyncHooks from 'node:async_hooks'
import { get } from 'node:http'
import { createRequire } from 'node:module'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { closeKept, isKeeping } from '../../packages/server/test/support/kept.ts'
import { cpuSeconds } from './cpu-time.ts'
import { LEFT_BEHIND } from './results.ts'

// node:test tracks every promise back to the test that created it, to attribute uncaught errors, which takes a tenth of
// a run's CPU. Here such an error is attributed to its file. Resources other than promises are still tracked.
const { createHook } = asyncHooks
asyncHooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false })
const { describe, test } = await import('node:test')
asyncHooks.createHook = createHook

const require = createRequire(import.meta.url)
const root = path.resolve(import.meta.dirname, '../..')
const runner = process.env.TEST_LANE!
/** Sockets and processes take a moment to close. */
const patienceMs = Number(process.env.TEST_LANE_PATIENCE_MS)
// Processes that tests start are not part of this run.
delete process.env.TEST_LANE
delete process.env.TEST_LANE_PATIENCE_MS

const errors: unknown[] = []
let overdue: NodeJS.Timeout | undefined

/** Ends the process after a while if something still keeps it alive. */
function endLater(): NodeJS.Timeout {
  const end = (): never => {
    for (const error of errors) console.error(error)
    process.exit(1)
  }
  return setTimeout(end, patienceMs).unref()
}

/** Records an error. Node.js reports these only when the process ends, and without the name of a file. */
function noteError(error: unknown): void {
  errors.push(error)
  // Because of the error, a test may wait for something that never happens.
  overdue ??= endLater()
}

process.on('uncaughtExceptionMonitor', noteError)
process.on('unhandledRejection', noteError)

/** Returns the next file, or the empty string if there is none. */
function nextFile(): Promise<string> {
  return new Promise((resolve, reject) => {
    get(runner, { agent: false }, (response) => {
      let name = ''
      response.setEncoding('utf8')
      response.on('data', (text: string) => (name += text))
      response.on('end', () => resolve(name))
    }).on('error', reject)
  })
}

/** The embedder sets this variable once in a process. */
const ALLOWED_CHANGE = 'the variable ORT_DISABLE_TELEMETRY=1'

const globalNamed = (name: string): unknown => Object.getOwnPropertyDescriptor(globalThis, name)?.value
const globals = new Map(Object.getOwnPropertyNames(globalThis).map((name) => [name, globalNamed(name)]))

/** Returns the state of the process that the next file would notice. */
const visibleState = (): string[] => [
  ...Object.entries(process.env).map(([name, value]) => `the variable ${name}=${value}`),
  // Libraries add globals when they are loaded; none may replace an existing one.
  ...[...globals]
    .filter(([name, value]) => value !== undefined && globalNamed(name) !== value)
    .map(([name]) => `another global ${name}`),
  `the folder ${process.cwd()}`,
]

/** The same, and what would keep the process alive at the end. Handles of standard output appear with its first use. */
const stateAndResources = (): string[] => [
  ...visibleState(),
  ...process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap'),
]

async function whatIsNew(found: readonly string[], look: () => string[]): Promise<string[]> {
  for (const since = performance.now(); ; await sleep(10)) {
    const known = [...found, ALLOWED_CHANGE]
    const added = look().filter((thing) => {
      const at = known.indexOf(thing)
      if (at >= 0) known.splice(at, 1)
      return at < 0
    })
    if (added.length === 0 || performance.now() - since > patienceMs) return added
  }
}

let cpu = 0
let found = stateAndResources()
for (let file = await nextFile(), next = ''; file !== ''; file = next) {
  errors.length = 0
  // Not `import`, which continues in a promise: the tests would not be attributed to this suite.
  await describe(file, () => {
    require(path.join(root, file))
  })
  clearTimeout(overdue)
  overdue = undefined
  next = await nextFile()
  await test(LEFT_BEHIND, async (t) => {
    if (path.dirname(next) !== path.dirname(file)) await closeKept()
    const until = cpuSeconds()
    t.diagnostic(String(until - cpu))
    cpu = until
    const left = errors.length > 0 ? [] : await whatIsNew(found, isKeeping() ? visibleState : stateAndResources)
    if (errors.length > 0) throw errors[0]
    assert.deepEqual(left, [])
  })
  if (!isKeeping()) found = stateAndResources()
}
// Ends the process even if a file left something open, which its last test has reported.
endLater()
