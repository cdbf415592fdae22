// The composition root: every part is made here, top to bottom, and given what it needs. Nothing looks anything up.
import { CONNECTOR_STATES, operations as contract } from '@sensorium/contract'
import { makeIdentify } from './auth/identify.ts'
import { backgroundWork, type BackgroundWork } from './background.ts'
import type { Config } from './config.ts'
import { maySeeChannel } from './channels/get.ts'
import { makeClaim } from './delivery/claim.ts'
import { makePolicyOf } from './delivery/policy.ts'
import { makeWakeups } from './delivery/wake.ts'
import { makeEnrich } from './enrichment/enrich.ts'
import { makePublish } from './events/publish.ts'
import { withinQuota } from './events/within-quota.ts'
import { makeRetain } from './events/retain.ts'
import { makeClientAddress } from './http/client-address.ts'
import { makeMetrics, type Metrics } from './http/metrics.ts'
import { loadedWhenUsed, type Mount } from './http/mount.ts'
import { makePages } from './http/pages.ts'
import { makeServer } from './http/server.ts'
import { RELEASE } from './kernel/release.ts'
import { OUTCOMES } from './ingest/connectors/sql.ts'
import { makeSupervisor } from './ingest/connectors/supervise.ts'
import { makeWebhookLimits, REFUSED_WEBHOOKS_WINDOW_S } from './ingest/webhooks/limits.ts'
import { makeReceive } from './ingest/webhooks/receive.ts'
import type { Clock } from './kernel/clock.ts'
import { idMaker } from './kernel/ids.ts'
import type { Logger } from './kernel/logger.ts'
import { makeLoopHealth, startLoop, type Loop } from './kernel/loop.ts'
import type { Secrets } from './kernel/secrets.ts'
import { makeMemory, type MemoryParts } from './memory/make-memory.ts'
import { makeSubjectsOf } from './operations/admit.ts'
import { agentOperations } from './operations/agents.ts'
import { authOperations, FAILED_EXCHANGES_WINDOW_S } from './operations/auth.ts'
import { channelOperations } from './operations/channels.ts'
import { connectorOperations } from './operations/connectors.ts'
import { deliveryOperations } from './operations/delivery.ts'
import { eventOperations } from './operations/events.ts'
import { makeIdempotency } from './operations/idempotency.ts'
import { ingestOperations } from './operations/ingest.ts'
import { makeInsertInterest } from './interests/insert.ts'
import { interestOperations } from './operations/interests.ts'
import { memoryOperations } from './operations/memories.ts'
import { memoryKeepingOperations } from './operations/memory-keeping.ts'
import { operatorOperations } from './operations/operator.ts'
import { outboundOperations } from './operations/outbound.ts'
import { makeOperations, type Operations } from './operations/perform.ts'
import { makeRateLimiter } from './operations/rate-limit.ts'
import { searchOperations } from './operations/search.ts'
import { makeCompileCheck } from './operations/validate.ts'
import { webhookOperations } from './operations/webhooks.ts'
import { makePost } from './outbound/post.ts'
import { makePush } from './outbound/push.ts'
import { makeResolve } from './outbound/resolve.ts'
import { isPublicAddress, safeAddress } from './outbound/safe-address.ts'
import { makeStreams } from './outbound/streams.ts'
import { makeQuotas } from './tenants/quotas.ts'
import { makeSettingsCache } from './tenants/settings.ts'
import { makeLimitsOf } from './operations/admit.ts'
import { makeRouter } from './routing/router.ts'
import { makeAnnouncements } from './store/announce.ts'
import type { Store } from './store/db.ts'

export interface AppParts {
  config: Config
  store: Store
  secrets: Secrets
  clock: Clock
  log: Logger
  metrics?: Metrics
  /** Transports that are mounted in the HTTP server under a path of their own. */
  mounts?: readonly Mount[]
}

export interface App {
  /** Opens the port and starts the background loops; returns the address. */
  listen(): Promise<string>
  /** Refuses what is new, finishes what was taken, stops the loops and closes the store. */
  close(): Promise<void>
  /** What every transport calls, for callers in the same process. */
  operations: Operations
  /** One run of each background work, for tests. */
  runOnce: { [Name in keyof BackgroundWork]: () => Promise<unknown> }
  /** Recall in process, and a way to wait until what was written is embedded. */
  memory: Pick<MemoryParts, 'recall' | 'embedding' | 'index'>
}

/** Less than the ten seconds that containers are commonly given. */
const DRAIN_MS = 8_000

export function makeApp(parts: AppParts): App {
  const { config, store, secrets, clock, log, metrics = makeMetrics(), mounts = [] } = parts
  const announcements = makeAnnouncements(store, clock.now)
  const tools = { makeId: idMaker(clock.now), secrets, announce: announcements.announce, now: clock.now }
  const identify = makeIdentify(store, announcements, secrets.tokenKey, clock)
  const idempotency = makeIdempotency(store, secrets, clock.now)

  // Several nodes can share a limit only through a store that they share.
  const shared = store.isShared ? store : null
  // What the operator set for a tenant, and the environment for the rest.
  const settings = makeSettingsCache(store)
  const quotas = makeQuotas(store, clock, settings.of)
  const limitsOf = makeLimitsOf(config, settings.of)
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
  const publish = withinQuota(store, makePublish({ store, router, wakeups, makeId: tools.makeId, clock }), quotas)
  const { maxEventBytes } = config
  const policyOf = makePolicyOf(config, settings.of)
  const enrich = makeEnrich({ store, recall: memory.recall, clock, log })
  const claim = makeClaim({ store, clock, wakeups, policyOf, enrich })
  const retain = makeRetain(
    store,
    clock.now,
    (tenantId) => settings.of(tenantId).retention_days ?? config.retentionDays,
  )

  // What is ready goes out by itself to who is pushed to, and to whoever has a stream open.
  const streams = makeStreams({ store, claim, wakeups, identify, clock, log, policyOf })
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
    policyOf,
    post: makePost(
      clock,
      safeAddress(makeResolve(clock.elapsed), config.pushAllowPrivate ? () => true : isPublicAddress),
    ),
    announcements,
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
    tenantLimitOf: (tenantId) => limitsOf(tenantId).tenant,
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
    announcements,
    count: (outcome) => connectorMessages.inc({ outcome }),
  })
  metrics.gauges('sensorium_connectors', 'AMQP connectors that this node runs, by state', 'state', () => ({
    ...Object.fromEntries(CONNECTOR_STATES.map((state) => [state, 0])),
    ...supervisor.states(),
  }))

  const failedRounds = metrics.counter(
    'sensorium_background_failures_total',
    'Rounds of background work that failed, by its name',
    ['loop'],
  )
  const health = makeLoopHealth(clock, log, (loop) => failedRounds.inc({ loop }))

  const operations = makeOperations(
    [
      ...authOperations({
        ...tools,
        store,
        limiter,
        subjectsOf: makeSubjectsOf({ limitsOf }),
        failures: failedExchanges,
      }),
      ...agentOperations({ ...tools, quotas }),
      ...eventOperations({
        store,
        publish,
        router,
        now: clock.now,
        policyOf,
        maxEventBytes,
        maySeeChannel: (principal, id) => maySeeChannel(store, principal, id),
      }),
      ...deliveryOperations({
        store,
        claim,
        identify,
        router,
        wakeups,
        now: clock.now,
        policyOf,
        pushHealth: push.health,
      }),
      ...outboundOperations({ secrets, streams, now: clock.now }),
      ...interestOperations({
        store,
        makeId: tools.makeId,
        wakeups,
        now: clock.now,
        insertInterest: makeInsertInterest(store, quotas),
        quotas,
      }),
      ...channelOperations(tools),
      ...memoryOperations({ ...tools, quotas, index: memory.index }),
      ...memoryKeepingOperations({ ...tools, quotas, index: memory.index, store }),
      ...searchOperations({ store, recall: memory.recall, now: clock.now }),
      ...operatorOperations({ ...tools, settings }),
      ...webhookOperations({ ...tools, publicUrl: config.publicUrl }),
      ...connectorOperations(tools),
      ...ingestOperations(receive),
    ],
    {
      store,
      idempotency,
      limiter,
      limitsOf,
      compileCheck: makeCompileCheck([...config.clientTypes, 'other']),
    },
  )

  const server = makeServer({
    identify,
    clock,
    log,
    metrics,
    clientAddress: makeClientAddress(config.trustedProxies),
    operations,
    operatorToken: config.operatorToken,
    pages: makePages({ store, metrics, failing: health.failing, operations: Object.values(contract) }),
    mounts: [
      ...mounts,
      loadedWhenUsed('/mcp', async () => {
        const { mcpMount } = await import('./mcp/mount.ts')
        return mcpMount({
          operations,
          identify,
          wakeups,
          clock,
          log,
          version: RELEASE,
          maxBytes: maxEventBytes + 65_536,
          publicUrl: config.publicUrl,
        })
      }),
    ],
    bodyLimits: {
      small: 1_048_576,
      event: maxEventBytes,
      event_batch: 10 * maxEventBytes,
      memory: config.maxMemoryBytes,
    },
  })
  metrics.watch(store, server.inFlight)

  const background = backgroundWork({
    store,
    clock,
    policyOf,
    wakeups,
    settings,
    announcements,
    idempotency,
    limiters: [limiter, failedExchanges, refusedWebhooks],
    retain,
    supervisor,
    push,
    embedding: memory.embedding,
    memoryIndex: memory.index,
  })
  let loops: Loop[] = []

  return {
    operations,
    runOnce: Object.fromEntries(
      Object.entries(background).map(([name, { runOnce }]) => [name, runOnce]),
    ) as App['runOnce'],
    memory,
    async listen() {
      await announcements.runOnce()
      await settings.runOnce()
      const address = await server.listen(config.host, config.port)
      loops = Object.entries(background).map(([name, { everyMs, runOnce }]) =>
        startLoop(name, everyMs, clock, log, runOnce, health),
      )
      // Connectors need not wait for the first round.
      supervisor.runOnce().catch((error: unknown) => log.warn({ err: error }, 'connectors could not be looked at'))
      return address
    },
    async close() {
      // A client that never reads its response must not hold the process for ever.
      const impatient = setTimeout(server.hangUp, DRAIN_MS)
      // The port stays open meanwhile: who comes is told 503 and to try elsewhere, rather than nothing at all.
      await Promise.all([
        // What is being embedded ends with the requests: the loop that looks for what was left may wait for a far end.
        server.drain().then(() => memory.embedding.close()),
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
