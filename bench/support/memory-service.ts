// A complete service for measuring memories: a real store, a real port, limits off. Shared by recall.ts and embed.ts.
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { makeApp, type App } from '../../packages/server/src/app.ts'
import { readConfig } from '../../packages/server/src/config.ts'
import { systemClock } from '../../packages/server/src/kernel/clock.ts'
import { idMaker } from '../../packages/server/src/kernel/ids.ts'
import { makeLogger } from '../../packages/server/src/kernel/logger.ts'
import { openStore } from '../../packages/server/src/store/open.ts'
import type { Store } from '../../packages/server/src/store/db.ts'
import { createTenant } from '../../packages/server/src/tenants/create.ts'
import { makeCall } from './make-call.ts'

export interface Served {
  url: string
  app: App
  store: Store
  folder: string
  /** Returns the JSON response; throws on anything but success. */
  call<T>(method: string, path: string, token: string, body?: unknown): Promise<T>
  /** Creates a tenant with this many agents. Returns their ids and tokens. */
  agents(count: number): Promise<{ tenantId: string; tokens: string[]; ids: string[] }>
  stop(): Promise<void>
}

/** Starts the service on SQLite in a new folder, or on the PostgreSQL database at this address. */
export async function serve(databaseUrl?: string): Promise<Served> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-bench-'))
  const config = readConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    LOG_LEVEL: 'warn',
    RATE_LIMIT_AGENT: 'off',
    RATE_LIMIT_TENANT: 'off',
    DATA_DIR: folder,
    SENSORIUM_SECRET: 'a-secret-for-benchmarks',
    ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}),
  })
  const { store, secrets } = await openStore(config, systemClock)
  const app = makeApp({ config, store, secrets, clock: systemClock, log: makeLogger(config.logLevel) })
  const url = await app.listen()

  const call = makeCall(`${url}/v1`)
  const exchange = async (api_key: string): Promise<string> =>
    (await call<{ access_token: string }>('POST', '/auth/token', null, { api_key })).access_token

  return {
    url,
    app,
    store,
    folder,
    call,
    async agents(count) {
      const tools = { makeId: idMaker(systemClock.now), secrets, now: systemClock.now }
      const { tenant, admin_key } = await store.tx((tx) => createTenant(tx, tools, `bench-${Date.now().toString(36)}`))
      const admin = await exchange(admin_key)
      const tokens: string[] = []
      const ids: string[] = []
      for (let i = 0; i < count; i++) {
        const agent = await call<{ id: string }>('POST', '/agents', admin, {
          name: `Agent ${i}`,
          delivery_mode: 'poll',
          client_type: 'other',
        })
        const { key } = await call<{ key: string }>('POST', `/agents/${agent.id}/keys`, admin, {
          scopes: ['memory:read', 'memory:write', 'send', 'receive', 'interests:write'],
        })
        ids.push(agent.id)
        tokens.push(await exchange(key))
      }
      return { tenantId: tenant.id, tokens, ids }
    },
    async stop() {
      await app.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export const quantile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!
