// How a process that runs test files reports failures (scripts/test/lane.ts): each of these files does something wrong,
// or looks as if it did, and the files after it run in the same process.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { ROOT } from '../support/root.ts'

/** The files, in the order in which they run. */
const FILES = {
  'good.test.ts': `
    const done: string[] = []
    before(() => void done.push('before'))
    after(() => assert.deepEqual(done, ['before', 'one', 'after each', 'after one', 'two', 'after each', 'inner']))
    describe('with hooks', () => {
      afterEach(() => void done.push('after each'))
      test('one', async (t) => {
        t.after(() => void done.push('after one'))
        await nextTurn()
        done.push('one')
      })
      test('two', async () => {
        await nextTurn()
        done.push('two')
      })
    })
    describe('suite', () => {
      test('inner', async (t) => {
        await nextTurn()
        await t.test('innermost', async () => void (await nextTurn(), done.push('inner')))
      })
    })
    test('left out', { skip: 'for a reason' }, () => {})
  `,
  'fails.test.ts': `
    test('throws', () => { throw new Error('thrown') })
    test('rejects', async () => { await nextTurn(); throw new Error('rejected') })
    test('passes', () => {})
    describe('suite', () => test('of one', async (t) => {
      await nextTurn()
      await t.test('fails within', () => assert.equal(1, 2))
    }))
    test('waits for its end', async (t) => { t.after(() => { throw new Error('at its end') }) })
  `,
  'fails-before.test.ts': `
    describe('suite', () => {
      before(async () => { await nextTurn(); throw new Error('not ready') })
      test('needs it', () => {})
    })
  `,
  'fails-after.test.ts': `
    after(async () => { await nextTurn(); throw new Error('not closed') })
    test('passes', () => {})
  `,
  'no-tests.test.ts': ``,
  'does-not-load.test.ts': `
    test('never runs', () => {})
    throw new Error('did not load')
  `,
  'awaits.test.ts': `
    await nextTurn()
    test('never runs', () => {})
  `,
  'rejects-beside.test.ts': `
    test('passes', async () => {
      void nextTurn().then(() => { throw new Error('nobody waited') })
      await nextTurn()
      await nextTurn()
    })
  `,
  'rejects-late.test.ts': `
    test('passes', () => { void nextTurn().then(nextTurn).then(() => { throw new Error('too late') }) })
  `,
  'throws-late.test.ts': `
    test('passes', () => void setImmediate(() => setImmediate(() => { throw new Error('thrown late') })))
  `,
  'also-good.test.ts': `
    test('passes', async () => { await nextTurn() })
  `,
}

/** Files for which the runner has to wait until it is sure of the failure. */
const THAT_LEAVE = {
  'replaces.test.ts': `
    test('passes', () => { Object.assign(globalThis, { fetch: () => {} }); process.env['LEFT'] = 'here' })
  `,
  'listens.test.ts': `
    test('passes', () => new Promise<void>((resolve) => void createServer().listen(0, '127.0.0.1', resolve)))
  `,
  'hangs.test.ts': `
    test('ends', async () => {
      void nextTurn().then(() => { throw new Error('what it waits for') })
      await new Promise(() => setInterval(() => {}, 1000))
    })
  `,
  'exits.test.ts': `
    test('ends', () => process.exit(7))
  `,
  'last.test.ts': `
    test('passes', () => new Promise<void>((resolve) => void createServer().listen(0, '127.0.0.1', resolve)))
  `,
}

const HEAD = `
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { after, afterEach, before, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
`

/** Runs the given files in a lane, as the runner does: after one that broke down another lane begins. */
const RUNNER = `
import { runLane } from '${path.join(ROOT, 'scripts/test/run-lane.ts')}'
const [patienceMs, ...waiting] = process.argv.slice(2)
const signal = new AbortController().signal
while (waiting.length > 0) {
  await runLane({
    take: () => waiting.shift(),
    report: (result) => console.log(JSON.stringify(result)),
    signal,
    coverage: null,
    patienceMs: Number(patienceMs),
  })
}
process.exit()
`

interface Told {
  title: string
  passed: string[]
  failures: { name: string; where: string; text: string }[]
  skipped: string[]
  output: string
}

const told = new Map<string, Told>()
let folder: string

async function runAll(runner: string, texts: Record<string, string>, patienceMs: number): Promise<void> {
  const files = Object.entries(texts).map(([name, text]) => {
    const file = path.join(folder, name)
    writeFileSync(file, HEAD + text)
    return path.relative(ROOT, file)
  })
  // With this variable it would consider itself a file of this run.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { stdout } = await promisify(execFile)(process.execPath, [runner, String(patienceMs), ...files], { env })
  for (const line of stdout.trimEnd().split('\n')) {
    const result = JSON.parse(line) as Told
    told.set(path.basename(result.title), result)
  }
}

before(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-lane-'))
  const runner = path.join(folder, 'runner.ts')
  writeFileSync(runner, RUNNER)
  await Promise.all([runAll(runner, FILES, 60_000), runAll(runner, THAT_LEAVE, 300)])
})

after(() => rmSync(folder, { recursive: true }))

const PASSED = ['passes']

/** The reported failures of a file by name, each with a part of its text. */
function failed(file: string): Record<string, string> {
  const { failures } = told.get(file)!
  return Object.fromEntries(failures.map(({ name, text }) => [name, /^(?:Error: )?(.*)/.exec(text)![1]!]))
}

describe('a file', () => {
  test('is reported with every test that passed, and its hooks run in order', () => {
    const { passed, failures, skipped } = told.get('good.test.ts')!
    assert.deepEqual(failures, [])
    assert.deepEqual(passed, ['with hooks > one', 'with hooks > two', 'suite > inner > innermost'])
    assert.deepEqual(skipped, ['for a reason'])
  })

  test('fails with the name and line of each test that failed', () => {
    assert.deepEqual(told.get('fails.test.ts')!.passed, PASSED)
    assert.deepEqual(failed('fails.test.ts'), {
      throws: 'thrown',
      rejects: 'rejected',
      'suite > of one > fails within': 'AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:',
      'waits for its end': 'at its end',
    })
    assert.match(told.get('fails.test.ts')!.failures[0]!.where, /fails\.test\.ts:\d+$/)
  })

  test('fails when a hook fails', () => {
    assert.equal(failed('fails-before.test.ts')['suite'], 'not ready')
    assert.deepEqual(told.get('fails-before.test.ts')!.passed, [])
    assert.deepEqual(Object.values(failed('fails-after.test.ts')), ['not closed'])
  })

  test('fails when it has no tests, or does not load', () => {
    assert.deepEqual(failed('no-tests.test.ts'), { 'the file': 'it has no tests' })
    assert.equal(Object.values(failed('does-not-load.test.ts')).at(-1), 'did not load')
    assert.deepEqual(told.get('does-not-load.test.ts')!.passed, [])
    assert.match(told.get('awaits.test.ts')!.failures[0]!.text, /cannot be used on an ES?M? graph with top-level await/)
  })

  test('fails on an uncaught error, during its tests or after them', () => {
    for (const [file, text] of [
      ['rejects-beside.test.ts', 'nobody waited'],
      ['rejects-late.test.ts', 'too late'],
      ['throws-late.test.ts', 'thrown late'],
    ] as const)
      assert.deepEqual([file, failed(file)['leaves nothing behind']], [file, text])
  })

  test('fails when it leaves something behind', () => {
    const texts = told.get('replaces.test.ts')!.failures.map(({ text }) => text)
    assert.equal(texts.length, 1)
    assert.match(texts[0]!, /the variable LEFT=here/)
    assert.match(texts[0]!, /another global fetch/)
    assert.match(told.get('listens.test.ts')!.failures[0]!.text, /TCPServerWrap/)
  })

  test('passes after one that failed in the same process', () => {
    assert.deepEqual(told.get('also-good.test.ts')!.failures, [])
    assert.deepEqual(told.get('also-good.test.ts')!.passed, PASSED)
  })

  test('fails when it ends the process, or waits for something that never comes; the next one runs', () => {
    assert.deepEqual(failed('hangs.test.ts'), { 'the test process': 'it ended before its tests did' })
    assert.match(told.get('hangs.test.ts')!.output, /what it waits for/)
    assert.deepEqual(failed('exits.test.ts'), { 'the test process': 'it ended with exit code 7' })
    assert.deepEqual(told.get('last.test.ts')!.passed, PASSED)
    assert.equal(told.size, Object.keys({ ...FILES, ...THAT_LEAVE }).length)
  })
})
