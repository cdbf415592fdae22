// The first start and later ones, as a person sees them.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { createSecureContext, TLSSocket } from 'node:tls'
import { postgres, POSTGRES_URL, sqlite } from '../support/engines.ts'
import { bash, refusedStart, sensorium, startProcess } from '../support/process.ts'

const KEY = /ak_live_[A-Za-z0-9]{32}/g
/** The command printed under "Publish an event:", to be pasted into a terminal. */
const pasted = (output: string): string => /Publish an event:\n\n([^]*?\n)\n/.exec(output)![1]!

test('[CFG-8] the first start prints the org-admin key once and a curl that works as pasted; the second prints none', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const data = { DATA_DIR: path.join(env['DATA_DIR']!, 'new') }
  const began = performance.now()
  const first = await startProcess(data)
  t.diagnostic(`listening ${Math.round(performance.now() - began)} ms after the process was started, on a new store`)
  const printed = await first.printed(/Org-admin key \(shown this once\): {2}(ak_live_[A-Za-z0-9]{32})/)
  await first.printed(/"msg":"ready"/)

  const published = await bash(pasted(first.output()))
  assert.match(published.stdout, /^HTTP\/1\.1 202 /, published.stdout + published.stderr)
  assert.match(published.stdout, /"event_id":"hello-\d+","status":"accepted"/)
  // More than Bash ever draws, so that it is another number.
  const again = await bash(pasted(first.output()).replace('$RANDOM', '40000'))
  assert.match(again.stdout, /^HTTP\/1\.1 202 [^]*"status":"accepted"/, 'and once more')

  const { tenants } = JSON.parse((await sensorium(['tenant', 'list', '--json'], data)).stdout)
  assert.deepEqual(
    tenants.map(({ slug }: { slug: string }) => slug),
    ['default'],
  )
  const { stdout } = await first.stop()
  assert.equal(new Set(stdout.match(KEY)).size, 1)

  const second = await startProcess(data)
  const token = await bash(pasted(stdout).replaceAll(first.url, second.url))
  assert.match(token.stdout, /^HTTP\/1\.1 20[02] /, 'the key works after a restart')
  const after = await second.stop()
  assert.equal(after.code, 0)
  assert.doesNotMatch(after.stdout + after.stderr, KEY)
  assert.ok(printed[1])
})

test('[CFG-3] the secret of an embedded store is in DATA_DIR, mode 0600, reused, and needed by tokens', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const data = { DATA_DIR: path.join(env['DATA_DIR']!, 'new') }
  const first = await startProcess(data)
  const [, key] = await first.printed(/(ak_live_[A-Za-z0-9]{32})/)
  const exchange = async (url: string): Promise<string> => {
    const answer = await fetch(`${url}/v1/auth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: key }),
    })
    return ((await answer.json()) as { access_token: string }).access_token
  }
  const token = await exchange(first.url)
  assert.equal(statSync(data.DATA_DIR).mode & 0o777, 0o700)
  const secret = path.join(data.DATA_DIR, 'secret')
  assert.equal(statSync(secret).mode & 0o777, 0o600)
  const made = statSync(secret).mtimeMs
  await first.stop()

  const second = await startProcess(data)
  t.after(() => second.stop())
  assert.equal(statSync(secret).mtimeMs, made)
  const answer = await fetch(`${second.url}/v1/agents`, { headers: { authorization: `Bearer ${token}` } })
  assert.equal(answer.status, 200, 'a token of before the restart is still one')
})

test('[CFG-7] BOOTSTRAP_TENANT and BOOTSTRAP_ADMIN_KEY are used, and the given key is not printed', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const given = 'ak_live_0123456789abcdefghijABCDEFGHIJ01'
  const service = await startProcess({ ...env, BOOTSTRAP_TENANT: 'acme', BOOTSTRAP_ADMIN_KEY: given })
  t.after(() => service.stop())
  await service.printed(/"msg":"ready"/)
  assert.doesNotMatch(service.output(), KEY)
  const published = await bash(pasted(service.output()), { BOOTSTRAP_ADMIN_KEY: given })
  assert.match(published.stdout, /^HTTP\/1\.1 202 /, published.stdout + published.stderr)
  const { tenants } = JSON.parse((await sensorium(['tenant', 'list', '--json'], env)).stdout)
  assert.deepEqual(
    tenants.map(({ slug }: { slug: string }) => slug),
    ['acme'],
  )
})

test('[CFG-1] all wrong variables are reported at once, with exit code 1, before anything is created', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const wrong = {
    PORT: '99999',
    HOST: 'a b',
    LOG_LEVEL: 'loud',
    SENSORIUM_SECRET: 'short',
    VISIBILITY_TIMEOUT_S: '0',
    MAX_ATTEMPTS: '-1',
    RATE_LIMIT_AGENT: 'none',
    RATE_LIMIT_WINDOW_S: '1.5',
    MAX_EVENT_BYTES: '12',
    RETENTION_DAYS: 'x',
    PUSH_ALLOW_PRIVATE: 'maybe',
    CLIENT_TYPES: 'one,two',
    OPERATOR_TOKEN: 'short',
    BOOTSTRAP_TENANT: 'Not A Slug',
    BOOTSTRAP_ADMIN_KEY: 'ak_live_short',
    DATABASE_URL: 'mysql://x',
    PUBLIC_URL: 'nowhere',
    EMBEDDINGS: 'ftp://x',
  }
  const folder = path.join(env['DATA_DIR']!, 'new')
  const { code, stdout, stderr } = await refusedStart({ ...wrong, DATA_DIR: folder })
  assert.equal(code, 1)
  assert.equal(stdout, '')
  const named = stderr
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => /^ {2}(\w+) takes /.exec(line)?.[1])
  assert.deepEqual(named.toSorted(), Object.keys(wrong).toSorted())
  assert.throws(() => statSync(folder), { code: 'ENOENT' })
  assert.doesNotMatch(stderr, /ak_live_short|'short'/, 'a secret is not repeated')
})

test('[CFG-1] a start warns of a variable that was probably meant to be a setting', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const service = await startProcess({ ...env, RETENTION_DAY: '5' })
  const { stdout } = await service.stop()
  const warnings = stdout.match(/"level":"?(?:warn|40)"?.*/g)
  assert.equal(warnings?.length, 1, stdout)
  assert.match(warnings![0]!, /RETENTION_DAY is not a setting and has no effect\. Did you mean RETENTION_DAYS\?/)
})

test('[CFG-3] PostgreSQL without SENSORIUM_SECRET is refused', async () => {
  const { code, stderr } = await refusedStart({ DATABASE_URL: 'postgres://127.0.0.1/x' })
  assert.equal(code, 1)
  assert.match(stderr, /SENSORIUM_SECRET takes at least 16 characters; it is required with DATABASE_URL/)
})

test('[CFG-2] a database that does not respond is named with its setting, without user and password', async () => {
  const { code, stderr } = await refusedStart({
    DATABASE_URL: 'postgres://somebody:hunter2@127.0.0.1:1/none',
    SENSORIUM_SECRET: 'a-master-secret-for-the-tests',
  })
  assert.equal(code, 1)
  assert.equal(
    stderr,
    'Sensorium did not start: PostgreSQL at postgres://127.0.0.1:1/none (DATABASE_URL) cannot be used: connect ECONNREFUSED 127.0.0.1:1\n',
  )
})

test('[CFG-2] a database whose certificate cannot be verified is told with the option that names its authority', async (t) => {
  const tls = new URL('../support/tls/', import.meta.url)
  const secureContext = createSecureContext({
    key: readFileSync(new URL('server-key.pem', tls)),
    cert: readFileSync(new URL('server.pem', tls)),
  })
  // The far end accepts TLS as PostgreSQL does; the client gives up at its certificate.
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write('S')
      new TLSSocket(socket, { isServer: true, secureContext }).on('error', () => {})
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  const { code, stderr } = await refusedStart({
    DATABASE_URL: `postgres://127.0.0.1:${port}/none?sslmode=verify-full`,
    SENSORIUM_SECRET: 'a-master-secret-for-the-tests',
  })
  assert.equal(code, 1)
  assert.match(stderr, /\(DATABASE_URL\) cannot be used: .*certificate.* add sslmode=verify-full&sslrootcert=<file>/)
})

test('[CFG-2] a file that DATABASE_URL names and that is missing is told with the variable', async () => {
  const { stderr } = await refusedStart({
    DATABASE_URL: 'postgres://127.0.0.1:1/none?sslrootcert=/missing/ca.crt',
    SENSORIUM_SECRET: 'a-master-secret-for-the-tests',
  })
  assert.match(stderr, /^Sensorium did not start: .*DATABASE_URL.* ENOENT: .*\/missing\/ca\.crt/)
})

test('[CFG-2] a port that is in use is reported in a sentence', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  t.after(() => taken.close())
  const { port } = taken.address() as { port: number }
  const { code, stderr, stdout } = await refusedStart({ ...env, PORT: String(port) })
  assert.equal(code, 1)
  assert.match(stderr, new RegExp(`^Sensorium did not start: .*HOST 127.0.0.1, PORT ${port}: .*EADDRINUSE`))
  // The store has the first key only as a hash, so this is the one time to show it.
  const key = /Org-admin key \(shown this once\): {2}(\S+)/.exec(stdout)![1]!
  const service = await startProcess(env)
  t.after(() => service.stop())
  const exchanged = await fetch(`${service.url}/v1/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: key }),
  })
  assert.equal(exchanged.status, 200)
})

test('[CFG-2] a store that refuses the first write is not reported as a port', async (t) => {
  const { env, drop } = await sqlite.migrated!()
  t.after(drop)
  const store = new DatabaseSync(path.join(env['DATA_DIR']!, 'sensorium.db'))
  store.exec(`create trigger full before insert on settings when new.name = 'time'
                begin select raise(abort, 'database or disk is full'); end`)
  store.close()
  const { code, stderr } = await refusedStart(env)
  assert.equal(code, 1)
  assert.match(stderr, /^Sensorium did not start: .*database or disk is full/m)
  assert.doesNotMatch(stderr, /PORT/)
})

test('[CFG-2] an impossible DATA_DIR is reported in a sentence, not with a stack trace', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  mkdirSync(path.join(env['DATA_DIR']!, 'sensorium.db'))
  const { code, stderr } = await refusedStart(env)
  assert.equal(code, 1)
  assert.match(stderr, /^Sensorium did not start: /)
  assert.equal(stderr.trimEnd().split('\n').length, 1)
})

test('[CFG-2] a DATA_DIR that is a file is reported with the name of the variable', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const file = path.join(env['DATA_DIR']!, 'file')
  writeFileSync(file, '')
  const { stderr } = await refusedStart({ ...env, DATA_DIR: file })
  assert.match(stderr, /^Sensorium did not start: DATA_DIR cannot be made or used as a folder: EEXIST/)
})

test('[CFG-2] PUBLIC_URL is the address that is shown', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const service = await startProcess({ ...env, PUBLIC_URL: 'https://sensorium.example.com/' })
  t.after(() => service.stop())
  assert.match(
    service.output(),
    /listens on http:\/\/localhost:\d+ and is reached as https:\/\/sensorium\.example\.com \(PUBLIC_URL\)\n +Console +https:\/\/sensorium\.example\.com\//,
  )
  assert.equal((await fetch(`${service.url}/healthz`)).status, 200)
})

test('[CFG-8] two nodes that start together on an empty database create one tenant and print one key', {
  skip: !POSTGRES_URL && 'PostgreSQL is missing',
}, async (t) => {
  const { env, drop } = await postgres.fresh()
  t.after(drop)
  const nodes = await Promise.all([startProcess(env), startProcess(env)])
  const ended = await Promise.all(
    nodes.map(async (node) => {
      await node.printed(/"msg":"ready"/)
      return node.stop()
    }),
  )
  assert.deepEqual(
    ended.map(({ code }) => code),
    [0, 0],
  )
  assert.equal(new Set(ended.flatMap(({ stdout }) => stdout.match(KEY) ?? [])).size, 1)
})
