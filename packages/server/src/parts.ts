// The parts of the service, made from top to bottom, each given what it needs. app.ts wires them together.
import { CONNECTOR_STATES } from '@sensorium/contract'
import { makeEventTypes } from './activity/event-types.ts'
import { makeActivity } from './activity/activity.ts'
import { makeAudit } from './audit/audit.ts'
import { makeIdentify } from './auth/identify.ts'
import type { Config } from './config.ts'
import { makeClaim } from './delivery/claim.ts'
import { makePolicyOf } from './delivery/policy.ts'
import { makeHandover } from './delivery/handover.ts'
import { makeLeaseChanges } from './delivery/lease-changes.ts'
import { makeWakeups } from './delivery/wake.ts'
import { makeAhead } from './enrichment/ahead.ts'
import { makeEnrich } from './enrichment/enrich.ts'
import { countPublished } from './events/count-published.ts'
import { makePublish } from './events/publish.ts'
import { makeRetain } from './events/retain.ts'
import type { ActivityMetric } from './activity/sql.ts'
import type { Metrics } from './http/metrics.ts'
import { OUTCOMES } from './ingest/connectors/sql.ts'
import { makeSupervisor } from './ingest/connectors/supervise.ts'
import { makeWebhookLimits, REFUSED_WEBHOOKS_WINDOW_S } from './ingest/webhooks/limits.ts'
import { makeReceive } from './ingest/webhooks/receive.ts'
import { DAY_MS, type Clock } from './kernel/clock.ts'
import { idMaker } from './kernel/ids.ts'
import { NO_SIBLINGS, type Siblings } from './kernel/shared-places.ts'
import type { Logger } from './kernel/logger.ts'
import type { Secrets } from './kernel/secrets.ts'
import { makeLimitsOf } from './limits/limits-of.ts'
import { makeRateLimiter } from './limits/rate-limit.ts'
import { makeLiveStreams } from './live/live-streams.ts'
import type { Embedder } from './memory/embed/embedder.ts'
import { makeMemory } from './memory/make-memory.ts'
import { FAILED_EXCHANGES_WINDOW_S } from './operations/auth.ts'
import { makeIdempotency } from './operations/idempotency.ts'
import { makePostByScheme } from './outbound/post-by-scheme.ts'
import { makePush } from './outbound/push.ts'
import { makeStreams } from './outbound/streams.ts'
import { makeRouter } from './routing/router.ts'
import { makeAnnouncements } from './store/announce.ts'
import type { Store } from './store/db.ts'
import { makeQuotas } from './tenants/quotas.ts'
import { makeSettingsCache } from './tenants/settings.ts'

/** What the parts are made of. */
export interface PartsTools {
  config: Config
  store: Store
  secrets: Secrets
  clock: Clock
  log: Logger
  metrics: Metrics
  /** The other processes behind the port, if there are any. */
  siblings?: Siblings
  /** An embedder that several services in one process share. Without it each makes its own. */
  embedder?: Embedder
}

/** Every part of the service. A metric stands beside the part that it counts. */
export function makeParts(tools: PartsTools) {
  const basics = makeBasics(tools)
  const limits = makeLimits(basics)
  const mailboxes = makeMailboxes(basics)
  return {
    ...basics,
    ...limits,
    ...mailboxes,
    ...makeOutbound({ ...basics, ...mailboxes }),
    ...makeIngest({ ...basics, ...limits, ...mailboxes }),
  }
}

export type Parts = ReturnType<typeof makeParts>
type Basics = ReturnType<typeof makeBasics>
type Limits = ReturnType<typeof makeLimits>
type Mailboxes = ReturnType<typeof makeMailboxes>

function makeBasics(tools: PartsTools) {
  const { config, store, secrets, clock, log, metrics, embedder, siblings = NO_SIBLINGS } = tools
  const announcements = makeAnnouncements(store, clock.now)
  // What the operator set for a tenant; the environment sets the rest.
  const settings = makeSettingsCache(store)
  const makeId = idMaker(clock.now)
  const embedded = metrics.counter(
    'sensorium_memories_embedded_total',
    'Memories whose meaning was embedded on this node',
  )
  const happened = activityCounters(metrics)
  return {
    ...tools,
    siblings,
    announcements,
    tools: { makeId, secrets, announce: announcements.announce, now: clock.now },
    identify: makeIdentify(store, announcements, secrets.tokenKey, clock),
    idempotency: makeIdempotency(store, secrets, clock, log),
    settings,
    quotas: makeQuotas(store, clock, settings.of),
    activity: makeActivity(store, clock, (what, amount) => happened[what].inc(amount)),
    eventTypes: makeEventTypes(store, clock),
    audit: makeAudit(makeId, clock.now),
    /** The time since which the events of a tenant are kept. */
    retainedSince: (tenantId: string): number =>
      clock.now() - (settings.of(tenantId).retention_days ?? config.retentionDays) * DAY_MS,
    // Memories are found by their words at once, by their meaning as soon as the model has read them.
    memory: makeMemory({ config, store, clock, log, embedder, countEmbedded: (memories) => embedded.inc(memories) }),
  }
}

/** What happens in all tenants together, as far as it happens on this node. */
const activityCounters = ({ counter }: Metrics): Record<ActivityMetric, ReturnType<Metrics['counter']>> => ({
  events: counter('sensorium_events_total', 'Events accepted on this node'),
  deliveries: counter('sensorium_deliveries_total', 'Deliveries put into mailboxes by this node'),
  acknowledgements: counter('sensorium_acknowledgements_total', 'Deliveries acknowledged on this node'),
  failures: counter('sensorium_delivery_failures_total', 'Attempts that failed, were given back or lapsed'),
  dead_letters: counter('sensorium_dead_letters_total', 'Deliveries that became dead letters on this node'),
})

/** The limits on what callers may ask for. */
function makeLimits({ config, store, clock, settings }: Basics) {
  // Several nodes can share a limit only through a store that they share.
  const shared = store.isShared ? store : null
  return {
    limitsOf: makeLimitsOf(config, settings.of),
    limiter: makeRateLimiter(config.rateLimitWindowS, clock, shared),
    failedExchanges: makeRateLimiter(FAILED_EXCHANGES_WINDOW_S, clock, shared),
    refusedWebhooks: makeRateLimiter(REFUSED_WEBHOOKS_WINDOW_S, clock, shared),
  }
}

/**
 * From an event to a delivery: the router chooses the recipients, the publisher writes, and wake-ups shorten the wait
 * of polls.
 */
function makeMailboxes(basics: Basics) {
  const { config, store, clock, log, metrics, memory, settings, quotas, activity, eventTypes, tools, siblings } = basics
  const overBudget = metrics.counter(
    'sensorium_filters_over_budget_total',
    'Filters that took too much work and counted as no match',
  )
  const router = makeRouter(store, () => overBudget.inc())
  const wakeups = makeWakeups(store)
  const policyOf = makePolicyOf(config, settings.of)
  const handover = makeHandover(policyOf)
  const { recall, searchFingerprint } = memory
  const ahead = makeAhead({ ...memory, store, clock, log })
  const searches = metrics.counter(
    'sensorium_enrichment_searches_total',
    'Deliveries that were enriched, by when their search was made: ahead of the poll, or now',
    ['made'],
  )
  for (const made of ['ahead', 'now']) searches.inc({ made }, 0)
  const count = (wasAhead: boolean): void => searches.inc({ made: wasAhead ? 'ahead' : 'now' })
  const enrich = makeEnrich({
    store,
    recall,
    clock,
    log,
    steps: memory.steps,
    ahead: { ...ahead, searchFingerprint, count },
  })
  const publish = makePublish({
    ...{ store, router, wakeups, handover, clock, quotas },
    makeId: tools.makeId,
    added: ahead.deliveriesAdded,
  })
  return {
    router,
    wakeups,
    leaseChanges: makeLeaseChanges(),
    policyOf,
    ahead,
    publish: countPublished(publish, activity, eventTypes),
    claim: makeClaim({ store, clock, wakeups, handover, policyOf, enrich, activity, siblings, log }),
    retain: makeRetain(store, clock.now, basics.retainedSince),
  }
}

/** Sends what is ready to the endpoints of agents and to open streams. */
function makeOutbound(parts: Basics & Mailboxes) {
  const { config, store, secrets, clock, log, metrics, announcements } = parts
  const { identify, claim, wakeups, leaseChanges, policyOf, activity, siblings } = parts
  const deliveryTools = { store, claim, wakeups, leaseChanges, clock, log, policyOf, activity }
  const streams = makeStreams({ ...deliveryTools, identify, siblings })
  const live = makeLiveStreams({ store, activity, identify, clock, log })
  const pushSeconds = metrics.histogram('sensorium_push_seconds', 'Pushes by outcome, and how long the endpoint took', [
    'outcome',
  ])
  const push = makePush({
    ...deliveryTools,
    secrets,
    post: makePostByScheme({ clock, log, allowPrivate: config.pushAllowPrivate }),
    announcements,
    observe: (outcome, seconds) => pushSeconds.observe({ outcome }, seconds),
  })
  metrics.gauge('sensorium_push_under_way', 'Pushes under way', push.underWay)
  metrics.gauge(
    'sensorium_push_endpoints_open',
    'Endpoints that failed too often and are left alone for a while',
    push.pausedEndpoints,
  )
  metrics.gauge('sensorium_streams', 'Open streams', streams.count)
  metrics.gauge('sensorium_live_streams', 'Open streams that watch a tenant', live.count)
  return { streams, live, push }
}

/** Publishes what comes from outside like any other event. */
function makeIngest(parts: Basics & Limits & Mailboxes) {
  const { config, store, secrets, clock, log, metrics, announcements, publish, limiter, limitsOf } = parts
  const limits = makeWebhookLimits({
    refusals: parts.refusedWebhooks,
    requests: limiter,
    tenantLimitOf: (tenantId) => limitsOf(tenantId).tenant,
  })
  const messages = metrics.counter(
    'sensorium_connector_messages_total',
    'Messages of connectors on this node, by what became of them',
    ['outcome'],
  )
  for (const outcome of OUTCOMES) messages.inc({ outcome }, 0)
  const supervisor = makeSupervisor({
    store,
    secrets,
    publish,
    clock,
    log,
    maxEventBytes: config.maxEventBytes,
    announcements,
    count: (outcome) => messages.inc({ outcome }),
  })
  metrics.gauges('sensorium_connectors', 'Connectors that this node runs, by state', 'state', () => ({
    ...Object.fromEntries(CONNECTOR_STATES.map((state) => [state, 0])),
    ...supervisor.states(),
  }))
  return { receive: makeReceive({ store, secrets, publish, now: clock.now, limits }), supervisor }
}
