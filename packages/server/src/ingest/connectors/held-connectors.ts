// The connectors whose leases this node holds: takes, renews and frees them.
import type { Clock } from '../../kernel/clock.ts'
import type { Publish } from '../../events/publish.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Secrets } from '../../kernel/secrets.ts'
import { makeTurns } from '../../kernel/turns.ts'
import type { Announcements } from '../../store/announce.ts'
import type { Db, Store } from '../../store/db.ts'
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
  type MessageCounts,
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
  count(outcome: keyof MessageCounts): void
}

const LEASE_MS = 10_000
/**
 * How many transactions of connectors a node has under way. When it began one for each connector every two seconds, a
 * publish of another tenant took five times as long beside 200 connectors on PostgreSQL.
 */
export const MAX_AT_ONCE = 4

interface Held {
  lease: LeaseKey
  connector: RunningConnector
  /** When another node may take the lease. */
  until: number
}

interface HeldConnectors {
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
  const turns = makeTurns({
    what: 'connectors waiting',
    atOnce: MAX_AT_ONCE,
    perAgent: Number.POSITIVE_INFINITY,
    total: Number.POSITIVE_INFINITY,
  })

  /**
   * Only transactions wait for each other. Stopping a connector may take as long as its broker likes, and must not keep
   * the leases of others from being renewed.
   */
  const inTurn = <T>({ tenantId, id }: LeaseKey, work: (tx: Db) => Promise<T>): Promise<T> =>
    turns.take(tenantId, id, () => store.tx(work))

  /** Writes what the connector has counted, in the transaction that changes its lease. */
  async function withCounts<T>({ lease, connector }: Held, change: (tx: Db) => Promise<T>): Promise<T> {
    const counts = connector.takeCounts()
    try {
      return await inTurn(lease, async (tx) => {
        await addCounts(tx, lease.tenantId, lease.id, counts, connector.lastMessageAt())
        return change(tx)
      })
    } catch (error) {
      connector.returnCounts(counts)
      throw error
    }
  }

  async function start(row: ConnectorWithLease): Promise<void> {
    if (stopping.has(row.id)) return
    const lease = { tenantId: row.tenant_id, id: row.id, node }
    let until = 0
    const outcome = await inTurn(lease, (tx) => {
      const now = clock.now()
      until = now + LEASE_MS
      return takeLease(tx, lease, until, store.isShared ? now : Number.MAX_SAFE_INTEGER)
    })
    if (outcome !== 'taken') return
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
    held.set(row.id, { lease, connector, until })
    log.info({ connector: row.id, tenant: row.tenant_id }, 'connector taken')
  }

  async function renew(entry: Held): Promise<void> {
    const { lease, connector } = entry
    let until = 0
    const outcome = await withCounts(entry, (tx) => {
      until = clock.now() + LEASE_MS
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
      await withCounts(entry, (tx) => freeLease(tx, lease))
    } finally {
      stopping.delete(lease.id)
    }
  }

  return { all: held, start, renew, stop }
}
