// sensorium doctor and the files of DATA_DIR: what others can read is named, what cannot be seen is not guessed.
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { tooOpen } from '../../src/store/data-directory.ts'
import { sqlite } from '../support/engines.ts'
import { command, startProcess } from '../support/process.ts'
import { examine, type Report } from './examine.ts'

test('[STO-13] files that others can read are named, and new files are private even in an open folder', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const folder = env['DATA_DIR']!
  chmodSync(folder, 0o755)
  const service = await startProcess({ DATA_DIR: folder })
  const modes = readdirSync(folder).map(
    (name) => `${name} ${(statSync(path.join(folder, name)).mode & 0o777).toString(8)}`,
  )
  await service.stop()
  assert.ok(modes.length >= 4, modes.join())
  assert.deepEqual(
    modes.filter((line) => !line.endsWith(' 600')),
    [],
  )
  assert.deepEqual((await examine({ DATA_DIR: folder })).failed, [])
  chmodSync(path.join(folder, 'sensorium.db'), 0o644)
  const { failed, text } = await examine({ DATA_DIR: folder })
  assert.deepEqual(failed, ['files'])
  assert.match(text, /sensorium\.db \(mode 0644\)/)
})

test('[STO-13] whatever others can read in DATA_DIR is named, a copy under any name too', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const folder = env['DATA_DIR']!
  chmodSync(folder, 0o755)
  const put = (name: string, mode: number): void => {
    const file = path.join(folder, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, '')
    chmodSync(file, mode)
  }
  put('before-upgrade', 0o644)
  put('closed', 0o600)
  put('copies/monday.db', 0o640)
  put('private/tuesday.db', 0o644)
  chmodSync(path.join(folder, 'copies'), 0o755)
  chmodSync(path.join(folder, 'private'), 0o700)
  symlinkSync('nowhere', path.join(folder, 'gone'))
  symlinkSync('before-upgrade', path.join(folder, 'latest'))
  const modeOf = Object.fromEntries(tooOpen(folder).map(({ file, mode }) => [path.relative(folder, file), mode]))
  assert.deepEqual(modeOf, { 'before-upgrade': '0644', 'copies/monday.db': '0640', latest: '0644' })
  for (let i = 0; i < 20; i++) put(`copy-${i}`, 0o644)
  const { failed, text } = await examine({ DATA_DIR: folder })
  assert.deepEqual(failed, ['files'])
  assert.match(text, /before-upgrade \(mode 0644\).* and 13 more: chmod 600 them, or chmod 700 /)
  chmodSync(folder, 0o700)
  assert.deepEqual(tooOpen(folder), [])
})

test('[STO-14] [TEN-7] a folder that cannot be seen is not told as one without a store', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  // Stands for a folder without permission, which root would have: the system refuses to look into it.
  const DATA_DIR = path.join(env['DATA_DIR']!, 'loop')
  symlinkSync('loop', DATA_DIR)
  const { stdout } = await command(['doctor', '--json'], { DATA_DIR, PORT: '0' })
  for (const name of ['store', 'secret', 'files'])
    assert.match((JSON.parse(stdout) as Report).checks.find(({ check }) => check === name)!.detail, /^ELOOP/, name)
  for (const words of [
    ['tenant', 'list'],
    ['backup', path.join(env['DATA_DIR']!, 'copy')],
  ]) {
    const { code, stderr } = await command(words, { DATA_DIR })
    assert.equal(code, 1)
    assert.match(stderr, /ELOOP/)
  }
})
