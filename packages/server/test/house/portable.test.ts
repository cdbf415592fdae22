// The repository works on any machine: nothing in it names the machine it was written on.
import assert from 'node:assert/strict'
import { globSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../support/root.ts'

const LEFT_OUT = ['node_modules', '.git', 'data', 'results']
const MAX_BYTES = 2_000_000

/** Other tests make files meanwhile, and delete them. */
const sizeOf = (file: string): number => {
  const stats = statSync(path.join(ROOT, file), { throwIfNoEntry: false })
  return stats?.isFile() ? stats.size : Infinity
}

const files = globSync('**/*', { cwd: ROOT, exclude: (name) => LEFT_OUT.includes(path.basename(name)) })
  .concat(globSync('.*', { cwd: ROOT }).filter((name) => !LEFT_OUT.includes(name)))
  .filter((file) => sizeOf(file) < MAX_BYTES)
const textOf = (file: string): string => (sizeOf(file) === Infinity ? '' : readFileSync(path.join(ROOT, file), 'utf8'))

test('files are found at all', () => {
  assert.ok(files.length > 100)
  assert.ok(files.includes('package-lock.json') && files.includes('.npmrc'))
})

test('[CFG-9] the lock file names no registry: packages come from the one that is configured', () => {
  const hosts = [...textOf('package-lock.json').matchAll(/"resolved": "(https?:\/\/[^/"]+)/g)].map(([, host]) => host)
  assert.deepEqual([...new Set(hosts)], [])
})

test('[CFG-9] no file names a path of the machine it was written on', () => {
  const absolute = /(?<![\w.$}~-])\/(?:work|root|Users|home\/\w+)\/[\w.-]+/
  const found = files.flatMap((file) => {
    const text = textOf(file)
    return text.includes('\0')
      ? []
      : text
          .split('\n')
          .flatMap((line, i) => (absolute.test(line) ? [`${file}:${i + 1}: ${line.trim().slice(0, 120)}`] : []))
  })
  assert.deepEqual(
    found.filter((line) => !line.startsWith('packages/server/test/house/portable.test.ts')),
    [],
  )
})

test('[PKG-5] no statement numbers its parameters: Node.js 22 binds ?1 from 22.20 on only', () => {
  const found = files
    .filter((file) => /^packages\/server\/(src\/.*\.ts|migrations\/.*)$/.test(file))
    .flatMap((file) =>
      textOf(file)
        .split('\n')
        .filter((line) => /\?\d/.test(line) && !line.trim().startsWith('//'))
        .map((line) => `${file}: ${line.trim().slice(0, 120)}`),
    )
  assert.deepEqual(found, [])
})
