// backup and restore: an online copy, and its restoration.
import assert from 'node:assert/strict'
import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { newestVersion } from '../../src/store/migrate.ts'
import { replaceDatabase } from '../../src/store/restore.ts'
import { postgres, POSTGRES_URL, SECRET, sqlite } from '../support/engines.ts'
import { bash, command, COMMAND, sensorium, startProcess } from '../support/process.ts'
import { startService } from '../support/service.ts'
import { makeStore } from '../support/store.ts'

let folder: string
let files = 0
before(() => (folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-backup-'))))
after(() => rmSync(folder, { recursive: true, force: true }))
const newFile = () => path.join(folder, `${++files}.db`)
const newData = () => ({ DATA_DIR: mkdtempSync(path.join(folder, 'data-')), SENSORIUM_SECRET: SECRET })

async function list(env: Record<string, string>): Promise<string[]> {
  const { stdout } = await command(['tenant', 'list', '--json'], env)
  return (JSON.parse(stdout) as { tenants: { slug: string }[] }).tenants.map(({ slug }) => slug)
}

test('[TEN-8] a copy taken while the service writes is a snapshot, and restores completely', async (t) => {
  const service = await startService(sqlite)
  t.after(() => service.stop())
  const tenant = await service.tenant('acme')
  const agent = await tenant.agent({ name: 'Before' })

  // Pairs that are always written together: a copy that tore a transaction apart would have half of one.
  await service.store.tx((tx) => tx.run('create table pairs (n integer, half integer, filler text)'))
  let stop = false
  let written = 0
  const writing = (async () => {
    while (!stop) {
      const n = written++
      await service.store.tx(async (tx) => {
        for (const half of [0, 1]) await tx.run('insert into pairs values (?, ?, ?)', [n, half, 'x'.repeat(2000)])
      })
    }
  })()
  const file = newFile()
  const before = written
  const { code, stdout, stderr } = await sensorium(['backup', file], service.env)
  assert.equal(code, 0, stderr)
  assert.ok(written > before, 'the service went on writing')
  stop = true
  await writing
  assert.match(stdout, /SENSORIUM_SECRET/, 'says what else to keep')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith(path.basename(file))),
    [path.basename(file)],
    'one file',
  )

  const data = newData()
  const restored = await sensorium(['restore', file, '--json'], data)
  assert.equal(restored.code, 0, restored.stdout)
  assert.deepEqual(Object.keys(JSON.parse(restored.stdout)), ['file', 'schema_version', 'kept_aside'])
  const second = await startProcess(data)
  t.after(() => second.stop())
  const token = await fetch(`${second.url}/v1/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: agent.key }),
  })
  assert.equal(token.status, 200, 'a key of before the copy works after its return')
  assert.equal(((await token.json()) as { agent: { name: string } }).agent.name, 'Before')
  await second.stop()

  const { openSqlite } = await import('../../src/store/sqlite.ts')
  const { databaseFile } = await import('../../src/store/data-directory.ts')
  const store = openSqlite(databaseFile(data.DATA_DIR))
  const rows = await store.rows<{ n: number; halves: number }>(
    'select n, count(*) as halves from pairs group by n order by n',
  )
  await store.close()
  assert.ok(rows.length >= before)
  assert.ok(
    rows.every(({ halves }) => halves === 2),
    'no transaction is torn',
  )
  assert.deepEqual(
    rows.map(({ n }) => n),
    rows.map((_, i) => i),
    'and none before the last is missing',
  )
})

test('[TEN-8] backup names the secret file of an embedded store, and restore says if it is missing', async () => {
  const data = { DATA_DIR: newData().DATA_DIR }
  await makeStore(data)
  await command(['tenant', 'create', 'acme'], data)
  const file = newFile()
  const { stdout } = await sensorium(['backup', file, '--json'], data)
  const secret = path.join(data.DATA_DIR, 'secret')
  assert.equal(JSON.parse(stdout).secret_file, secret)

  const empty = { DATA_DIR: newData().DATA_DIR }
  const restored = await sensorium(['restore', file], empty)
  assert.equal(restored.code, 0)
  assert.match(restored.stdout, new RegExp(`Put the master secret .*${path.join(empty.DATA_DIR, 'secret')}`))
  copyFileSync(secret, path.join(empty.DATA_DIR, 'secret'))
  assert.deepEqual(await list(empty), ['acme'])
})

test('[TEN-8] names that SQLite would take for a URI are names of files and folders', async () => {
  const data = { DATA_DIR: 'file:data?mode=memory', SENSORIUM_SECRET: SECRET }
  const place = mkdtempSync(path.join(folder, 'uri-'))
  await makeStore({ ...data, DATA_DIR: path.join(place, data.DATA_DIR) })
  const run = `"${process.execPath}" "${COMMAND}"`
  const { code, stderr } = await bash(
    `cd "${place}" && ${run} backup file:x.db && ${run} restore file:x.db && ${run} tenant list`,
    data,
  )
  assert.equal(code, 0, stderr)
  assert.deepEqual(readdirSync(place).sort(), [data.DATA_DIR, 'file:x.db'])
  assert.ok(statSync(path.join(place, 'file:x.db')).size > 0)
})

test('[TEN-8] restore keeps the previous store, every time', async () => {
  const data = newData()
  await makeStore(data)
  await command(['tenant', 'create', 'first'], data)
  const file = newFile()
  writeFileSync(`${file}.partial`, 'what a backup that was killed has left')
  await command(['backup', file], data)
  await command(['tenant', 'create', 'second'], data)

  assert.equal((await sensorium(['restore', file], data)).code, 0)
  assert.deepEqual(await list(data), ['first'])
  const aside = path.join(data.DATA_DIR, 'sensorium.db.before-restore')
  const again = await sensorium(['restore', aside, '--json'], data)
  assert.equal(JSON.parse(again.stdout).kept_aside, `${aside}-2`)
  assert.deepEqual(await list(data), ['second', 'first'])
  assert.ok(existsSync(aside))
})

test('[TEN-8] a store that root restores belongs to the owner of its folder', {
  skip: process.getuid?.() !== 0 && 'needs root',
}, async () => {
  const data = newData()
  await makeStore(data)
  const file = newFile()
  await command(['backup', file], data)
  const empty = newData()
  chownSync(empty.DATA_DIR, 54_321, 54_322)
  assert.equal((await command(['restore', file], empty)).code, 0)
  for (const name of ['sensorium.db', 'service.lock']) {
    const { uid, gid, mode } = statSync(path.join(empty.DATA_DIR, name))
    assert.deepEqual([uid, gid, mode & 0o777], [54_321, 54_322, 0o600], name)
  }
  assert.equal(statSync(file).uid, 0)
})

test('[TEN-8] after a restore that was killed halfway no empty store is made; the restore can be repeated', async () => {
  const data = newData()
  await makeStore(data)
  await command(['tenant', 'create', 'first'], data)
  const file = newFile()
  await command(['backup', file], data)
  // As between the two renames: the previous store is aside, and the backup not yet in its place.
  const database = path.join(data.DATA_DIR, 'sensorium.db')
  renameSync(database, `${database}.before-restore`)
  copyFileSync(file, `${database}.restoring`)

  const message = `A restore was interrupted in ${data.DATA_DIR}. Run it again: sensorium restore <file>`
  await assert.rejects(makeStore(data), { message })
  const examined = await command(['doctor', '--json'], data)
  assert.ok(examined.stdout.includes(message), examined.stdout)
  assert.equal(existsSync(database), false)
  // One that is repeated and fails changes nothing.
  await assert.rejects(replaceDatabase(newFile(), database))
  await assert.rejects(makeStore(data), { message })
  assert.equal((await sensorium(['restore', file], data)).code, 0)
  assert.deepEqual(await list(data), ['first'])
})

test('[TEN-8] restore keeps the log of a store that was killed together with it', async () => {
  const data = newData()
  await makeStore(data)
  const file = newFile()
  await command(['backup', file], data)
  const database = path.join(data.DATA_DIR, 'sensorium.db')
  // What a kill leaves: a database whose last commit is in its log alone.
  const { openSqlite } = await import('../../src/store/sqlite.ts')
  const store = openSqlite(database)
  await store.tx((tx) => tx.run("insert into settings (name, value) values ('last', 'commit')"))
  for (const suffix of ['', '-wal']) copyFileSync(database + suffix, `${database}.killed${suffix}`)
  await store.close()
  for (const suffix of ['', '-wal']) renameSync(`${database}.killed${suffix}`, database + suffix)

  assert.equal((await sensorium(['restore', file], data)).code, 0)
  assert.equal(existsSync(`${database}.before-restore-wal`), false, 'one file, which a rename moves as a whole')
  const kept = openSqlite(`${database}.before-restore`)
  const rows = await kept.rows("select value from settings where name = 'last'")
  await kept.close()
  assert.deepEqual(rows, [{ value: 'commit' }])
})

test('[TEN-8] restore keeps the log of a store that a command is using, and the restored store does not read it', async (t) => {
  const data = newData()
  await makeStore(data)
  const file = newFile()
  await command(['backup', file], data)
  const database = path.join(data.DATA_DIR, 'sensorium.db')
  const user = new DatabaseSync(database)
  t.after(() => user.close())
  user.exec("insert into settings (name, value) values ('last', 'commit')")
  assert.ok(statSync(`${database}-wal`).size > 0)
  assert.equal((await sensorium(['restore', file], data)).code, 0)
  assert.equal(existsSync(`${database}-wal`), false)
  const kept = new DatabaseSync(`${database}.before-restore`)
  t.after(() => kept.close())
  assert.equal(kept.prepare("select value from settings where name = 'last'").get()?.['value'], 'commit')
})

test('[TEN-8] restore is refused while a service owns the directory, and the service goes on', async (t) => {
  const data = newData()
  const service = await startProcess(data)
  t.after(() => service.stop())
  const file = newFile()
  assert.equal((await sensorium(['backup', file], data)).code, 0)
  const { code, stderr } = await sensorium(['restore', file], data)
  assert.equal(code, 1)
  assert.match(stderr, /already runs on/)
  assert.equal((await fetch(`${service.url}/readyz`)).status, 200)
  assert.deepEqual(
    readdirSync(data.DATA_DIR).filter((name) => /restor/.test(name)),
    [],
  )
})

test('[TEN-8] restore refuses a file that is no store, newer, damaged or of another secret, and changes nothing', async () => {
  const data = newData()
  await makeStore(data)
  await command(['tenant', 'create', 'acme'], data)
  const refused = async (file: string, message: RegExp): Promise<void> => {
    const { code, stderr } = await sensorium(['restore', file], data)
    assert.equal(code, 1)
    assert.match(stderr, message)
  }
  await refused(newFile(), /There is no file/)
  const text = newFile()
  writeFileSync(text, 'not a database')
  await refused(text, /is not a sensorium store/)

  const other = { ...newData(), SENSORIUM_SECRET: 'quite another master secret' }
  await makeStore(other)
  await command(['tenant', 'create', 'globex'], other)
  const foreign = newFile()
  await command(['backup', foreign], other)
  await refused(foreign, /made with another master secret than SENSORIUM_SECRET\./)

  const newer = newFile()
  await command(['backup', newer], data)
  const { openSqlite } = await import('../../src/store/sqlite.ts')
  const store = openSqlite(newer)
  const next = newestVersion('sqlite') + 1
  await store.tx((tx) =>
    tx.run("insert into schema_migrations (version, name, applied_at) values (?, 'later', 0)", [next]),
  )
  await store.close()
  await refused(newer, new RegExp(`schema version ${next}; this release knows up to ${next - 1}`))

  const damaged = newFile()
  await command(['backup', damaged], data)
  const file = new DatabaseSync(damaged)
  const page = file.prepare("select rootpage from sqlite_schema where name = 'events'").get()!['rootpage'] as number
  file.close()
  const bytes = readFileSync(damaged)
  bytes.fill(0xff, (page - 1) * 4_096, page * 4_096)
  writeFileSync(damaged, bytes)
  await refused(damaged, /is damaged/)

  const ill = newData()
  copyFileSync(damaged, path.join(ill.DATA_DIR, 'sensorium.db'))
  const copy = newFile()
  assert.match((await sensorium(['backup', copy], ill)).stderr, /is damaged/)
  assert.deepEqual([existsSync(copy), existsSync(`${copy}.partial`)], [false, false])

  assert.deepEqual(await list(data), ['acme'])
  assert.deepEqual(
    readdirSync(data.DATA_DIR).filter((name) => /restor/.test(name)),
    [],
  )
})

test('[TEN-8] backup refuses to overwrite a file, and to copy a store that does not exist', async () => {
  const data = newData()
  const none = await sensorium(['backup', newFile()], data)
  assert.deepEqual([none.code, none.stderr], [1, `There is no store in ${data.DATA_DIR} yet\n`])
  await makeStore(data)
  const missing = path.join(folder, 'not', 'there', 'copy.db')
  const nowhere = await sensorium(['backup', missing], data)
  assert.deepEqual([nowhere.code, nowhere.stderr], [1, `There is no folder ${path.dirname(missing)}. Make it first.\n`])
  const file = newFile()
  writeFileSync(file, 'precious')
  const { code, stderr } = await sensorium(['backup', file], data)
  assert.equal(code, 1)
  assert.match(stderr, /is there already/)
  assert.equal(statSync(file).size, 8)
})

test('[TEN-8] for PostgreSQL it prints the right command, which works as pasted, with exit code 2', {
  skip: !POSTGRES_URL && 'PostgreSQL is missing',
}, async (t) => {
  const { env, drop } = await postgres.fresh()
  t.after(drop)
  const backup = await sensorium(['backup', "it's.dump"], env)
  assert.equal(backup.code, 2)
  assert.match(backup.stderr, /pg_dump --format=custom --file='it'\\''s\.dump' "\$DATABASE_URL"/)
  const restore = await sensorium(['restore', 'x.dump', '--json'], env)
  assert.equal(restore.code, 2)
  const { message, details } = JSON.parse(restore.stdout).error
  assert.match(message, /into an empty database/)
  // With --clean, tables of a newer release would stay, and the next upgrade would fail.
  assert.equal(details.instead, `pg_restore --exit-on-error --single-transaction --dbname="$DATABASE_URL" 'x.dump'`)
})
