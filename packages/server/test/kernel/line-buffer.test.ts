// Written lines come out complete and in order, whatever the reader does.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { lineBuffer } from '../../src/kernel/line-buffer.ts'

let folder: string
before(() => (folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-lines-'))))
after(() => rmSync(folder, { recursive: true }))

const line = (n: number): string => `${n} ${'Zürich 🚀'.repeat(n % 40)}\n`

test('lines come out in order, few or many, short or longer than the buffer', async () => {
  const file = path.join(folder, 'lines')
  const fd = openSync(file, 'w')
  const lines = lineBuffer(fd)
  const written: string[] = []
  for (const text of [
    'one\n',
    ...Array.from({ length: 20_000 }, (_, n) => line(n)),
    'x'.repeat(200_000) + '\n',
    'last\n',
  ]) {
    lines.write(text)
    written.push(text)
    if (written.length % 3000 === 0) await new Promise<unknown>((resolve) => lines.flush(resolve))
  }
  await new Promise<unknown>((resolve) => lines.flush(resolve))
  assert.ok(readFileSync(file, 'utf8') === written.join(''))
  lines.write('after the flush\n')
  lines.flushSync()
  assert.ok(readFileSync(file, 'utf8').endsWith('last\nafter the flush\n'))
  closeSync(fd)
})

test('[SAFE-61] a slow reader loses the lines beyond a bound, and a later line tells how many', async () => {
  const file = path.join(folder, 'bounded')
  const fd = openSync(file, 'w')
  const dropped = (count: number): string => `${count} dropped\n`
  const lines = lineBuffer(fd, { size: 1_024, mostWaiting: 10_000, dropped })
  const flushed = (): Promise<unknown> => new Promise((resolve) => lines.flush(resolve))
  // No write ends before the next turn of the event loop.
  for (let n = 0; n < 5_000; n++) lines.write(`line ${n}\n`)
  await flushed()
  const out = readFileSync(file, 'utf8').trimEnd().split('\n')
  const kept = out.length - 1
  assert.deepEqual(
    out.slice(0, -1),
    Array.from({ length: kept }, (_, n) => `line ${n}`),
  )
  assert.equal(out.at(-1), `${5_000 - kept} dropped`)
  const bytes = out.slice(0, -1).join('\n').length
  assert.ok(bytes >= 10_000 && bytes < 12_048, `${bytes}`)
  for (const line of ['again\n', 'and again\n']) lines.write(line)
  await flushed()
  assert.ok(readFileSync(file, 'utf8').endsWith(' dropped\nagain\nand again\n'))
  closeSync(fd)
})

for (const [title, options, both] of [
  ['a line added while another is written comes out', '{ size: 32 }', 'more than ten letters\nfew\n'],
  [
    '[SAFE-61] how many lines were dropped while another was written comes out',
    "{ size: 32, mostWaiting: 20, dropped: (count) => count + ' dropped\\n' }",
    'more than ten letters\n1 dropped\n',
  ],
] as const)
  test(`${title}, even if none follows it`, async () => {
    const module = JSON.stringify(new URL('../../src/kernel/line-buffer.ts', import.meta.url).href)
    const script = `
    const { lineBuffer } = await import(${module})
    const lines = lineBuffer(1, ${options})
    process.stdin.resume()
    lines.write('more than ten letters\\n')
    lines.write('few\\n')`
    // The child runs until its input ends, or the timeout kills it.
    const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'], timeout: 30_000 })
    let text = ''
    for await (const chunk of child.stdout) {
      text += chunk
      if (text === both) child.stdin.end()
    }
    assert.equal(text, both)
  })

test('a flush of an empty buffer calls back', async () => {
  await new Promise<unknown>((resolve) => lineBuffer(1).flush(resolve))
})

test('a slow reader gets everything, and a process that exits leaves nothing unwritten', async () => {
  const module = JSON.stringify(new URL('../../src/kernel/line-buffer.ts', import.meta.url).href)
  const script = `
    const { lineBuffer } = await import(${module})
    const lines = lineBuffer(1)
    process.on('exit', lines.flushSync)
    for (let n = 0; n < 50_000; n++) lines.write('line ' + n + '\\n')`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  for await (const chunk of child.stdout) {
    text += chunk
    await new Promise(setImmediate)
  }
  const lines = text.trimEnd().split('\n')
  assert.equal(lines.length, 50_000)
  assert.ok(lines.every((one, n) => one === `line ${n}`))
})

test('a reader that is gone loses the lines and causes no error', async () => {
  const pipe = path.join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  // Without O_NONBLOCK the end that is opened first would wait for the other.
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
  const fd = openSync(pipe, 'w')
  closeSync(reader)
  assert.throws(() => writeSync(fd, 'x'), { code: 'EPIPE' })
  const lines = lineBuffer(fd, { mostWaiting: 10, dropped: (count) => `${count} dropped\n` })
  const flushed = (): Promise<unknown> => new Promise((resolve) => lines.flush(resolve))
  lines.write('into the void\n')
  await flushed()
  // What could not be written does not wait either: there is room for what comes when a reader is back.
  const back = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
  lines.write('heard again\n')
  await flushed()
  const heard = Buffer.alloc(100)
  assert.equal(heard.toString('utf8', 0, readSync(back, heard)), 'heard again\n')
  closeSync(back)
  lines.write('into the void\n')
  lines.flushSync()
  closeSync(fd)
})
