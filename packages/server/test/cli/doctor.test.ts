// sensorium doctor: one line per check, ok or failed, and the checks change nothing.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { OperatorInvocation } from '../../src/cli/command.ts'
import { run } from '../../src/cli/operator/doctor.ts'
import { examineService } from '../../src/cli/operator/examine-service.ts'
import { readConfig } from '../../src/config.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { databaseFile } from '../../src/store/data-directory.ts'
import { newestVersion } from '../../src/store/migrate.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { onBothEngines, SECRET, sqlite } from '../support/engines.ts'
import { sensorium } from '../support/process.ts'
import { fakeClock, realClock } from '../support/fake-clock.ts'
import { startService } from '../support/service.ts'
import { makeStore } from '../support/store.ts'
import { CHECKS, examine, type Report } from './examine.ts'

onBothEngines((engine) => {
  test('[TEN-7] all checks pass beside a running service', async (t) => {
    const service = await startService(engine)
    t.after(() => service.stop())
    const { code, report, text } = await examine(service.env)
    assert.equal(code, 0, text)
    assert.deepEqual(
      report.checks.map(({ check }) => check),
      CHECKS,
    )
    assert.match(text, new RegExp(`store +${engine.name}, schema version \\d+`))
  })

  test('[TEN-7] [STO-12] the running service’s state is shown: whether it is ready, and failing loops', async (t) => {
    const service = await startService(engine)
    t.after(() => service.stop())
    const { port, hostname } = new URL(service.url)
    const asked = { ...service.env, HOST: hostname, PORT: port }
    assert.match((await examine(asked)).text, /ok +service +ready at 127\.0\.0\.1:\d+/)
    await service.store.tx((tx) => tx.run('alter table deliveries rename to deliveries_away'))
    // The first rounds fail at their time; those of the two minutes may be late on a busy machine.
    await service.clock.advance(2_500)
    await service.clock.advance(120_000)
    const { code, failed, text } = await examine(asked)
    assert.equal(code, 1)
    assert.deepEqual(failed, ['service'])
    assert.match(text, /fails at: .*sweep/i)
  })

  test('[TEN-7] a newer schema and another secret fail by name', async (t) => {
    const service = await startService(engine)
    t.after(() => service.stop())
    const next = newestVersion(engine.name) + 1
    await service.store.tx((tx) =>
      tx.run("insert into schema_migrations (version, name, applied_at) values (?, 'later', 0)", [next]),
    )
    const { code, failed, text } = await examine({ ...service.env, SENSORIUM_SECRET: `another ${SECRET}` })
    assert.equal(code, 1)
    assert.deepEqual(failed, ['store', 'secret'])
    assert.ok(text.includes(`schema version ${next}; this release knows up to ${next - 1}`), text)
    assert.match(text, /not the secret this store was made with/)
  })
})

test('[TEN-7] before the first start there is no store, and none is created', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const folder = path.join(env['DATA_DIR']!, 'not', 'yet')
  const { code, text } = await examine({ DATA_DIR: folder })
  assert.equal(code, 0, text)
  assert.match(text, /store +none yet/)
  assert.equal(existsSync(folder), false)
})

test('[TEN-7] a service beside no store has another one, and nothing of it was examined', async (t) => {
  const service = await startService(sqlite)
  t.after(() => service.stop())
  const { port, hostname } = new URL(service.url)
  const elsewhere = path.join(service.env['DATA_DIR']!, 'not', 'here')
  const { code, failed, text } = await examine({ DATA_DIR: elsewhere, HOST: hostname, PORT: port })
  assert.deepEqual([code, failed], [1, ['service']], text)
  assert.match(text, /with another store: set DATA_DIR or DATABASE_URL as the service has it/)
})

test('[TEN-7] a wrong configuration is reported with every variable, and dependent checks are skipped', async () => {
  const { code, report } = await examine({ PORT: 'x', LOG_LEVEL: 'loud' })
  assert.equal(code, 1)
  assert.equal(report.checks.length, 1)
  assert.match(report.checks[0]!.detail, /PORT takes.*; LOG_LEVEL takes/)
})

test('[TEN-7] a misspelt variable is named beside a configuration that is ok', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const { code, text } = await examine({ DATA_DIR: env['DATA_DIR']!, MAX_ATTEMPT: '3' })
  assert.equal(code, 0, text)
  const line =
    /^ok +configuration +the embedded store in .*; MAX_ATTEMPT is not a setting and has no effect\. Did you mean MAX_ATTEMPTS\?$/m
  assert.match(text, line)
})

test('[TEN-7] a file that is no database fails the store check, and the other checks still run', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  writeFileSync(
    path.join(env['DATA_DIR']!, 'sensorium.db'),
    'this is not a database, whatever its name may say\n'.repeat(100),
  )
  const { code, failed, report } = await examine(env)
  assert.equal(code, 1)
  assert.deepEqual(failed, ['store'])
  assert.equal(report.checks.length, CHECKS.length)
})

test('[TEN-7] [STO-12] a store that refuses writes, though it can be read, fails the store check', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  await makeStore(env)
  const store = openSqlite(databaseFile(env['DATA_DIR']!))
  await store.tx((tx) =>
    tx.run("create trigger refuse before insert on settings begin select raise(abort, 'no writes today'); end"),
  )
  await store.close()
  const { failed, text } = await examine(env)
  assert.deepEqual(failed, ['store'])
  assert.match(text, /no writes today/)
})

onBothEngines((engine) => {
  test('[TEN-7] a clock that is far off fails by name', async (t) => {
    const { env, drop } = await engine.fresh()
    t.after(drop)
    await makeStore(env)
    const clockOf = async (clock: Clock): Promise<string> => {
      const given = { config: () => readConfig({ PORT: '0', ...env }), clock } as OperatorInvocation
      const { checks } = (await run(given)).json as Report
      const { ok, detail } = checks.find(({ check }) => check === 'clock')!
      return `${ok} ${detail}`
    }
    assert.match(await clockOf(realClock()), /^true /)
    assert.equal(await clockOf(fakeClock(0)), 'false it says 1970-01-01T00:00:00.000Z')
    const ahead = await clockOf(realClock(3_600_000))
    assert.match(ahead, engine.name === 'postgres' ? /^false .* ms ahead of the database's$/ : /^true /)
  })
})

test('[TEN-7] a missing secret of an embedded store is reported, and another one', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const data = { DATA_DIR: env['DATA_DIR']! }
  await makeStore(data)
  const secret = path.join(data.DATA_DIR, 'secret')
  const kept = readFileSync(secret, 'utf8')
  writeFileSync(secret, 'another secret, longer than sixteen characters\n')
  assert.deepEqual((await examine(data)).failed, ['secret'])
  rmSync(secret)
  const { failed, text } = await examine(data)
  assert.deepEqual(failed, ['secret'])
  assert.match(text, /the secret this store was made with is missing/)
  writeFileSync(secret, kept)
  assert.deepEqual((await examine(data)).failed, [])
})

test('[TEN-7] a database that is away fails by name', async () => {
  const { code, failed, text } = await examine({
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    SENSORIUM_SECRET: SECRET,
  })
  assert.equal(code, 1)
  assert.deepEqual(failed, ['store', 'secret', 'clock'])
  assert.match(text, /ECONNREFUSED/)
})

test('[TEN-7] a folder that cannot be created fails the disk check', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  writeFileSync(path.join(env['DATA_DIR']!, 'file'), '')
  assert.deepEqual((await examine({ ...env, DATA_DIR: path.join(env['DATA_DIR']!, 'file', 'data') })).failed, ['disk'])
})

test('[TEN-7] a model that cannot be reached fails by name', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const { failed } = await examine({ ...env, EMBEDDINGS: 'http://127.0.0.1:1/v1', EMBEDDINGS_MODEL: 'small' })
  assert.deepEqual(failed, ['model'])
})

test('[TEN-7] at the address nothing, another program and one that hangs are told apart', async () => {
  const at = async (answer: RequestListener, withinMs = 3_000) => {
    const server = createServer(answer).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const found = await examineService({ host: '127.0.0.1', port }, { withinMs })
    await new Promise((closed) => server.close(closed).closeAllConnections())
    return { port, ...found }
  }
  const page = await at((_, response) => response.end('<h1>Another program</h1>'))
  assert.deepEqual([page.ok, page.detail], [true, `something else at 127.0.0.1:${page.port}`])
  assert.match((await at((_, response) => response.end('null'))).detail, /^something else at/)
  const hangs = await at(() => {}, 50)
  assert.equal(hangs.ok, false)
  assert.match(hangs.detail, /takes a connection and does not respond within 0\.05 s$/)
  // A port that no service and no test uses.
  const nobody = await examineService({ host: '127.0.0.1', port: 47 })
  assert.deepEqual([nobody.ok, nobody.detail], [true, 'none at 127.0.0.1:47, which HOST and PORT name'])
})

test('[TEN-7] a built-in model without a runtime for the platform fails by name', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  // As on a platform without a package, or after an installation without optional dependencies.
  const without = path.join(env['DATA_DIR']!, 'without-runtime.cjs')
  writeFileSync(
    without,
    `const { Module } = require('node:module'); const found = Module._resolveFilename
     Module._resolveFilename = function (name, ...rest) {
       if (name.includes('onnxruntime')) throw Object.assign(new Error(name), { code: 'MODULE_NOT_FOUND' })
       return found.call(this, name, ...rest)
     }`,
  )
  const { code, stdout } = await sensorium(['doctor'], { ...env, PORT: '0', NODE_OPTIONS: `--require ${without}` })
  assert.equal(code, 1)
  assert.match(
    stdout,
    /failed +model +the built-in model needs the package @sensorium\/onnxruntime-\w+-\w+, which is not/,
  )
})

test('[TEN-7] [CFG-2] a store without the extension that searches memories fails by name, and no service starts', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  // It is missing in one case, and damaged in the other.
  const damaged = path.join(env['DATA_DIR']!, 'vec0.so')
  writeFileSync(damaged, 'not a library')
  for (const [name, then] of [
    ['missing', `throw Object.assign(new Error(name), { code: 'ERR_MODULE_NOT_FOUND' })`],
    ['damaged', `return { url: ${JSON.stringify(pathToFileURL(damaged))}, shortCircuit: true }`],
  ] as const) {
    const hook = path.join(env['DATA_DIR']!, `${name}.cjs`)
    writeFileSync(
      hook,
      `require('node:module').registerHooks({ resolve(name, context, next) {
         if (name.startsWith('sqlite-vec-')) ${then}
         return next(name, context)
       } })`,
    )
    const incomplete = { ...env, PORT: '0', NODE_OPTIONS: `--require ${hook}` }
    const said = /The extension sqlite-vec, .* cannot be loaded on \w+ \w+: .*--omit=optional/
    const start = await sensorium(['start'], incomplete)
    assert.equal(start.code, 1, name)
    assert.match(start.stderr, said)
    const doctor = await sensorium(['doctor'], incomplete)
    assert.equal(doctor.code, 1, name)
    assert.match(doctor.stdout, new RegExp(`failed +store +${said.source}`))
  }
})
