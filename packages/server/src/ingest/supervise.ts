// Which node runs which connector. Every node looks at all of them every two seconds and after each change that it
// hears of.
//
// 1. A connector runs on the node that holds its lease. A lease lasts ten seconds and is renewed every two, so that
//    another node has taken over within twelve when this one dies.
// 2. A node that could not renew stops receiving two seconds before its lease ends: first it stops, then another
//    starts. Should a clock be wrong by more, the event id still keeps a message from becoming two events.
// 3. What a connector counted is written with the renewal; a crash loses the counts of two seconds, never a message.
// 4. With the embedded store there is one node: whatever holds a lease there is a process that is gone.
import { randomUUID } from 'node:crypto'
import type { ConnectorState } from '@sensorium/contract'
import type { Publish } from '../events/publish.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Secrets } from '../kernel/secrets.ts'
import type { Store } from '../store/db.ts'
import { startConnector, type RunningConnector } from './amqp.ts'
import { connectorContext } from './manage.ts'
import { compileMapping, type FullMapping } from './mapping.ts'
import {
  addCounts,
  allConnectors,
  freeLease,
  renewLease,
  takeLease,
  type ConnectorWithLease,
  type Counts,
  type LeaseKey,
} from './sql.ts'

export interface SupervisorTools {
  store: Store
  secrets: Secrets
  publish: Publish
  clock: Clock
  log: Logger
  maxEventBytes: number
  count(outcome: keyof Counts): void
}

export interface Supervisor {
  /** Looks at every connector once: starts, renews, stops. */
  runOnce(): Promise<void>
  /** Stops what this node may no longer run, whether the store answers or not. */
  stopLapsed(): Promise<void>
  /** Tells every node, this one first, to look now. */
  changed(): void
  /** How many connectors this node runs, by state. */
  states(): Partial<Record<ConnectorState, number>>
  /** Stops all and gives the leases back; nothing starts after it. */
  close(): Promise<void>
}

export const LOOK_EVERY_MS = 2_000
export const LEASE_MS = 10_000
const STOP_BEFORE_MS = 2_000
const CHANNEL = 'connectors'

interface Held {
  lease: LeaseKey
  connector: RunningConnector
  /** When another node may take it. */
  until: number
}

export function makeSupervisor({
  store,
  secrets,
  publish,
  clock,
  log,
  maxEventBytes,
  count,
}: SupervisorTools): Supervisor {
  const node = randomUUID()
  const held = new Map<string, Held>()
  let closed = false
  let looking: Promise<void> | null = null
  let again = false

  async function start(row: ConnectorWithLease): Promise<void> {
    const now = clock.now()
    const lease = { tenantId: row.tenant_id, id: row.id, node }
    const freeBefore = store.isShared ? now : Number.MAX_SAFE_INTEGER
    if ((await store.tx((tx) => takeLease(tx, lease, now + LEASE_MS, freeBefore))) === 'held') return
    const connector = startConnector(
      {
        tenantId: row.tenant_id,
        id: row.id,
        url: secrets.open(row.url, connectorContext(row.id)),
        address: row.address,
        credit: row.credit,
        tlsCa: row.tls_ca,
        mapper: compileMapping(row.source, JSON.parse(row.mapping) as FullMapping),
      },
      { publish, clock, maxEventBytes, count },
    )
    held.set(row.id, { lease, connector, until: now + LEASE_MS })
    log.info({ connector: row.id, tenant: row.tenant_id }, 'connector taken')
  }

  async function renew(entry: Held): Promise<void> {
    const { lease, connector } = entry
    const until = clock.now() + LEASE_MS
    const counts = connector.takeCounts()
    const outcome = await store.tx(async (tx) => {
      await addCounts(tx, lease.tenantId, lease.id, counts, connector.lastMessageAt())
      return renewLease(tx, lease, until, connector.state(), connector.lastError())
    })
    if (outcome === 'renewed') entry.until = until
    else await stop(entry, 'lost')
  }

  async function stop(entry: Held, why: string): Promise<void> {
    const { lease, connector } = entry
    held.delete(lease.id)
    await connector.stop()
    log.info({ connector: lease.id, tenant: lease.tenantId, why }, 'connector stopped')
    const counts = connector.takeCounts()
    await store.tx(async (tx) => {
      await addCounts(tx, lease.tenantId, lease.id, counts, connector.lastMessageAt())
      await freeLease(tx, lease)
    })
  }

  // One connector's trouble is not its neighbours'.
  const guarded = (id: string, work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => log.warn({ err: error, connector: id }, 'connector could not be looked after'))

  async function look(): Promise<void> {
    const rows = await allConnectors(store)
    const wanted = new Set<string>()
    const now = clock.now()
    const work: Promise<void>[] = []
    for (const row of rows) {
      if (row.paused === 1) continue
      wanted.add(row.id)
      const entry = held.get(row.id)
      const free = row.expires_at === null || row.expires_at <= now || row.node === node || !store.isShared
      if (entry) work.push(guarded(row.id, renew(entry)))
      else if (free) work.push(guarded(row.id, start(row)))
    }
    for (const [id, entry] of held) if (!wanted.has(id)) work.push(guarded(id, stop(entry, 'paused or deleted')))
    await Promise.all(work)
  }

  const supervisor: Supervisor = {
    // A look that is asked for during another is done after it, once.
    async runOnce() {
      if (closed) return
      if (looking) {
        again = true
        return looking
      }
      looking = (async () => {
        do {
          again = false
          await look()
        } while (again && !closed)
      })().finally(() => (looking = null))
      return looking
    },
    async stopLapsed() {
      const now = clock.now()
      const lapsed = [...held.values()].filter(({ until }) => now >= until - STOP_BEFORE_MS)
      await Promise.all(lapsed.map((entry) => guarded(entry.lease.id, stop(entry, 'the lease could not be renewed'))))
    },
    changed: () => store.notify(CHANNEL, ''),
    states() {
      const states: Partial<Record<ConnectorState, number>> = {}
      for (const { connector } of held.values()) states[connector.state()] = (states[connector.state()] ?? 0) + 1
      return states
    },
    async close() {
      closed = true
      await looking?.catch(() => {})
      await Promise.all([...held.values()].map((entry) => guarded(entry.lease.id, stop(entry, 'shutting down'))))
    },
  }
  store.listen(CHANNEL, () => {
    supervisor.runOnce().catch((error: unknown) => log.warn({ err: error }, 'connectors could not be looked at'))
  })
  return supervisor
}
