import type { Connector } from '@sensorium/contract'
import type { Db } from '../../store/db.ts'
import { requireConnector, shownConnector } from './shown-connector.ts'
import { setPaused } from './sql.ts'

/** Pauses or resumes. Pausing what is paused, or resuming what is not, answers the same and changes nothing. */
export async function pauseConnector(
  db: Db,
  now: number,
  id: string,
  paused: boolean,
): Promise<{ connector: Connector }> {
  const row = await requireConnector(db, id)
  await setPaused(db, row.tenant_id, id, paused)
  return { connector: shownConnector({ ...row, paused: paused ? 1 : 0 }, now) }
}
