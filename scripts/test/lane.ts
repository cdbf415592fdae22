// A process that runs one test file after the other, as the runner gives them out. Starting Node.js and loading the
// service takes a second of CPU, and the first service in a process four times that of later ones; hundreds of files
// share that here. Each file is a suite, and must leave the process as it found it; what the files of a folder share is
// gone after the last of them.
import assert from 'node:assert/strict'
import asyncHooks from 'node:async_hooks'
import { get } from 'node:http'
import { createRequire } from 'node:module'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { closeKept, isKeeping } from '../../packages/server/test/support/kept.ts'
import { cpuSeconds } from './cpu-time.ts'
import { LEFT_BEHIND } from './results.ts'

// node:test follows every promise to the test that made it, to say whose an error is that nobody caught: a tenth of a
// run's CPU. Here such an error is its file's. What is no promise it follows still.
const { createHook } = asyncHooks
asyncHooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false })
const { describe, test } = await import('node:test')
asyncHooks.createHook = createHook

const require = createRequire(import.meta.url)
const root = path.resolve(import.meta.dirname, '../..')
const runner = process.env.TEST_LANE!
/** Sockets and processes are closed a moment after they were told to. */
const patienceMs = Number(process.env.TEST_LANE_PATIENCE_MS)
// What tests start is not part of this run.
delete process.env.TEST_LANE
delete process.env.TEST_LANE_PATIENCE_MS

const errors: unknown[] = []
let overdue: NodeJS.Timeout | undefined

/** Ends the process after a while if something still holds it. */
function endLater(): NodeJS.Timeout {
  const end = (): never => {
    for (const error of errors) console.error(error)
    process.exit(1)
  }
  return setTimeout(end, patienceMs).unref()
}

/** Node.js tells of these when the process ends, and then by no file's name. */
function noteError(error: unknown): void {
  errors.push(error)
  // A test may wait for what did not come because of it.
  overdue ??= endLater()
}

process.on('uncaughtExceptionMonitor', noteError)
process.on('unhandledRejection', noteError)

/** The empty string when there is none. */
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

/** Set by the embedder, once in a process. */
const MAY_COME = 'the variable ORT_DISABLE_TELEMETRY=1'

const globalNamed = (name: string): unknown => Object.getOwnPropertyDescriptor(globalThis, name)?.value
const globals = new Map(Object.getOwnPropertyNames(globalThis).map((name) => [name, globalNamed(name)]))

/** What the next file would notice. */
const changes = (): string[] => [
  ...Object.entries(process.env).map(([name, value]) => `the variable ${name}=${value}`),
  // Libraries add globals when they are loaded; nothing replaces one that is there.
  ...[...globals]
    .filter(([name, value]) => value !== undefined && globalNamed(name) !== value)
    .map(([name]) => `another global ${name}`),
  `the folder ${process.cwd()}`,
]

/** And what would hold the process when all files are done. Handles of standard output come with its first use. */
const surroundings = (): string[] => [
  ...changes(),
  ...process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap'),
]

async function whatIsNew(found: readonly string[], look: () => string[]): Promise<string[]> {
  for (const since = performance.now(); ; await sleep(10)) {
    const known = [...found, MAY_COME]
    const added = look().filter((thing) => {
      const at = known.indexOf(thing)
      if (at >= 0) known.splice(at, 1)
      return at < 0
    })
    if (added.length === 0 || performance.now() - since > patienceMs) return added
  }
}

let cpu = 0
let found = surroundings()
for (let file = await nextFile(), next = ''; file !== ''; file = next) {
  errors.length = 0
  // Not by import, which goes on in a promise: its tests would not be found to be of this suite.
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
    const left = errors.length > 0 ? [] : await whatIsNew(found, isKeeping() ? changes : surroundings)
    if (errors.length > 0) throw errors[0]
    assert.deepEqual(left, [])
  })
  if (!isKeeping()) found = surroundings()
}
// What a file left open, and was told of.
endLater()
