import type { Connector } from '@sensorium/contract'
import type { Db } from '../../store/db.ts'
import type { IngestTools } from '../registration.ts'
import { requireConnector, shownConnector } from './shown-connector.ts'
import { setPaused } from './sql.ts'

/** Pauses or resumes a connector. If it is already in that state, returns the same and changes nothing. */
export async function pauseConnector(
  db: Db,
  { announce, now }: Pick<IngestTools, 'announce' | 'now'>,
  id: string,
  paused: boolean,
): Promise<{ connector: Connector }> {
  const row = await requireConnector(db, id)
  await setPaused(db, row.tenant_id, id, paused)
  announce(db, 'connectors', '')
  return { connector: shownConnector({ ...row, paused: paused ? 1 : 0 }, now()) }
}
