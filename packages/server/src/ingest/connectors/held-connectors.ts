// The connectors whose leases this node holds: takes, renews and frees them.
import type { Clock } from '../../kernel/clock.ts'
import type { Publish } from '../../events/publish.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Secrets } from '../../kernel/secrets.ts'
import type { Announcements } from '../../store/announce.ts'
import type { Store } from '../../store/db.ts'
import { compileMapping, type FullMapping } from '../mapping.ts'
import type { RunningConnector } from './connector.ts'
import { CONNECTORS } from './kinds.ts'
import { connectorContext } from './shown-connector.ts'
import {
  addCounts,
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
  announcements: Announcements
  count(outcome: keyof Counts): void
}

export const LEASE_MS = 10_000

export interface Held {
  lease: LeaseKey
  connector: RunningConnector
  /** When another node may take the lease. */
  until: number
}

export interface HeldConnectors {
  all: ReadonlyMap<string, Held>
  /**
   * Takes the lease and starts receiving. Does nothing if another node has it, if the connector is still
   * stopping here, or if it should not run.
   */
  start(row: ConnectorWithLease): Promise<void>
  /** Renews the lease and writes the connector's state. Stops the connector if another node has the lease by now. */
  renew(entry: Held): Promise<void>
  stop(entry: Held, why: string): Promise<void>
}

export function makeHeldConnectors(
  { store, secrets, publish, clock, log, maxEventBytes, count }: SupervisorTools,
  node: string,
): HeldConnectors {
  const held = new Map<string, Held>()
  /** Stopping ends by freeing the lease. A connector started before that would go on without one. */
  const stopping = new Set<string>()

  async function start(row: ConnectorWithLease): Promise<void> {
    if (stopping.has(row.id)) return
    const now = clock.now()
    const lease = { tenantId: row.tenant_id, id: row.id, node }
    const freeBefore = store.isShared ? now : Number.MAX_SAFE_INTEGER
    if ((await store.tx((tx) => takeLease(tx, lease, now + LEASE_MS, freeBefore))) !== 'taken') return
    const connector = CONNECTORS[row.kind].start(
      {
        tenantId: row.tenant_id,
        id: row.id,
        source: row.source,
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
    stopping.add(lease.id)
    try {
      await connector.stop()
      log.info({ connector: lease.id, tenant: lease.tenantId, why }, 'connector stopped')
      const counts = connector.takeCounts()
      await store.tx(async (tx) => {
        await addCounts(tx, lease.tenantId, lease.id, counts, connector.lastMessageAt())
        await freeLease(tx, lease)
      })
    } finally {
      stopping.delete(lease.id)
    }
  }

  return { all: held, start, renew, stop }
}
