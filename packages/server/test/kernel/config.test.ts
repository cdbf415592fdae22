// The environment: what each variable accepts, its default, and what it changes.
import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'
import { localAddress, welcome } from '../../src/welcome.ts'
import { readConfig, type Config, type ConfigError } from '../../src/config.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { startService } from '../support/service.ts'

const MIB = 1_048_576

test('[CFG-2] [CFG-4] [CFG-5] [CFG-6] [CFG-7] with nothing set, the defaults hold', () => {
  const expected: Config = {
    host: '0.0.0.0',
    port: 8080,
    workers: 1,
    drainS: 0,
    dataDir: './data',
    database: { engine: 'sqlite' },
    publicUrl: null,
    logLevel: 'info',
    secret: null,
    visibilityTimeoutMs: 30_000,
    maxAttempts: 5,
    pushRetryS: [5, 60, 600, 3600],
    rateLimitAgent: 6000,
    rateLimitTenant: 60_000,
    rateLimitWindowS: 60,
    maxEventBytes: MIB,
    maxMemoryBytes: 10 * MIB,
    retentionDays: 30,
    auditDays: 365,
    embeddings: { kind: 'builtin' },
    rerank: null,
    pushAllowPrivate: false,
    clientTypes: ['claude', 'chatgpt', 'gemini', 'copilot', 'cursor'],
    operatorToken: null,
    console: true,
    trustedProxies: [],
    bootstrapTenant: 'default',
    bootstrapAdminKey: null,
    misspelt: [],
  }
  assert.partialDeepStrictEqual(readConfig({}), expected)
  // An empty variable is one that is not set, as a container's environment often has it.
  assert.deepEqual(readConfig(Object.fromEntries(Object.keys(WRONG).map((name) => [name, '']))), readConfig({}))
})

/** Values that each variable refuses. */
const WRONG: Record<string, string[]> = {
  HOST: ['a b', 'http://x'],
  PORT: ['-1', '65536', '80.5', 'http', '0x50', ' '],
  DRAIN_S: ['-1', '301', '10s', 'off'],
  DATA_DIR: ['a\0b'],
  DATABASE_URL: ['mysql://x/y', 'localhost:5432', '/tmp/db'],
  DATABASE_READ_URL: ['mysql://x/y', 'postgres://a,b/c', 'postgres://a/b?target_session_attrs=read-write'],
  PUBLIC_URL: [
    ...['ftp://x', 'example.com', '//x', 'https://user:password@host', 'https:host', ' https://host', 'https://host\r'],
    ...['https://ho\tst', 'https://host\0', 'https://host/?a=b', 'https://host/#a', 'https://host/?'],
  ],
  LOG_LEVEL: ['loud', 'INFO'],
  SENSORIUM_SECRET: ['short', 'x'.repeat(15), ' '.repeat(17), `${'x'.repeat(15)}\r\n`],
  VISIBILITY_TIMEOUT_S: ['0', '-5', '1.5', '30s', '43201'],
  MAX_ATTEMPTS: ['0', 'off', '1001'],
  RATE_LIMIT_AGENT: ['0', '-1', 'OFF', 'none', '1.5', '1000000001'],
  RATE_LIMIT_TENANT: ['0', 'unlimited'],
  RATE_LIMIT_WINDOW_S: ['0', 'off', '86401'],
  MAX_EVENT_BYTES: ['0', '1023', '1MB', 'off'],
  MAX_MEMORY_BYTES: ['0', '1023', '10MB'],
  RETENTION_DAYS: ['0', '-1', 'forever', '36501'],
  AUDIT_DAYS: ['0', '36501'],
  PUSH_RETRY_S: ['0', '86401', '5,,60', '1.5', Array.from({ length: 17 }, () => '5').join(',')],
  EMBEDDINGS: [
    'none',
    'ftp://x',
    'http:foo',
    'http://host/v1\r',
    'http://user:password@host/v1',
    'http://user@host/v1',
  ],
  RERANK: [
    'none',
    'ftp://x',
    'http:foo',
    'http://host/v1 ',
    'http://user:password@host/v1',
    'http://:password@host/v1',
  ],
  PUSH_ALLOW_PRIVATE: ['yes', 'ON'],
  CLIENT_TYPES: ['a,b,c,d', 'a,b,c,d,e,f', 'a,b,c,d,', 'a,b,c,d,d', 'a,b,c,d,other', 'a,b,c,d,e f'],
  CONSOLE: ['maybe', 'ON'],
  OPERATOR_TOKEN: ['short', 'has a space in the middle'],
  TRUSTED_PROXIES: ['proxy.internal', '10.0.0.1,', '10.1', '10.0.0.0/33', '::1/129', '1.2.3.4:80', 'loopback'],
  BOOTSTRAP_TENANT: ['Default', '-a', 'a_b', 'x'.repeat(64)],
  BOOTSTRAP_ADMIN_KEY: ['ak_live_short', 'ak_test_0123456789abcdefghijABCDEFGHIJ01'],
}

/** What each of these takes only together with others. */
const WITH: Record<string, Record<string, string>> = {
  DATABASE_READ_URL: { DATABASE_URL: 'postgres://a/b', SENSORIUM_SECRET: 'x'.repeat(16) },
  SENSORIUM_SECRET: { DATABASE_URL: 'postgres://a/b' },
  EMBEDDINGS: { EMBEDDINGS_MODEL: 'm' },
  RERANK: { RERANK_MODEL: 'm' },
}

for (const [name, values] of Object.entries(WRONG)) {
  test(`[CFG-1] a wrong ${name} refuses the start by its name, and does not repeat the value`, () => {
    for (const value of values) {
      assert.throws(
        () => readConfig({ ...WITH[name], [name]: value }),
        ({ message, problems }: ConfigError) =>
          problems.length === 1 &&
          problems[0]!.startsWith(`${name} takes `) &&
          (value.length < 6 || !message.includes(value)),
        `${name}=${value}`,
      )
    }
  })
}

test('[SCL-5] workers are as many as cores on PostgreSQL, up to eight, and one with the embedded store', () => {
  const shared = { DATABASE_URL: 'postgres://db/name', SENSORIUM_SECRET: 'sixteen characters' }
  const auto = Math.min(8, availableParallelism())
  assert.equal(readConfig(shared).workers, auto)
  assert.equal(readConfig({ ...shared, WORKERS: 'auto' }).workers, auto)
  assert.equal(readConfig({ ...shared, WORKERS: '64' }).workers, 64)
  assert.equal(readConfig({ WORKERS: 'auto' }).workers, 1)
  assert.throws(() => readConfig({ WORKERS: '2' }), /WORKERS takes 1 with the embedded store/)
  for (const wrong of ['0', '65', '-1', 'all', '1.5'])
    assert.throws(() => readConfig({ ...shared, WORKERS: wrong }), /WORKERS takes a whole number from 1 to 64, or auto/)
})

test('[CFG-1] credentials in the URL of a model are refused, with where a key goes', () => {
  for (const name of ['EMBEDDINGS', 'RERANK'])
    assert.throws(
      () => readConfig({ [name]: 'http://user:hunter2@host/v1', [`${name}_MODEL`]: 'm' }),
      ({ message }: Error) => message.includes(`${name}_API_KEY`) && !message.includes('hunter2'),
    )
})

test('[CFG-2] the address that is shown is localhost only where that leads to the service', () => {
  for (const host of ['0.0.0.0', '[::]', '127.0.0.1'])
    assert.equal(localAddress(`http://${host}:8080`), 'http://localhost:8080')
  for (const host of ['[::1]', '10.0.0.1']) assert.equal(localAddress(`http://${host}:8080`), `http://${host}:8080`)
})

test('[CFG-2] behind a proxy the start says where the service listens and how it is reached', () => {
  const start = { listening: 'http://0.0.0.0:8080', adminKey: null, givenKey: false, hasConsole: true }
  const lines = (publicUrl: string | null) => welcome({ ...start, publicUrl }).split('\n')
  assert.equal(lines(null)[1], '  Sensorium listens on http://localhost:8080')
  assert.equal(
    lines('https://s.example')[1],
    '  Sensorium listens on http://localhost:8080 and is reached as https://s.example (PUBLIC_URL)',
  )
  assert.equal(lines('https://s.example')[2], '  Console    https://s.example/console')
})

test('[CFG-2] a start that other machines can reach says so, and how they are kept out', () => {
  const start = { publicUrl: null, adminKey: null, givenKey: false, hasConsole: true }
  const note = /Other machines can reach it too; with HOST=127\.0\.0\.1 only this one can\./
  for (const host of ['0.0.0.0', '[::]']) assert.match(welcome({ ...start, listening: `http://${host}:8080` }), note)
  for (const host of ['127.0.0.1', '[::1]', '10.0.0.1'])
    assert.doesNotMatch(welcome({ ...start, listening: `http://${host}:8080` }), note)
})

test('[CFG-1] a replica without its database is refused', () => {
  assert.throws(() => readConfig({ DATABASE_READ_URL: 'postgres://a/b' }), /DATABASE_URL, which is not set/)
})

test('[CFG-1] several wrong values are reported together', () => {
  assert.throws(
    () => readConfig({ PORT: 'x', MAX_ATTEMPTS: 'x', CLIENT_TYPES: 'x' }),
    ({ message }: Error) => ['PORT', 'MAX_ATTEMPTS', 'CLIENT_TYPES'].every((name) => message.includes(name)),
  )
})

test('[CFG-3] with PostgreSQL a secret is required', () => {
  assert.throws(() => readConfig({ DATABASE_URL: 'postgres://a/b' }), /SENSORIUM_SECRET/)
  const config = readConfig({ DATABASE_URL: 'postgres://a/b', SENSORIUM_SECRET: 'x'.repeat(16) })
  assert.deepEqual(config.database, { engine: 'postgres', url: 'postgres://a/b', readUrl: null })
  assert.equal(config.secret, 'x'.repeat(16))
})

test('[CFG-2] [CFG-4] [CFG-5] [CFG-6] [CFG-7] every variable is read', () => {
  const config = readConfig({
    HOST: '::1',
    PORT: '1',
    DATA_DIR: '/x',
    PUBLIC_URL: 'https://s.example/',
    LOG_LEVEL: 'debug',
    SENSORIUM_SECRET: 's'.repeat(32),
    VISIBILITY_TIMEOUT_S: '2',
    MAX_ATTEMPTS: '3',
    RATE_LIMIT_AGENT: '4',
    RATE_LIMIT_TENANT: 'off',
    RATE_LIMIT_WINDOW_S: '5',
    MAX_EVENT_BYTES: '2048',
    MAX_MEMORY_BYTES: '4096',
    RETENTION_DAYS: '6',
    EMBEDDINGS: 'http://e.example/v1',
    EMBEDDINGS_MODEL: 'm',
    EMBEDDINGS_API_KEY: 'k',
    RERANK: 'http://r.example/v2',
    RERANK_MODEL: 'r',
    RERANK_API_KEY: 's',
    PUSH_ALLOW_PRIVATE: 'on',
    CLIENT_TYPES: 'a,b,c,d,e',
    CONSOLE: 'off',
    OPERATOR_TOKEN: 'o'.repeat(16),
    BOOTSTRAP_TENANT: 'first',
    BOOTSTRAP_ADMIN_KEY: `ak_live_${'x'.repeat(32)}`,
  })
  assert.partialDeepStrictEqual(config, {
    host: '::1',
    port: 1,
    dataDir: '/x',
    publicUrl: 'https://s.example',
    logLevel: 'debug',
    secret: 's'.repeat(32),
    visibilityTimeoutMs: 2000,
    maxAttempts: 3,
    rateLimitAgent: 4,
    rateLimitTenant: null,
    rateLimitWindowS: 5,
    maxEventBytes: 2048,
    maxMemoryBytes: 4096,
    retentionDays: 6,
    embeddings: { kind: 'http', url: 'http://e.example/v1', model: 'm', apiKey: 'k' },
    rerank: { url: 'http://r.example/v2', model: 'r', apiKey: 's' },
    pushAllowPrivate: true,
    clientTypes: ['a', 'b', 'c', 'd', 'e'],
    console: false,
    operatorToken: 'o'.repeat(16),
    bootstrapTenant: 'first',
    bootstrapAdminKey: `ak_live_${'x'.repeat(32)}`,
  })
  assert.throws(() => readConfig({ EMBEDDINGS: 'http://e.example/v1' }), /EMBEDDINGS_MODEL/)
  assert.throws(() => readConfig({ RERANK: 'http://r.example' }), /RERANK_MODEL/)
})

onBothEngines((engine) => {
  test('[CFG-4] [HTTP-10] MAX_EVENT_BYTES and MAX_MEMORY_BYTES are the limits of their endpoints alone', async () => {
    const service = await startService(engine, { MAX_EVENT_BYTES: '2048', MAX_MEMORY_BYTES: '4096' })
    try {
      const { admin, agent: register } = await service.tenant()
      const { token } = await register()
      const post = (path: string, value: object, bytes: number, as = token) => {
        const text = JSON.stringify(value)
        return service.call(`POST /v1${path}`, {
          token: as,
          raw: text + ' '.repeat(bytes - text.length),
          headers: { 'content-type': 'application/json' },
        })
      }
      const event = { specversion: '1.0', type: 'com.example.large', source: '/x', id: 'large' }
      const memory = { type: 'semantic', scope: 'agent', title: 'Large', content: 'Large' }
      assert.equal((await post('/events', event, 2048)).status, 202)
      assertError(await post('/events', event, 2049), 'payload_too_large', { actual_size: 2049, max_size: 2048 })
      assert.equal((await post('/memories', memory, 4096)).status, 201)
      assertError(await post('/memories', memory, 4097), 'payload_too_large', { actual_size: 4097, max_size: 4096 })
      assert.equal(
        (await post('/agents', { name: 'A', delivery_mode: 'poll', client_type: 'other' }, MIB, admin)).status,
        201,
      )
      assertError(await post('/memories/search', { query: 'x' }, MIB + 1), 'payload_too_large', { max_size: MIB })
    } finally {
      await service.stop()
    }
  })

  test('[CFG-4] VISIBILITY_TIMEOUT_S is how long a lease lasts, MAX_ATTEMPTS how often it is given', async () => {
    const service = await startService(engine, { VISIBILITY_TIMEOUT_S: '7', MAX_ATTEMPTS: '2' })
    try {
      const agent = await (await service.tenant()).agent()
      const call = (request: string, body?: unknown) => service.call(request, { token: agent.token, body })
      const attempts = async (): Promise<number[]> =>
        (await call('GET /v1/delivery/poll')).body.deliveries.map(
          ({ attempt_count }: { attempt_count: number }) => attempt_count,
        )
      await call(`POST /v1/agents/${agent.id}/interests`, { event_type: '*', priority: 0, enrichment_depth: 'none' })
      await call('POST /v1/events', { specversion: '1.0', type: 'com.example.once', source: '/x', id: 'once' })
      assert.deepEqual(await attempts(), [1])
      await service.clock.advance(6_900)
      assert.deepEqual(await attempts(), [])
      await service.clock.advance(200)
      assert.deepEqual(await attempts(), [2])
      await service.clock.advance(7_100)
      await service.app.runOnce.sweepLapsed()
      assert.deepEqual(await attempts(), [])
      assert.equal((await call('GET /v1/delivery/dlq')).body.total, 1)
    } finally {
      await service.stop()
    }
  })
})
