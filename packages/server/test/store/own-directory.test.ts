// One service owns a data directory; the command line works beside it.
import assert from 'node:assert/strict'
import { linkSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import v8 from 'node:v8'
import vm from 'node:vm'
import { readConfig } from '../../src/config.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { copyDatabase } from '../../src/store/backup.ts'
import { databaseFile } from '../../src/store/data-directory.ts'
import { openStore } from '../../src/store/open.ts'
import { ownDirectory } from '../../src/store/own-directory.ts'
import { sqlite } from '../support/engines.ts'
import { command, bash, COMMAND, refusedStart, sensorium, startProcess } from '../support/process.ts'

test('[STO-5] a second service on the directory is refused with a clear message, and the first goes on', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const first = await startProcess(env)
  t.after(() => first.stop())
  const { code, stderr, stdout } = await refusedStart(env)
  assert.equal(code, 1)
  assert.equal(
    stderr,
    `Sensorium did not start: Another sensorium already runs on ${env['DATA_DIR']}. Stop it first, or give this one a DATA_DIR of its own.\n`,
  )
  assert.equal(stdout, '')
  assert.equal((await fetch(`${first.url}/readyz`)).status, 200)

  const beside = await sensorium(['tenant', 'create', 'beside'], env)
  assert.equal(beside.code, 0, beside.stderr)
})

test('[STO-5] a service that was killed leaves nothing to clean up', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const first = await startProcess(env)
  first.kill('SIGKILL')
  await first.ended
  const second = await startProcess(env)
  assert.equal((await fetch(`${second.url}/readyz`)).status, 200)
  await second.stop()
})

test('[STO-5] the directory stays owned until it is given back, whatever the garbage collector does', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const folder = env['DATA_DIR']!
  v8.setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc') as () => void
  ownDirectory(folder) // and nothing keeps a reference to the returned function
  for (let i = 0; i < 5; i++) {
    collect()
    await new Promise(setImmediate)
  }
  assert.throws(() => ownDirectory(folder), /already runs on/)
  rmSync(`${folder}/service.lock`)
})

test('[STO-5] a lock that cannot be taken for another reason is not told as another service', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const file = `${env['DATA_DIR']!}/service.lock`
  // What can be had without a full disk: SQLite cannot read the file.
  writeFileSync(file, 'not a database'.repeat(100))
  assert.throws(() => ownDirectory(env['DATA_DIR']!), { message: `${file} cannot be locked: file is not a database` })
  rmSync(file)
  ownDirectory(env['DATA_DIR']!)()
})

test('[STO-5] a directory that was given back can be owned again', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const giveBack = ownDirectory(env['DATA_DIR']!)
  assert.throws(() => ownDirectory(env['DATA_DIR']!))
  giveBack()
  giveBack()
  ownDirectory(env['DATA_DIR']!)()
})

test('[STO-13] whatever the umask is, the folder and every file of a store, and a copy of it, are their owner’s', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const umask = process.umask(0o022)
  t.after(() => void process.umask(umask))
  const folder = path.join(env['DATA_DIR']!, 'deep/data')
  const { store } = await openStore(readConfig({ ...env, DATA_DIR: folder }), systemClock)
  t.after(() => store.close())
  t.after(ownDirectory(folder))
  await copyDatabase(databaseFile(folder), path.join(folder, 'copy'))
  const modes = ['.', ...readdirSync(folder)].map((name) => {
    const mode = statSync(path.join(folder, name)).mode & 0o777
    return `${name} ${mode.toString(8)}`
  })
  assert.deepEqual(modes.sort(), [
    '. 700',
    'copy 600',
    'sensorium.db 600',
    'sensorium.db-shm 600',
    'sensorium.db-wal 600',
    'service.lock 600',
    'service.lock-journal 600',
  ])
})

test('[CFG-2] a start in a working directory that was deleted is refused, and does not wait for ever', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const gone = path.join(env['DATA_DIR']!, 'gone')
  const { code, stderr } = await bash(
    `mkdir "${gone}" && cd "${gone}" && rmdir "${gone}" && exec timeout 60 "${process.execPath}" "${COMMAND}" start`,
  )
  assert.equal(code, 1, stderr)
  assert.match(stderr, /DATA_DIR cannot be made or used as a folder: ENOENT.* current working directory/)
})

test('[STO-5] a database that is a symbolic link is refused; a folder may be one', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const folder = path.join(env['DATA_DIR']!, 'data')
  const open = async (DATA_DIR: string) =>
    (await openStore(readConfig({ ...env, DATA_DIR }), systemClock)).store.close()
  await open(folder)
  symlinkSync(folder, `${folder}-link`)
  await open(`${folder}-link`)
  renameSync(databaseFile(folder), path.join(env['DATA_DIR']!, 'elsewhere.db'))
  symlinkSync('../elsewhere.db', databaseFile(folder))
  await assert.rejects(open(folder), {
    message: `${databaseFile(folder)} is a symbolic link. Move the database here, or make DATA_DIR itself a link to its folder.`,
  })
})

test('[STO-5] a database that runs under another name is refused; names that nobody uses are no matter', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const [first, second] = ['first', 'second'].map((name) => path.join(env['DATA_DIR']!, name)) as [string, string]
  const started = (DATA_DIR: string) => ({ ...env, SENSORIUM_SECRET: 'sixteen characters', DATA_DIR })
  const service = await startProcess(started(first))
  t.after(() => service.stop())
  mkdirSync(second)
  linkSync(databaseFile(first), databaseFile(second))
  const { code, stderr } = await refusedStart(started(second))
  assert.equal(code, 1)
  assert.equal(
    stderr,
    `Sensorium did not start: ${databaseFile(second)} has several names (hard links), and another process uses it. Stop that one first, or copy the database with "sensorium backup" in its folder.\n`,
  )
  const asked = (DATA_DIR: string) => command(['tenant', 'list'], started(DATA_DIR))
  const refused = await asked(second)
  assert.deepEqual([refused.code, /has several names/.test(refused.stderr)], [1, true], refused.stderr)
  assert.equal((await asked(first)).code, 0, 'beside its service')
  await service.stop()
  assert.equal((await asked(second)).code, 0)
  assert.equal((await (await startProcess(started(first))).stop()).code, 0)
})
