// The master secret that an embedded store keeps in a file of its own.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { test } from 'node:test'
import { keepSecret, secretFile } from '../../src/store/secret-file.ts'
import { sqlite } from '../support/engines.ts'
import { command } from '../support/process.ts'
import { makeStore } from '../support/store.ts'

/** Returns the inodes that `work` has flushed to the disk, in order. */
function flushedBy(work: () => void): number[] {
  const disk = fs.fsyncSync
  const flushed: number[] = []
  fs.fsyncSync = (fd) => {
    flushed.push(fs.fstatSync(fd).ino)
    disk(fd)
  }
  syncBuiltinESMExports()
  try {
    work()
  } finally {
    fs.fsyncSync = disk
    syncBuiltinESMExports()
  }
  return flushed
}

test('[CFG-3] [STO-1] a new secret is on disk, and so is its name in the folder, before anything depends on it', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const folder = `${env['DATA_DIR']!}/new`
  fs.mkdirSync(folder)
  const flushed = flushedBy(() => keepSecret(folder, true))
  assert.deepEqual(flushed, [fs.statSync(secretFile(folder)).ino, fs.statSync(folder).ino])
  assert.deepEqual(fs.readdirSync(folder), ['secret'], 'and no draft is left')
  assert.deepEqual(
    flushedBy(() => keepSecret(folder, true)),
    [],
  )
})

test('[CFG-3] a secret that cannot be written leaves nothing behind', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const folder = `${env['DATA_DIR']!}/new`
  fs.mkdirSync(folder)
  const fullDisk = (): never => {
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
  }
  const disk = fs.fsyncSync
  fs.fsyncSync = fullDisk
  syncBuiltinESMExports()
  t.after(() => {
    fs.fsyncSync = disk
    syncBuiltinESMExports()
  })
  assert.throws(() => keepSecret(folder, true), { code: 'ENOSPC' })
  assert.deepEqual(fs.readdirSync(folder), [])
})

test('[CFG-3] a secret file that is empty or too short is refused by its name, at the start and by doctor', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const data = { DATA_DIR: env['DATA_DIR']!, PORT: '0' }
  const file = secretFile(data.DATA_DIR)
  for (const [text, length] of [
    ['', 0],
    [`${'x'.repeat(15)}\n`, 15],
  ] as const) {
    fs.writeFileSync(file, text)
    const message = `${file} holds ${length} characters; a master secret has at least 16.`
    await assert.rejects(makeStore(data), ({ message: told }: Error) => told.startsWith(message))
    const { code, stdout } = await command(['doctor', '--json'], data)
    assert.equal(code, 1)
    const { checks } = JSON.parse(stdout) as { checks: { check: string; detail: string }[] }
    assert.ok(checks.find(({ check }) => check === 'secret')!.detail.startsWith(message), stdout)
  }
  fs.writeFileSync(file, 'x'.repeat(16))
  await makeStore(data)
})

test('[CFG-3] where the secret of a store is lost none is made, and the message names the file', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const data = { DATA_DIR: env['DATA_DIR']! }
  await makeStore(data)
  const file = secretFile(data.DATA_DIR)
  fs.renameSync(file, `${file}.lost`)
  const missing = `The secret this store was made with is missing: set SENSORIUM_SECRET, or bring back ${file}.`
  await assert.rejects(makeStore(data), { message: missing })
  const { code, stderr } = await command(['tenant', 'list'], data)
  assert.deepEqual([code, stderr], [1, `${missing}\n`])
  assert.equal(fs.existsSync(file), false)

  fs.writeFileSync(file, 'another secret, longer than sixteen characters')
  await assert.rejects(makeStore(data), { message: `${file} is not the secret this store was made with.` })
  fs.renameSync(`${file}.lost`, file)
  fs.chmodSync(file, 0o644)
  await makeStore(data)
  assert.equal(fs.statSync(file).mode & 0o777, 0o600)
})
