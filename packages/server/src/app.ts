// The composition root: every part is made here, top to bottom, and given what it needs. Nothing looks anything up.
import { CONNECTOR_STATES, operations } from '@sensorium/contract'
import { makeIdentify } from './auth/identify.ts'
import type { KeyTools } from './auth/keys.ts'
import type { Config } from './config.ts'
import { maySeeChannel } from './channels/get.ts'
import { makeClaim } from './delivery/claim.ts'
import { sweepLapsed } from './delivery/lapse.ts'
import { makeWakeups } from './delivery/wake.ts'
import { makeEnrich } from './enrichment/enrich.ts'
import { makePublish } from './events/publish.ts'
import { makeRetain } from './events/retain.ts'
import { makeIdempotency } from './http/idempotency.ts'
import { makeMetrics, type Metrics } from './http/metrics.ts'
import { makePages } from './http/pages.ts'
import { makeRateLimiter } from './http/rate-limit.ts'
import { agentRoutes } from './http/routes/agents.ts'
import { authRoutes, FAILED_EXCHANGES_WINDOW_S } from './http/routes/auth.ts'
import { channelRoutes } from './http/routes/channels.ts'
import { deliveryRoutes } from './http/routes/delivery.ts'
import { eventRoutes } from './http/routes/events.ts'
import { ingestRoutes } from './http/routes/ingest.ts'
import { interestRoutes } from './http/routes/interests.ts'
import { memoryRoutes } from './http/routes/memories.ts'
import { operatorRoutes } from './http/routes/operator.ts'
import { outboundRoutes } from './http/routes/outbound.ts'
import { searchRoutes } from './http/routes/search.ts'
import { makeServer } from './http/server.ts'
import { makeCompileCheck } from './http/validate.ts'
import { OUTCOMES } from './ingest/connectors/sql.ts'
import { LOOK_EVERY_MS, makeSupervisor } from './ingest/connectors/supervise.ts'
import { makeWebhookLimits, REFUSED_WEBHOOKS_WINDOW_S } from './ingest/webhooks/limits.ts'
import { makeReceive } from './ingest/webhooks/receive.ts'
import type { Clock } from './kernel/clock.ts'
import { idMaker } from './kernel/ids.ts'
import type { Logger } from './kernel/logger.ts'
import { startLoop, type Loop } from './kernel/loop.ts'
import type { Secrets } from './kernel/secrets.ts'
import { makeMemory, type MemoryParts } from './memory/make-memory.ts'
import { expireMemories } from './memory/expire.ts'
import { makePost } from './outbound/post.ts'
import { makePush } from './outbound/push.ts'
import { makeResolve } from './outbound/resolve.ts'
import { isPublicAddress, safeAddress } from './outbound/safe-address.ts'
import { FOLLOW_EVERY_MS, followClock } from './store/follow-clock.ts'
import { gatherStatistics } from './store/statistics.ts'
import { makeStreams } from './outbound/streams.ts'
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
  runOnce: Record<
    | 'purgeIdempotency'
    | 'syncRateLimits'
    | 'sweepLapsed'
    | 'retain'
    | 'superviseConnectors'
    | 'push'
    | 'expireMemories'
    | 'embed',
    () => Promise<unknown>
  >
  /** Recall in process, and a way to wait until what was written is embedded. */
  memory: Pick<MemoryParts, 'recall' | 'embedding'>
}

/** Less than the ten seconds that containers are commonly given. */
const DRAIN_MS = 8_000

export function makeApp({ config, store, secrets, clock, log, metrics = makeMetrics() }: AppParts): App {
  const tools: KeyTools = { makeId: idMaker(clock.now), secrets, now: clock.now }
  const identify = makeIdentify(store, secrets.tokenKey, clock)
  const idempotency = makeIdempotency(store, secrets, clock.now)

  // Several nodes can share a limit only through a store that they share.
  const shared = store.isShared ? store : null
  const limiter = makeRateLimiter(config.rateLimitWindowS, clock, shared)
  const failedExchanges = makeRateLimiter(FAILED_EXCHANGES_WINDOW_S, clock, shared)
  const refusedWebhooks = makeRateLimiter(REFUSED_WEBHOOKS_WINDOW_S, clock, shared)

  // Memories are found by their words at once, by their meaning as soon as the model has read them.
  const embedded = metrics.counter(
    'sensorium_memories_embedded_total',
    'Memories whose meaning was embedded on this node',
  )
  const memory = makeMemory({ config, store, clock, log, embedded: (memories) => embedded.inc(memories) })

  // From an event to a delivery: the router says who, the publisher writes, the wake-ups shorten the wait of who polls.
  const overBudget = metrics.counter(
    'sensorium_filters_over_budget_total',
    'Filters that took too much work and counted as no match',
  )
  const router = makeRouter(store, () => overBudget.inc())
  const wakeups = makeWakeups(store)
  const publish = makePublish({ store, router, wakeups, makeId: tools.makeId, clock })
  const { maxAttempts, visibilityTimeoutMs, maxEventBytes } = config
  const enrich = makeEnrich({ store, recall: memory.recall, clock, log })
  const claim = makeClaim({ store, clock, wakeups, visibilityTimeoutMs, maxAttempts, enrich })
  const retain = makeRetain(store, clock.now, config.retentionDays)

  // What is ready goes out by itself to who is pushed to, and to whoever has a stream open.
  const streams = makeStreams({ store, claim, wakeups, identify, clock, log, maxAttempts })
  const pushSeconds = metrics.histogram('sensorium_push_seconds', 'Pushes by outcome, and how long the endpoint took', [
    'outcome',
  ])
  const push = makePush({
    store,
    claim,
    wakeups,
    secrets,
    clock,
    log,
    maxAttempts,
    post: makePost(
      clock,
      safeAddress(makeResolve(clock.elapsed), config.pushAllowPrivate ? () => true : isPublicAddress),
    ),
    settled: streams.settled,
    observe: (outcome, seconds) => pushSeconds.observe({ outcome }, seconds),
  })
  metrics.gauge('sensorium_push_under_way', 'Pushes under way', push.underWay)
  metrics.gauge(
    'sensorium_push_endpoints_open',
    'Endpoints that failed too often and are left alone for a while',
    push.open,
  )
  metrics.gauge('sensorium_streams', 'Open streams', streams.count)

  // What comes from outside is published like the rest.
  const limits = makeWebhookLimits({
    refusals: refusedWebhooks,
    requests: limiter,
    tenantLimit: config.rateLimitTenant,
  })
  const receive = makeReceive({ store, secrets, publish, now: clock.now, limits })
  const connectorMessages = metrics.counter(
    'sensorium_connector_messages_total',
    'Messages of AMQP connectors on this node, by what became of them',
    ['outcome'],
  )
  for (const outcome of OUTCOMES) connectorMessages.inc({ outcome }, 0)
  const supervisor = makeSupervisor({
    store,
    secrets,
    publish,
    clock,
    log,
    maxEventBytes,
    count: (outcome) => connectorMessages.inc({ outcome }),
  })
  metrics.gauges('sensorium_connectors', 'AMQP connectors that this node runs, by state', 'state', () => ({
    ...Object.fromEntries(CONNECTOR_STATES.map((state) => [state, 0])),
    ...supervisor.states(),
  }))

  const server = makeServer({
    store,
    identify,
    limiter,
    idempotency,
    log,
    metrics,
    agentLimit: config.rateLimitAgent,
    tenantLimit: config.rateLimitTenant,
    operatorToken: config.operatorToken,
    compileCheck: makeCompileCheck([...config.clientTypes, 'other']),
    pages: makePages({ store, metrics, operations: Object.values(operations) }),
    bodyLimits: {
      small: 1_048_576,
      event: config.maxEventBytes,
      event_batch: 10 * config.maxEventBytes,
      memory: config.maxMemoryBytes,
    },
    routes: [
      ...authRoutes(store, tools, failedExchanges),
      ...agentRoutes({ ...tools, identify, changed: push.changed }),
      ...eventRoutes({
        store,
        publish,
        router,
        now: clock.now,
        maxEventBytes,
        maxAttempts,
        maySeeChannel: (principal, id) => maySeeChannel(store, principal, id),
      }),
      ...deliveryRoutes({
        store,
        claim,
        identify,
        router,
        wakeups,
        now: clock.now,
        maxAttempts,
        settled: streams.settled,
        extended: streams.extended,
        pushHealth: push.health,
      }),
      ...outboundRoutes({ secrets, streams, now: clock.now }),
      ...interestRoutes({ store, makeId: tools.makeId, now: clock.now, wakeups }),
      ...channelRoutes(tools),
      ...memoryRoutes({
        ...tools,
        written: ({ tenant_id, agent_id, id, title, content }) =>
          memory.embedding.wake(tenant_id, agent_id, id, title.length + content.length),
      }),
      ...searchRoutes({ store, recall: memory.recall, now: clock.now }),
      ...operatorRoutes(tools),
      ...ingestRoutes({ ...tools, receive, publicUrl: config.publicUrl, connectorsChanged: supervisor.changed }),
    ],
  })
  metrics.watch(store, server.inFlight)

  const runOnce: App['runOnce'] = {
    purgeIdempotency: idempotency.purge,
    sweepLapsed: async () => wakeups.wake(await sweepLapsed(store, clock.now(), maxAttempts)),
    retain,
    superviseConnectors: supervisor.runOnce,
    push: push.runOnce,
    expireMemories: () => expireMemories(store, clock.now()),
    embed: () => memory.embedding.runOnce(),
    syncRateLimits: async () => {
      await limiter.sync()
      await failedExchanges.sync()
      await refusedWebhooks.sync()
    },
  }
  let loops: Loop[] = []

  return {
    runOnce,
    memory,
    async listen() {
      const address = await server.listen(config.host, config.port)
      loops = [
        startLoop('purge idempotency records', 60_000, clock, log, runOnce.purgeIdempotency),
        startLoop('sweep lapsed leases', 1_000, clock, log, runOnce.sweepLapsed),
        startLoop('purge past retention', 600_000, clock, log, runOnce.retain),
        startLoop('look after connectors', LOOK_EVERY_MS, clock, log, runOnce.superviseConnectors),
        startLoop('stop connectors without a lease', 1_000, clock, log, supervisor.stopLapsed),
        startLoop('find what to push', 1_000, clock, log, runOnce.push),
        startLoop('embed what was left', 2_000, clock, log, runOnce.embed),
        startLoop('expire memories', 10_000, clock, log, runOnce.expireMemories),
        ...(store.isShared
          ? [
              startLoop('gather statistics', 2_000, clock, log, async () => void (await gatherStatistics(store))),
              startLoop("follow the database's clock", FOLLOW_EVERY_MS, clock, log, () => followClock(store, clock)),
            ]
          : []),
        startLoop('share rate limits', 1_000, clock, log, runOnce.syncRateLimits),
      ]
      // Connectors need not wait for the first round.
      supervisor.changed()
      return address
    },
    async close() {
      // A client that never reads its answer must not hold the process for ever.
      const impatient = setTimeout(server.hangUp, DRAIN_MS)
      // The port stays open meanwhile: who comes is told 503 and to try elsewhere, rather than nothing at all.
      await Promise.all([
        server.drain(),
        streams.close(),
        push.close(),
        supervisor.close(),
        ...loops.map((loop) => loop.stop()),
      ])
      await server.close()
      clearTimeout(impatient)
      await memory.close()
      await store.close()
    },
  }
}
