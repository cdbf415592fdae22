// The composition root: every part is made here, top to bottom, and given what it needs. Nothing looks anything up.
import { operations } from '@sensorium/contract'
import { makeIdentify } from './auth/identify.ts'
import type { KeyTools } from './auth/keys.ts'
import type { Config } from './config.ts'
import { maySeeChannel } from './channels/get.ts'
import { makeClaim } from './delivery/claim.ts'
import { sweepLapsed } from './delivery/lapse.ts'
import { makeWakeups } from './delivery/wake.ts'
import { makePublish } from './events/publish.ts'
import { makeRetain } from './events/retain.ts'
import { makeIdempotency } from './http/idempotency.ts'
import { makeMetrics, type Metrics } from './http/metrics.ts'
import { addPages } from './http/pages.ts'
import { makeRateLimiter } from './http/rate-limit.ts'
import { agentRoutes } from './http/routes/agents.ts'
import { authRoutes, FAILED_EXCHANGES_WINDOW_S } from './http/routes/auth.ts'
import { channelRoutes } from './http/routes/channels.ts'
import { deliveryRoutes } from './http/routes/delivery.ts'
import { eventRoutes } from './http/routes/events.ts'
import { interestRoutes } from './http/routes/interests.ts'
import { operatorRoutes } from './http/routes/operator.ts'
import { makeServer } from './http/server.ts'
import { makeCompileCheck } from './http/validate.ts'
import type { Clock } from './kernel/clock.ts'
import { idMaker } from './kernel/ids.ts'
import type { Logger } from './kernel/logger.ts'
import { startLoop, type Loop } from './kernel/loop.ts'
import type { Secrets } from './kernel/secrets.ts'
import { makeRouter } from './routing/router.ts'
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
  runOnce: Record<'purgeIdempotency' | 'syncRateLimits' | 'sweepLapsed' | 'retain', () => Promise<unknown>>
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

  // From an event to a delivery: the router says who, the publisher writes, the wake-ups shorten the wait of who polls.
  const overBudget = metrics.counter('sensorium_filters_over_budget_total', 'Filters that took too much work and counted as no match')
  const router = makeRouter(store, () => overBudget.inc())
  const wakeups = makeWakeups(store)
  const publish = makePublish({ store, router, wakeups, makeId: tools.makeId, clock })
  const { maxAttempts, visibilityTimeoutMs, maxEventBytes } = config
  const claim = makeClaim({ store, clock, wakeups, visibilityTimeoutMs, maxAttempts })
  const retain = makeRetain(store, clock.now, config.retentionDays)

  const server = makeServer({
    store, identify, limiter, idempotency, log, metrics,
    agentLimit: config.rateLimitAgent,
    tenantLimit: config.rateLimitTenant,
    operatorToken: config.operatorToken,
    compileCheck: makeCompileCheck([...config.clientTypes, 'other']),
    bodyLimits: { small: 1_048_576, event: config.maxEventBytes, event_batch: 10 * config.maxEventBytes, memory: config.maxMemoryBytes },
    routes: [
      ...authRoutes(store, tools, failedExchanges),
      ...agentRoutes({ ...tools, identify }),
      ...eventRoutes({ store, publish, router, now: clock.now, maxEventBytes, maxAttempts, maySeeChannel: (principal, id) => maySeeChannel(store, principal, id) }),
      ...deliveryRoutes({ store, claim, router, wakeups, now: clock.now, maxAttempts }),
      ...interestRoutes({ store, makeId: tools.makeId, now: clock.now, wakeups }),
      ...channelRoutes(tools),
      ...operatorRoutes(tools),
    ],
  })
  addPages(server.app, { store, metrics, draining: server.draining, operations: Object.values(operations) })
  metrics.watch(store, server.inFlight)

  const runOnce: App['runOnce'] = {
    purgeIdempotency: idempotency.purge,
    sweepLapsed: async () => wakeups.wake((await sweepLapsed(store, clock.now(), maxAttempts)).map((mailbox) => mailbox.recipientId)),
    retain,
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
        startLoop('sweep lapsed leases', 1_000, clock, log, runOnce.sweepLapsed),
        startLoop('purge past retention', 60_000, clock, log, runOnce.retain),
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
