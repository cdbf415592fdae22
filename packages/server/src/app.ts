// The composition root: parts.ts makes the parts, and this file wires them together. No part looks up another.
import { MAX_IMPORT, operations as contract } from '@sensorium/contract'
import { backgroundWork, type BackgroundWork } from './background.ts'
import { maySeeChannel } from './channels/get.ts'
import { moveBackWithClock } from './delivery/move-with-clock.ts'
import { makeClientAddress } from './http/client-address.ts'
import { makeMetrics, type Metrics } from './http/metrics.ts'
import { loadedWhenUsed, type Mount } from './http/mount.ts'
import { makePages } from './http/pages.ts'
import { makeServer, type HttpServer } from './http/server.ts'
import { makeInsertInterest } from './interests/insert.ts'
import { makeLoopHealth, startLoop, type Loop, type LoopHealth } from './kernel/loop.ts'
import { makeNotice } from './kernel/notice.ts'
import { RELEASE } from './kernel/release.ts'
import { lineBytesFor } from './memory/transfer/lines.ts'
import type { MemoryParts } from './memory/make-memory.ts'
import { makeSubjectsOf } from './operations/admit.ts'
import { agentOperations } from './operations/agents.ts'
import { auditOperations } from './operations/audit.ts'
import { authOperations } from './operations/auth.ts'
import type { Binding } from './operations/binding.ts'
import { channelOperations } from './operations/channels.ts'
import { connectorOperations } from './operations/connectors.ts'
import { deadLetterOperations } from './operations/dead-letters.ts'
import { deliveryOperations } from './operations/delivery.ts'
import { eventOperations } from './operations/events.ts'
import { ingestOperations } from './operations/ingest.ts'
import type { Ahead } from './enrichment/ahead.ts'
import { interestOperations } from './operations/interests.ts'
import { liveOperations } from './operations/live.ts'
import { memoryOperations } from './operations/memories.ts'
import { memoryKeepingOperations } from './operations/memory-keeping.ts'
import { memoryTransferOperations } from './operations/memory-transfer.ts'
import { operatorOperations } from './operations/operator.ts'
import { outboundOperations } from './operations/outbound.ts'
import { makeOperations, type Operations } from './operations/perform.ts'
import { memorySearchOperations } from './operations/memory-search.ts'
import { compileCheckFor, type CompileCheck } from './operations/validate.ts'
import { webhookOperations } from './operations/webhooks.ts'
import { makeParts, type PartsTools, type Parts } from './parts.ts'

interface AppTools extends Omit<PartsTools, 'metrics'> {
  metrics?: Metrics
  /** Transports that are mounted in the HTTP server under paths of their own. */
  mounts?: readonly Mount[]
}

export interface App {
  /** Opens the port and starts the background loops; returns the address. */
  listen(): Promise<string>
  /** Reports that it is not ready, and serves on. Resolves after DRAIN_S, or when that is cut short. */
  giveNotice(): Promise<void>
  /** Ends the wait of `giveNotice`. Returns false if none is under way. */
  cutNoticeShort(): boolean
  /** Refuses new requests, finishes those that were accepted, stops the loops and closes the store. */
  close(): Promise<void>
  /** The operations that every transport calls, for callers in the same process. */
  operations: Operations
  /** One run of each background work, for tests. */
  runOnce: { [Name in keyof BackgroundWork]: () => Promise<unknown> }
  /** Recall in process, and a way to wait until written memories are embedded. */
  memory: Pick<MemoryParts, 'recall' | 'readAhead' | 'embedding' | 'index'>
  /** A way to wait until published events are searched ahead. */
  ahead: Pick<Ahead, 'idle'>
}

/**
 * A client that never reads its response must not hold the process for ever. Less than the ten seconds that containers
 * are commonly given to stop.
 */
const HANG_UP_AFTER_MS = 8_000

export function makeApp({ metrics = makeMetrics(), mounts = [], ...given }: AppTools): App {
  const parts = makeParts({ ...given, metrics })
  const { config, store, clock, log, memory } = parts
  const failedRounds = metrics.counter(
    'sensorium_background_failures_total',
    'Rounds of background work that failed, by its name',
    ['loop'],
  )
  const health = makeLoopHealth(clock, log, (loop) => failedRounds.inc({ loop }))
  const compileCheck = compileCheckFor([...config.clientTypes, 'other'])
  const operations = makeOperations(bindings(parts, compileCheck), {
    store,
    idempotency: parts.idempotency,
    audit: parts.audit,
    limiter: parts.limiter,
    limitsOf: parts.limitsOf,
    compileCheck,
  })
  const server = makeHttp(parts, operations, mounts, health.failing)
  metrics.watch(store, server.inFlight)
  const background = backgroundWork({
    ...parts,
    limiters: [parts.limiter, parts.failedExchanges, parts.refusedWebhooks],
    embedding: memory.embedding,
    memoryIndex: memory.index,
  })
  // A counter that appears with its first failure has no increase that an alert could see.
  for (const loop of Object.keys(background)) failedRounds.inc({ loop }, 0)
  const notice = makeNotice(clock)
  let loops: Loop[] = []

  return {
    operations,
    runOnce: Object.fromEntries(
      Object.entries(background).map(([name, { runOnce }]) => [name, runOnce]),
    ) as App['runOnce'],
    memory,
    ahead: parts.ahead,
    async listen() {
      await moveBackWithClock(store, clock)
      await parts.announcements.runOnce()
      await parts.settings.runOnce()
      const address = await server.listen(config.host, config.port).catch((error: Error) => {
        throw new Error(`It cannot listen at HOST ${config.host}, PORT ${config.port}: ${error.message}`, {
          cause: error,
        })
      })
      loops = Object.entries(background).map(([name, { everyMs, runOnce }]) =>
        startLoop(name, everyMs, clock, health, runOnce),
      )
      // Connectors need not wait for the first round of their loop.
      parts.supervisor
        .runOnce()
        .catch((error: unknown) => log.warn({ err: error }, 'connectors could not be looked at'))
      return address
    },
    giveNotice() {
      server.giveNotice()
      return notice.wait(config.drainS * 1000)
    },
    cutNoticeShort: notice.cutShort,
    async close() {
      parts.live.close()
      const hangUpTimer = setTimeout(() => {
        log.warn({ after_ms: HANG_UP_AFTER_MS }, 'hanging up on connections that have not finished')
        server.hangUp()
      }, HANG_UP_AFTER_MS)
      // The port stays open meanwhile: a new request gets a 503, which says to try elsewhere, instead of no response.
      await Promise.all([
        // Embedding is closed once the requests are done: its loop, which looks for leftovers, may be waiting for a
        // remote service.
        server.drain().then(() => Promise.all([parts.ahead.close(), memory.embedding.close()])),
        parts.streams.close(),
        parts.push.close(),
        parts.supervisor.close(),
        ...loops.map((loop) => loop.stop()),
      ])
      await server.close()
      clearTimeout(hangUpTimer)
      // The store may be unreachable.
      await Promise.all([parts.activity.flush(), parts.eventTypes.flush()]).catch(() => {})
      await memory.close()
      await store.close()
    },
  }
}

/** Every operation of the contract with the function that carries it out. */
function bindings(parts: Parts, compileCheck: CompileCheck): Binding[] {
  const {
    config,
    store,
    secrets,
    clock,
    tools,
    quotas,
    memory,
    router,
    wakeups,
    policyOf,
    activity,
    publish,
    limiter,
    limitsOf,
  } = parts
  return [
    ...authOperations({
      ...tools,
      store,
      limiter,
      subjectsOf: makeSubjectsOf({ limitsOf }),
      failures: parts.failedExchanges,
    }),
    ...agentOperations({ ...tools, quotas, wakeups }),
    ...eventOperations({
      store,
      publish,
      router,
      wakeups,
      now: clock.now,
      policyOf,
      activity,
      eventTypes: parts.eventTypes,
      retainedSince: parts.retainedSince,
      maxEventBytes: config.maxEventBytes,
      maySeeChannel: (principal, id) => maySeeChannel(store, principal, id),
    }),
    ...deliveryOperations({
      store,
      claim: parts.claim,
      identify: parts.identify,
      wakeups,
      leaseChanges: parts.leaseChanges,
      now: clock.now,
      policyOf,
      activity,
      pushHealth: parts.push.health,
    }),
    ...outboundOperations({ secrets, streams: parts.streams, now: clock.now }),
    ...deadLetterOperations({ store, router, wakeups, activity, policyOf, now: clock.now }),
    ...auditOperations(),
    ...liveOperations({ live: parts.live, activity, now: clock.now }),
    ...interestOperations({
      store,
      makeId: tools.makeId,
      wakeups,
      activity,
      now: clock.now,
      insertInterest: makeInsertInterest(store, quotas),
      quotas,
      log: parts.log,
    }),
    ...channelOperations({ ...tools, quotas }),
    ...memoryOperations({ ...tools, quotas, index: memory.index, similar: memory.similar, steps: memory.steps, store }),
    ...memoryKeepingOperations({ ...tools, quotas, index: memory.index, similar: memory.similar, store }),
    ...memoryTransferOperations({
      ...tools,
      quotas,
      index: memory.index,
      store,
      compileCheck,
      maxLineBytes: lineBytesFor(config.maxMemoryBytes),
    }),
    ...memorySearchOperations({ store, recall: memory.recall, now: clock.now }),
    ...operatorOperations({ ...tools, settings: parts.settings }),
    ...webhookOperations({ ...tools, publicUrl: config.publicUrl }),
    ...connectorOperations(tools),
    ...ingestOperations(parts.receive),
  ]
}

function makeHttp(
  { config, store, clock, log, metrics, identify, wakeups }: Parts,
  operations: Operations,
  mounts: readonly Mount[],
  failing: LoopHealth['failing'],
): HttpServer {
  return makeServer({
    identify,
    clock,
    log,
    metrics,
    clientAddress: makeClientAddress(config.trustedProxies),
    operations,
    operatorToken: config.operatorToken,
    pages: makePages({ store, metrics, failing, operations: Object.values(contract) }),
    mounts: [
      ...mounts,
      ...(config.console
        ? [loadedWhenUsed('/console', async () => (await import('./console/mount.ts')).consoleMount())]
        : []),
      loadedWhenUsed('/mcp', async () => {
        const { mcpMount } = await import('./mcp/mount.ts')
        return mcpMount({
          operations,
          identify,
          wakeups,
          clock,
          log,
          version: RELEASE,
          maxBytes: config.maxEventBytes + 65_536,
          publicUrl: config.publicUrl,
        })
      }),
    ],
    bodyLimits: {
      small: 1_048_576,
      event: config.maxEventBytes,
      event_batch: 10 * config.maxEventBytes,
      memory: config.maxMemoryBytes,
      import: MAX_IMPORT,
    },
  })
}
