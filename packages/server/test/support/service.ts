// A whole service for a test: a real store, a real port, a clock that the test moves. No part of the product is
// replaced.
import { after, before } from 'node:test'
import { createTenant } from '../../src/tenants/create.ts'
import { makeApp, type App } from '../../src/app.ts'
import { readConfig, type Config } from '../../src/config.ts'
import { makeMetrics, type Metrics } from '../../src/http/metrics.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import type { Secrets } from '../../src/kernel/secrets.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/db.ts'
import type { Engine } from './engines.ts'
import { recorded } from './shards.ts'
import { sharedEmbedder } from './shared-embedder.ts'
import { fakeClock, type FakeClock } from './fake-clock.ts'
import { watched } from './watched-store.ts'

export const OPERATOR_TOKEN = 'operator-token-for-tests'

/** JSON without a type: tests check the shape of the responses themselves. */
export type Untyped = any

export interface Reply<T = Untyped> {
  status: number
  headers: Headers
  body: T
  text: string
}

export interface CallOptions {
  method?: string
  token?: string | null
  body?: unknown
  /** Sent as it is, with no content type unless `headers` names one. */
  raw?: string | Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
}

export interface Service {
  url: string
  app: App
  store: Store
  secrets: Secrets
  config: Config
  clock: FakeClock
  env: Record<string, string>
  /** `call('POST /v1/agents', { token, body })` */
  call<T = Untyped>(request: string, options?: CallOptions): Promise<Reply<T>>
  /** What `/metrics` shows for a gauge without labels. Showing all metrics takes 5 ms of CPU, too long for a loop. */
  gauge(name: string): number
  tenant(slug?: string): Promise<TestTenant>
  /** Stops this one and starts another on the same store. */
  restart(env?: Record<string, string>, clock?: FakeClock): Promise<Service>
  /** Another node on the same store (PostgreSQL). */
  another(env?: Record<string, string>, clock?: FakeClock): Promise<Service>
  stop(): Promise<void>
}

export interface TestTenant {
  id: string
  slug: string
  adminKey: string
  /** An org-admin's token. */
  admin: string
  agent(options?: { name?: string; scopes?: string[]; team?: string; mode?: string }): Promise<TestAgent>
  token(key: string): Promise<string>
}

export interface TestAgent {
  id: string
  key: string
  keyId: string
  token: string
}

/** The body of a request that registers an agent. */
export const AGENT = { name: 'Watcher', delivery_mode: 'poll', client_type: 'other' }

export const ALL_SCOPES = [
  'send',
  'receive',
  'memory:read',
  'memory:write',
  'admin',
  'channel:read',
  'channel:write',
  'interests:read',
  'interests:write',
]

let slugs = 0

export async function startService(
  engine: Engine,
  env: Record<string, string> = {},
  clock = fakeClock(),
): Promise<Service> {
  const fresh = await (engine.migrated ?? engine.fresh)()
  return launch({ ...fresh.env, ...env }, clock, fresh.drop)
}

/** For a suite: a service that is started before its tests and stopped after them. It has no members until then. */
export function serviceForSuite(...started: Parameters<typeof startService>): Service {
  const service = {} as Service
  before(async () => {
    Object.assign(service, await startService(...started))
  })
  after(() => service.stop())
  return service
}

/** For a suite: a tenant that is made before its tests. */
export function tenantForSuite(service: Service): TestTenant {
  const tenant = {} as TestTenant
  before(async () => {
    Object.assign(tenant, await service.tenant())
  })
  return tenant
}

/** For a suite: an agent that is made before its tests. */
export function agentForSuite(tenant: TestTenant): TestAgent {
  const agent = {} as TestAgent
  before(async () => {
    Object.assign(agent, await tenant.agent())
  })
  return agent
}

/** `service.call`, looked up at each call, because the service of a suite starts later. */
export const callOf =
  (service: Pick<Service, 'call'>): Service['call'] =>
  (...request) =>
    service.call(...request)

function withKnownGauges(gauges: Map<string, () => number>): Metrics {
  const metrics = makeMetrics()
  return {
    ...metrics,
    gauge(name, help, read) {
      gauges.set(name, read)
      metrics.gauge(name, help, read)
    },
    watch(store, inFlight) {
      gauges.set('sensorium_http_in_flight', inFlight)
      metrics.watch(store, inFlight)
    },
  }
}

async function launch(env: Record<string, string>, clock: FakeClock, drop: () => Promise<void>): Promise<Service> {
  const config = readConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    LOG_LEVEL: 'silent',
    RATE_LIMIT_AGENT: 'off',
    RATE_LIMIT_TENANT: 'off',
    OPERATOR_TOKEN,
    ...env,
  })
  const { store, secrets } = await openStore(config, clock)
  const watching = watched(store)
  const recording = recorded(watching.store)
  const endWatch = clock.restWith(watching.isBusy)
  const gauges = new Map<string, () => number>()
  const app = makeApp({
    config,
    metrics: withKnownGauges(gauges),
    store: recording.store,
    secrets,
    clock,
    log: makeLogger(config.logLevel),
    ...(config.embeddings.kind === 'builtin' ? { embedder: sharedEmbedder() } : {}),
  })
  const url = await app.listen()
  const tools = { makeId: idMaker(clock.now), secrets, now: clock.now }
  let closed = false

  async function call<T>(request: string, options: CallOptions = {}): Promise<Reply<T>> {
    const [method, path] = request.split(' ') as [string, string]
    const { token, body, raw, headers = {} } = options
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body !== undefined ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body !== undefined ? { body: JSON.stringify(body) } : raw !== undefined ? { body: raw } : {}),
    })
    const text = await response.text()
    let json: unknown = null
    try {
      json = JSON.parse(text)
    } catch {
      // not JSON: `text` has it
    }
    return { status: response.status, headers: response.headers, body: json as T, text }
  }

  const token = async (api_key: string): Promise<string> => {
    const reply = await call<{ access_token: string }>('POST /v1/auth/token', { body: { api_key } })
    if (reply.status !== 200) throw new Error(`exchange answered ${reply.status} ${reply.text}`)
    return reply.body.access_token
  }

  async function stop(): Promise<void> {
    if (closed) return
    closed = true
    await app.close()
    endWatch()
    const wide = await recording.check()
    if (wide.length > 0)
      throw new Error(`Statements that leave their shard or recipient, or go by no index:\n${wide.join('\n')}`)
  }

  const service: Service = {
    url,
    app,
    store,
    secrets,
    config,
    clock,
    env,
    call,
    gauge(name) {
      const read = gauges.get(name)
      if (!read) throw new Error(`no gauge is named ${name}`)
      return read()
    },
    async tenant(slug = `tenant-${++slugs}`) {
      const { tenant, admin_key } = await store.tx((tx) => createTenant(tx, tools, slug))
      const admin = await token(admin_key)
      // An access token lives an hour: a test whose clock goes further still makes its agents.
      let current = { token: admin, at: clock.now() }
      const make = async (path: string, body: unknown): Promise<{ id: string; key: string }> => {
        if (Math.abs(clock.now() - current.at) > 3_000_000) current = { token: await token(admin_key), at: clock.now() }
        const reply = await call<{ id: string; key: string }>(`POST ${path}`, { token: current.token, body })
        if (reply.status !== 201) throw new Error(`POST ${path} answered ${reply.status} ${reply.text}`)
        return reply.body
      }
      return {
        id: tenant.id,
        slug,
        adminKey: admin_key,
        admin,
        token,
        async agent({ name = 'Agent', scopes = ALL_SCOPES, team, mode = 'poll' } = {}) {
          const team_id = team ? { team_id: team } : {}
          const made = await make('/v1/agents', { name, delivery_mode: mode, client_type: 'other', ...team_id })
          const key = await make(`/v1/agents/${made.id}/keys`, { scopes })
          return { id: made.id, key: key.key, keyId: key.id, token: await token(key.key) }
        },
      }
    },
    async restart(more = {}, itsClock = clock) {
      await stop()
      return launch({ ...env, ...more }, itsClock, drop)
    },
    another: (more = {}, itsClock = clock) => launch({ ...env, ...more }, itsClock, async () => {}),
    async stop() {
      await stop()
      await drop()
    },
  }
  return service
}
