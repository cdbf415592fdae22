// The endpoints that this node knows, and which of them have something due. Wake-ups say where something arrived, for
// agents of every delivery mode; a scan finds what they missed. Both only mark an endpoint as due.
import type { Wakeups } from '../delivery/wake.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import { oneAtATime } from '../kernel/one-at-a-time.ts'
import type { Announcements } from '../store/announce.ts'
import type { Store } from '../store/db.ts'
import { blockedFor, newEndpoint, noteUrl, type Endpoint } from './endpoint.ts'
import { pagePushed, pushedAmong, type PushedAgent } from './sql.ts'

interface KnownEndpointsTools {
  store: Store
  wakeups: Wakeups
  announcements: Announcements
  clock: Clock
  log: Logger
  stopping: AbortSignal
  markDue(endpoint: Endpoint): void
}

interface KnownEndpoints {
  get(agentId: string): Endpoint | undefined
  all(): Iterable<Endpoint>
  /** Something may have arrived for these recipients. */
  noteArrivals(recipientIds: readonly string[]): void
  /** Called when the agent is no longer pushed to. */
  forget(endpoint: Endpoint): void
  /** Scans the next page of agents that are pushed to for something due. */
  scan(): Promise<void>
}

const SCAN_ROWS = 1_000
const MAX_KNOWN = 50_000

/** What is known of each endpoint, by its agent. */
function makeBook(clock: Clock) {
  const endpoints = new Map<string, Endpoint>()
  /** Endpoints of agents that are not pushed to at the moment: a pause ends neither a breaker nor a Retry-After. */
  const resting = new Map<string, Endpoint>()

  const isIdle = ({ due, history, claiming, wakeAt }: Endpoint): boolean =>
    !due && history.underWay === 0 && !claiming && wakeAt === Infinity

  return {
    endpoints,
    resting,
    endpointOf({ tenant_id, id, delivery_endpoint: url }: PushedAgent): Endpoint {
      let endpoint = endpoints.get(id)
      if (!endpoint) {
        endpoint = resting.get(id) ?? newEndpoint({ tenantId: tenant_id, recipientId: id }, url)
        resting.delete(id)
        endpoints.set(id, endpoint)
      }
      noteUrl(endpoint, url)
      return endpoint
    },
    forget(endpoint: Endpoint): void {
      const { recipientId } = endpoint.mailbox
      if (endpoints.get(recipientId) !== endpoint) return
      endpoints.delete(recipientId)
      if (endpoint.history.breaker.failures === 0 && blockedFor(endpoint, clock.elapsed()) === 0) return
      if (resting.size >= MAX_KNOWN) resting.clear()
      resting.set(recipientId, endpoint)
    },
    forgetIdle(): void {
      if (endpoints.size <= MAX_KNOWN) return
      for (const [id, endpoint] of endpoints) if (isIdle(endpoint)) endpoints.delete(id)
    },
  }
}

export function makeKnownEndpoints(tools: KnownEndpointsTools): KnownEndpoints {
  const { store, wakeups, announcements, clock, log, stopping, markDue } = tools
  const { endpoints, resting, endpointOf, forget, forgetIdle } = makeBook(clock)
  /** Recipients that were not pushed to when a wake-up came. The scan finds those that have become so. */
  const notPushed = new Set<string>()
  /** Recipients that the next query asks about. */
  const toAsk = new Set<string>()
  let scannedUpTo = ''

  /**
   * One query at a time, with all ids that came up meanwhile. It stands in the same line for a connection as the
   * authentication of every tenant: an agent that changed itself 80 times a second had a query for each change there,
   * and publishes of other tenants took 1.4 s.
   */
  function ask(id: string): void {
    if (toAsk.has(id)) return
    toAsk.add(id)
    if (toAsk.size === 1) setImmediate(askTheStore)
  }

  const askTheStore = oneAtATime(async () => {
    const ids = [...toAsk]
    toAsk.clear()
    try {
      const pushed = await pushedAmong(store, ids)
      if (notPushed.size > MAX_KNOWN) notPushed.clear()
      // An agent that changed while the query ran is in `toAsk` again.
      for (const id of ids) notPushed.add(id)
      for (const agent of pushed) {
        notPushed.delete(agent.id)
        markDue(endpointOf(agent))
      }
    } catch (error) {
      log.debug({ err: error }, 'push: the scan will find it')
    }
  })

  function noteArrivals(recipientIds: readonly string[]): void {
    for (const id of recipientIds) {
      const endpoint = endpoints.get(id)
      if (endpoint) markDue(endpoint)
      else if (!notPushed.has(id)) ask(id)
    }
  }

  async function scan(): Promise<void> {
    const rows = await pagePushed(store, scannedUpTo, SCAN_ROWS, clock.now())
    scannedUpTo = rows.length < SCAN_ROWS ? '' : rows.at(-1)!.id
    for (const row of rows) {
      notPushed.delete(row.id)
      if (row.due) markDue(endpointOf(row))
    }
    forgetIdle()
  }

  // A wake-up without names may mean any recipient: the scan runs within a second anyway.
  wakeups.watch((recipientIds) => {
    if (recipientIds && !stopping.aborted) noteArrivals(recipientIds)
  })
  // An agent changed: it may be pushed to from now on, or at another URL. The store is asked for the URL, because no
  // claim would show it while the old one is held or its breaker is open.
  announcements.listen('agent', (agentId) => {
    notPushed.delete(agentId)
    noteArrivals([agentId])
    ask(agentId)
  })

  return {
    get: (agentId) => endpoints.get(agentId) ?? resting.get(agentId),
    all: () => endpoints.values(),
    noteArrivals,
    forget,
    scan,
  }
}
