// The composition root: every part is made here, top to bottom, and given what it needs. Nothing looks anything up.
import { operations } from '@sensorium/contract'
import { makeIdentify } from './auth/identify.ts'
import type { KeyTools } from './auth/keys.ts'
import type { Config } from './config.ts'
import { makeIdempotency } from './http/idempotency.ts'
import { makeMetrics, type Metrics } from './http/metrics.ts'
import { addPages } from './http/pages.ts'
import { makeRateLimiter } from './http/rate-limit.ts'
import { agentRoutes } from './http/routes/agents.ts'
import { authRoutes, FAILED_EXCHANGES_WINDOW_S } from './http/routes/auth.ts'
import { operatorRoutes } from './http/routes/operator.ts'
import { makeServer } from './http/server.ts'
import { makeCompileCheck } from './http/validate.ts'
import type { Clock } from './kernel/clock.ts'
import { idMaker } from './kernel/ids.ts'
import type { Logger } from './kernel/logger.ts'
import { startLoop, type Loop } from './kernel/loop.ts'
import type { Secrets } from './kernel/secrets.ts'
import type { Store } from './store/db.ts'

export interface AppParts {
  config: Config
  store: Store
  secrets: Secrets
  clock: Clock
  log: Logger
  metrics?: Metrics
}

export interface App {
  /** Opens the port and starts the background loops; answers the address. */
  listen(): Promise<string>
  /** Refuses what is new, finishes what was taken, stops the loops and closes the store. */
  close(): Promise<void>
  /** One run of each background service, for tests. */
  runOnce: Record<'purgeIdempotency' | 'syncRateLimits', () => Promise<unknown>>
}

const DRAIN_MS = 10_000

export function makeApp({ config, store, secrets, clock, log, metrics = makeMetrics() }: AppParts): App {
  const tools: KeyTools = { makeId: idMaker(clock.now), secrets, now: clock.now }
  const identify = makeIdentify(store, secrets.tokenKey, clock)
  const idempotency = makeIdempotency(store, secrets, clock.now)

  // Several nodes can share a limit only through a store that they share.
  const shared = store.dialect.engine === 'postgres' ? store : null
  const limiter = makeRateLimiter(config.rateLimitWindowS, clock, shared)
  const failedExchanges = makeRateLimiter(FAILED_EXCHANGES_WINDOW_S, clock, shared)

  const server = makeServer({
    store, identify, limiter, idempotency, log, metrics,
    agentLimit: config.rateLimitAgent,
    tenantLimit: config.rateLimitTenant,
    operatorToken: config.operatorToken,
    compileCheck: makeCompileCheck([...config.clientTypes, 'other']),
    bodyLimits: { small: 1_048_576, event: config.maxEventBytes, event_batch: 10 * config.maxEventBytes, memory: config.maxMemoryBytes },
    routes: [...authRoutes(store, tools, failedExchanges), ...agentRoutes({ ...tools, identify }), ...operatorRoutes(tools)],
  })
  addPages(server.app, { store, metrics, draining: server.draining, operations: Object.values(operations) })
  metrics.watch(store, server.inFlight)

  const runOnce: App['runOnce'] = {
    purgeIdempotency: idempotency.purge,
    syncRateLimits: async () => {
      await limiter.sync()
      await failedExchanges.sync()
    },
  }
  let loops: Loop[] = []

  return {
    runOnce,
    async listen() {
      const address = await server.app.listen({ host: config.host, port: config.port })
      loops = [
        startLoop('purge idempotency records', 60_000, clock, log, runOnce.purgeIdempotency),
        startLoop('share rate limits', 1_000, clock, log, runOnce.syncRateLimits),
      ]
      return address
    },
    async close() {
      server.drain()
      await Promise.all(loops.map((loop) => loop.stop()))
      // A client that never reads its answer must not hold the process for ever.
      const impatient = setTimeout(() => server.app.server.closeAllConnections(), DRAIN_MS)
      await server.app.close()
      clearTimeout(impatient)
      await store.close()
    },
  }
}
