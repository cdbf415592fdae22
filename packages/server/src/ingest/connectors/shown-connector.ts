// How a connector is shown and found.
import { isId, type Connector, type ConnectorState } from '@sensorium/contract'
import { iso, isoOrNull } from '../../kernel/clock.ts'
import { notFound } from '../../kernel/failure.ts'
import type { Db } from '../../store/db.ts'
import type { FullMapping } from '../mapping.ts'
import { findConnector, type ConnectorWithLease } from './sql.ts'

/** The context that a sealed URL is bound to: the URL of one row cannot be opened in another. */
export const connectorContext = (id: string): string => `connector ${id}`

/** Returns `paused` if the operator paused the connector, else the state that the node with a live lease wrote. */
export function connectorStateOf(row: ConnectorWithLease, now: number): ConnectorState {
  if (row.paused === 1) return 'paused'
  return row.state !== null && row.expires_at! > now ? row.state : 'starting'
}

export const shownConnector = (row: ConnectorWithLease, now: number): Connector => ({
  id: row.id,
  tenant: row.slug,
  kind: row.kind,
  source: row.source,
  url: row.shown_url,
  address: row.address,
  credit: row.credit,
  mapping: JSON.parse(row.mapping) as FullMapping,
  state: connectorStateOf(row, now),
  last_error: row.last_error,
  counters: {
    received: row.received ?? 0,
    accepted: row.accepted ?? 0,
    duplicates: row.duplicates ?? 0,
    released: row.released ?? 0,
    rejected: row.rejected ?? 0,
  },
  last_message_at: isoOrNull(row.last_message_at),
  created_at: iso(row.created_at),
})

export async function requireConnector(db: Db, id: string): Promise<ConnectorWithLease> {
  const row = isId('connector', id) ? await findConnector(db, id) : undefined
  if (!row) throw notFound('connector', id)
  return row
}
